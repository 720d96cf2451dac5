"""Which providers, models and wire formats there are, and which one a person means.

Providers of one name form a stack: the top one speaks, what it leaves open the one below says, and taking it away
brings the one below back. Knows no provider by name and no credential.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from zot_core.models.naming import is_loopback, listed, near, readings
from zot_core.types.failure import UsageError
from zot_core.types.record import record
from zot_core.types.routing import VirtualModel
from zot_core.types.specs import ApiFormat, ModelSpec, ProviderSpec, ThinkingLevel, resolve

DEFAULT_API: Final = "openai-completions"
AD_HOC_PROVIDER: Final = "custom"
AD_HOC_MODEL: Final = "default"
"""The model id for a server that was named without one; servers of a single model do not read it."""


Override = Callable[[ModelSpec], ModelSpec]


class UnknownModel(UsageError):
    """No model has this name; `provider` is the one that was named with it, or "". Its live list may know better."""

    def __init__(self, message: str, provider: str = "") -> None:
        super().__init__(message)
        self.provider = provider


class Resolution(NamedTuple):
    """What a person's words mean. `level` is None when they named none."""

    provider: ProviderSpec
    model: ModelSpec
    level: ThinkingLevel | None


@record(eq=False)
class _Layer:
    spec: ProviderSpec
    owner: str
    keeps_models: bool


class ModelRegistry:
    """Providers, models and formats of one session."""

    def __init__(self) -> None:
        self._layers: dict[str, list[_Layer]] = {}
        self._formats: dict[str, list[ApiFormat]] = {}
        self._merged: dict[str, ProviderSpec] = {}
        self._models: dict[str, tuple[ModelSpec, ...]] = {}
        self._found: dict[str, tuple[ModelSpec, ...]] = {}
        self._overrides: dict[str, Mapping[str, Override]] = {}
        self._first: list[str] = []
        self._virtual: dict[tuple[str, str], list[tuple[str, VirtualModel]]] = {}

    def add_provider(
        self,
        spec: ProviderSpec,
        *,
        owner: str = "",
        under: bool = False,
        keep_models: bool = False,
        first: bool = False,
    ) -> Callable[[], None]:
        """Puts `spec` on top of the providers of its name (`under`: below them); the answer takes it away again.

        What `spec` leaves empty comes from the layer below; its headers and compat flags are merged over those below.
        Its models replace those below; with `keep_models` they are added to them, equal ids replaced. `first` puts the
        provider before the others where nobody named one.
        """
        if first and spec.id not in self._first:
            self._first.append(spec.id)
        layer = _Layer(spec, owner, keep_models)
        stack = self._layers.setdefault(spec.id, [])
        stack.insert(0 if under else len(stack), layer)
        self._forget(spec.id)

        def remove() -> None:
            if layer in stack:
                stack.remove(layer)
                self._forget(spec.id)

        return remove

    def add_providers(self, ranked: Iterable[tuple[str, ProviderSpec]]) -> None:
        """Adds contributions as (owner, spec), the first in rank on top of all that follow."""
        for owner, spec in ranked:
            self.add_provider(spec, owner=owner, under=True)

    def remove_provider(self, provider_id: str, owner: str) -> None:
        """Takes away all that `owner` put under this name; unknown is nothing."""
        stack = self._layers.get(provider_id, [])
        stack[:] = [layer for layer in stack if layer.owner != owner]
        self._forget(provider_id)

    def add_virtual(self, virtual: VirtualModel, *, owner: str = "", under: bool = False) -> Callable[[], None]:
        """Puts a virtual model on top of those of its name (`under`: below them); the answer takes it away again."""
        row = (owner, virtual)
        stack = self._virtual.setdefault(virtual.key, [])
        stack.insert(0 if under else len(stack), row)
        listed: Callable[[], None] | None = None
        if isinstance(virtual.model, ModelSpec):
            name = virtual.model.provider
            # A provider that exists for virtual models alone needs no key
            spec = ProviderSpec(id=name, models=(virtual.model,), keyless=not self._layers.get(name))
            listed = self.add_provider(spec, owner=owner, under=under and not self._layers.get(name), keep_models=True)

        def remove() -> None:
            if row in stack:
                stack.remove(row)
                if listed is not None:
                    listed()

        return remove

    def remove_virtual(self, name: str, owner: str) -> None:
        """Takes away the virtual models `provider/id` of `owner`; unknown is nothing."""
        provider, _, model = name.partition("/")
        stack = self._virtual.get((provider, model), [])
        for row in [row for row in stack if row[0] == owner]:
            stack.remove(row)
            if isinstance(row[1].model, ModelSpec):
                layers = self._layers.get(provider, [])
                layers[:] = [one for one in layers if one.owner != owner or tuple(one.spec.models) != (row[1].model,)]
                self._forget(provider)

    def virtual(self, provider: str, model: str) -> tuple[str, VirtualModel] | None:
        """The virtual model of that name, with its owner."""
        stack = self._virtual.get((provider, model))
        return stack[-1] if stack else None

    def add_found(self, provider_id: str, models: Iterable[ModelSpec]) -> None:
        """What the provider itself lists: it is added to the catalog, and an id that is in both is the catalog's."""
        self._found[provider_id] = tuple(models)
        self._models.pop(provider_id, None)

    def override(self, provider_id: str, overrides: Mapping[str, Override]) -> None:
        """Changes models of a provider by id, wherever they come from; those of `models.json` itself are as written."""
        self._overrides[provider_id] = overrides
        self._models.pop(provider_id, None)

    def add_format(self, api: ApiFormat) -> Callable[[], None]:
        """Adds a wire format; of equal names the first stays. The answer takes it away again."""
        stack = self._formats.setdefault(api.name, [])
        stack.append(api)

        def remove() -> None:
            if api in stack:
                stack.remove(api)

        return remove

    def format(self, name: str) -> ApiFormat | None:
        """The wire format `name`."""
        stack = self._formats.get(name)
        return stack[0] if stack else None

    def formats(self) -> tuple[str, ...]:
        """Names of the wire formats, sorted."""
        return tuple(sorted(name for name, stack in self._formats.items() if stack))

    def provider(self, provider_id: str) -> ProviderSpec | None:
        """The provider of that name as all its layers make it."""
        stack = self._layers.get(provider_id)
        if not stack:
            return None
        if provider_id not in self._merged:
            spec = stack[0].spec
            for layer in stack[1:]:
                spec = _over(spec, layer)
            self._merged[provider_id] = spec
        return self._merged[provider_id]

    def providers(self) -> tuple[ProviderSpec, ...]:
        """All providers, by name."""
        return tuple(spec for name in sorted(self._layers) if (spec := self.provider(name)) is not None)

    def models(self, provider_id: str = "") -> tuple[ModelSpec, ...]:
        """The models of one provider or of all, complete: what they leave open is their provider's.

        Imports catalogs that are named by a dotted string.
        """
        if not provider_id:
            return tuple(model for spec in self.providers() for model in self.models(spec.id))
        if provider_id not in self._models:
            spec = self.provider(provider_id)
            self._models[provider_id] = self._all_of(spec) if spec is not None else ()
        return self._models[provider_id]

    def _all_of(self, spec: ProviderSpec) -> tuple[ModelSpec, ...]:
        rows: list[ModelSpec] = list(resolve(spec.models))
        ids = {model.id for model in rows}
        rows.extend(model for model in self._found.get(spec.id, ()) if model.id not in ids)
        changes = self._overrides.get(spec.id, {})
        changed = (changes[m.id](m) if m.id in changes and m.source != "models.json" else m for m in rows)
        return tuple(_complete(model, spec) for model in changed)

    def find(self, name: str) -> ModelSpec | None:
        """The model that `name` means (`id` or `provider/id`, exact), or None."""
        exact = self._exact(name, "")
        return exact[0] if len(exact) == 1 else None

    def resolve(
        self,
        provider: str = "",
        model: str = "",
        base_url: str = "",
        api: str = "",
        usable: Callable[[ProviderSpec], bool] = lambda spec: True,
    ) -> Resolution:
        """What the words of a command line or of settings mean.

        `model` is an id, `provider/id`, either with `:LEVEL`, or a fragment that fits one model alone. Without a model
        it is the provider's default one; without both, that of the first provider that is `usable` (has a key, say),
        in the order of `add_provider`. With a base URL, or of a provider that lists none, an unknown model is taken at
        its word. Raises UsageError, naming what is near, for the unknown (UnknownModel) and the ambiguous.
        """
        if provider and self.provider(provider) is None:
            raise UsageError(f"unknown provider {provider!r}{near(provider, self._layers)}")
        if api and self.format(api) is None:
            loaded = ", ".join(self.formats()) or "none"
            raise UsageError(f"--api {api}: no loaded plugin speaks this wire format; loaded are: {loaded}")
        found, level = self._model(provider, model, base_url, usable)
        spec = self.provider(found.provider)
        if spec is None:  # pragma: no cover - models come from providers
            raise UsageError(f"unknown provider {found.provider!r}")
        found_api = api or found.api or DEFAULT_API
        if base_url:
            # A server of one's own needs no key; if it wants one, it says so. Nor does the catalog speak for it
            found = replace(found, source="--base-url")
            spec = replace(spec, base_url=base_url, keyless=spec.keyless or is_loopback(base_url))
        found = replace(found, api="" if spec.stream is not None else found_api, base_url=base_url or found.base_url)
        return Resolution(spec, found, level)

    def _model(
        self, provider: str, name: str, base_url: str, usable: Callable[[ProviderSpec], bool]
    ) -> tuple[ModelSpec, ThinkingLevel | None]:
        if not name:
            return self._default(provider, base_url, usable), None
        for candidate, level in readings(name):
            found = self._exact(candidate, provider)
            if len(found) > 1:
                found = [model for model in found if self._is_usable(model, usable)] or found
            if len(found) == 1:
                return found[0], level
            if found:
                raise UsageError(f"{candidate!r} is served by several providers: {listed(found)}; say which")
        candidate, level = readings(name)[-1]
        if base_url or self._takes_any(candidate, provider):
            return self._ad_hoc(candidate, provider), level
        return self._fragment(candidate, provider, usable), level

    def _takes_any(self, name: str, provider: str) -> bool:
        """Whether the provider that was named has no list of models, so that every name may be one: a deployment, or
        what a local server holds."""
        head, slash, _ = name.partition("/")
        spec = self.provider(provider or (head if slash else ""))
        return spec is not None and bool(spec.base_url) and spec.stream is None and not self.models(spec.id)

    def _exact(self, name: str, provider: str) -> list[ModelSpec]:
        if provider:
            inner = name.removeprefix(f"{provider}/")
            models = self.models(provider)
            return [m for m in models if m.id == name] or [m for m in models if m.id.lower() == inner.lower()]
        head, slash, rest = name.partition("/")
        known = next((name for name in (head, head.lower()) if self.provider(name) is not None), "")
        if slash and known and (found := self._exact(rest, known)):
            return found
        models = self.models()
        found = [m for m in models if m.id == name] or [m for m in models if m.id.lower() == name.lower()]
        return self._without_named_only(found)

    def _fragment(self, name: str, provider: str, usable: Callable[[ProviderSpec], bool]) -> ModelSpec:
        models = self.models(provider)
        wanted = name.lower()
        found = [m for m in models if wanted in f"{m.provider}/{m.id}".lower() or wanted in m.name.lower()]
        found = found if provider else self._without_named_only(found)
        if len(found) > 1:
            found = [model for model in found if self._is_usable(model, usable)] or found
        if len(found) == 1:
            return found[0]
        if found:
            raise UsageError(f"{name!r} fits several models: {listed(found)}; say which")
        where = f" of provider {provider!r}" if provider else ""
        # The way in which the name was written is the way in which others are offered: once each
        close = near(name, {f"{m.provider}/{m.id}" if "/" in name else m.id for m in models}, cutoff=0.7)
        elsewhere = "`zot --list-models` lists all, `--base-url` names another server"
        head, slash, _ = name.partition("/")
        asked = provider or (head if slash and self.provider(head) is not None else "")
        raise UnknownModel(
            f"unknown model {name!r}{where}{close}{' ' if close.endswith('?') else '; '}{elsewhere}", asked
        )

    def _default(self, provider: str, base_url: str, usable: Callable[[ProviderSpec], bool]) -> ModelSpec:
        if provider or base_url:
            spec = self.provider(provider or AD_HOC_PROVIDER)
            models = self.models(spec.id) if spec is not None else ()
            if spec is None or not models:
                return self._ad_hoc("", provider)
            return next((m for m in models if m.id == spec.default_model), models[0])
        # Without a word from the person, only a provider that lives somewhere: neither `scripted` nor a blank `custom`
        real = [spec for spec in self._in_order() if (spec.base_url or not spec.keyless) and not spec.named_only]
        ready = [spec for spec in real if usable(spec)]
        for spec in (*ready, *real):
            if self.models(spec.id):  # one catalog after another: most are never needed
                return self._default(spec.id, "", usable)
        there = [f"{spec.id}/{models[0].id}" for spec in self._in_order() if (models := self.models(spec.id))]
        listed = f" (there is {', '.join(there[:4])})" if there else ""
        raise UsageError(
            f"no model is chosen: name one with --provider and --model{listed}, or a server with --base-url"
        )

    def is_own(self, provider_id: str) -> bool:
        """Whether the person's own file brought this provider's address or models."""
        return provider_id in self._first

    def _in_order(self) -> list[ProviderSpec]:
        """The person's own first, then in the order in which plugins brought them."""
        names = [*self._first, *(name for name in self._layers if name not in self._first)]
        return [spec for name in names if (spec := self.provider(name)) is not None]

    def _ad_hoc(self, name: str, provider: str) -> ModelSpec:
        head, slash, rest = name.partition("/")
        if not provider and slash and self.provider(head) is not None:
            provider, name = head, rest
        spec = self.provider(provider or AD_HOC_PROVIDER) or ProviderSpec(id=AD_HOC_PROVIDER, keyless=True)
        if spec.id not in self._layers:
            self.add_provider(spec)
        if provider and not spec.base_url and not name and spec.stream is None:
            name = spec.default_model
        # What the server takes is unknown: pictures are let through, a server that takes none says so
        known = name or spec.default_model or AD_HOC_MODEL
        model = ModelSpec(id=known, provider=spec.id, inputs=("text", "image"), source="unlisted")
        return _complete(model, spec)

    def _is_usable(self, model: ModelSpec, usable: Callable[[ProviderSpec], bool]) -> bool:
        spec = self.provider(model.provider)
        return spec is not None and usable(spec)

    def _without_named_only(self, found: list[ModelSpec]) -> list[ModelSpec]:
        """Those of providers that need not be named, if there are any."""
        specs = ((model, self.provider(model.provider)) for model in found)
        return [model for model, spec in specs if spec is None or not spec.named_only] or found

    def _forget(self, provider_id: str) -> None:
        self._merged.pop(provider_id, None)
        self._models.pop(provider_id, None)


def _over(below: ProviderSpec, layer: _Layer) -> ProviderSpec:
    above = layer.spec
    models = above.models or below.models
    if layer.keeps_models and above.models:
        mine: Sequence[ModelSpec] = resolve(above.models)
        ids = {model.id for model in mine}
        models = (*(model for model in resolve(below.models) if model.id not in ids), *mine)
    return replace(
        above,
        name=above.name or below.name,
        api=above.api or below.api,
        base_url=above.base_url or below.base_url,
        env=above.env or below.env,
        api_key=above.api_key or below.api_key,
        keyless=above.keyless or below.keyless,
        headers={**below.headers, **above.headers},
        models=models,
        default_model=above.default_model or below.default_model,
        compat={**below.compat, **above.compat},
        discover=above.discover or below.discover,
        stream=above.stream or below.stream,
        oauth=above.oauth or below.oauth,
        authorize=above.authorize or below.authorize,
        signs=above.signs or below.signs,
        secret_env=tuple(dict.fromkeys((*below.secret_env, *above.secret_env))),
        named_only=above.named_only or below.named_only,
        # Another address is another server: a key for it must not go where the old one is asked
        probe=above.probe or ("" if above.base_url else below.probe),
    )


def _complete(model: ModelSpec, spec: ProviderSpec) -> ModelSpec:
    return replace(
        model,
        provider=spec.id,
        name=model.name or model.id,
        api=model.api or spec.api,
        base_url=model.base_url or spec.base_url,
        compat={**spec.compat, **model.compat},
        headers={**spec.headers, **model.headers},
    )
