"""What models a provider serves now, asked of itself: within 3 s, kept for 6 hours, and never a reason to stop.

How a list is asked for, the provider's spec or its wire format knows. Imports no HTTP
library.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit, urlunsplit

from zot_core._version import __version__
from zot_core.models.attempt import join_url, shown_url
from zot_core.types.failure import RunFailed, ZotError
from zot_core.types.login import Probed
from zot_core.types.record import record
from zot_core.types.safe_text import error_text
from zot_core.types.specs import ApiFormat, ModelSpec, Prices, ProviderSpec, resolve

if TYPE_CHECKING:
    from zot_core.models.runner import Client, CredentialFor

LIMIT_S = 3.0
KEEP_S = 6 * 3600.0
AGAIN_S = 60.0
"""A provider that failed is not asked again so soon."""
PROBE_S = 10.0
LARGEST = 16 << 20
FIELDS = ("id", "name", "api", "context_window", "max_output", "reasoning", "source")


class ListFailed(ZotError):
    """A list of models could not be had; the message says why, without an address or a key. `refused` is true when the
    server did not take the key, `answered` when it answered at all."""

    def __init__(self, message: str, *, refused: bool = False, answered: bool = False) -> None:
        super().__init__(message)
        self.refused = refused
        self.answered = answered


class Get(Protocol):
    """`await get("v1/models", {"authorization": "Bearer {key}"})`: the JSON at a path below the base URL (`root`: below
    its host), `headers` with the key in the place of `{key}`, or left out where there is none. Raises ListFailed."""

    def __call__(self, path: str, headers: Mapping[str, str] = ..., *, root: bool = False) -> Awaitable[Any]: ...


@record(kw_only=True, eq=False)
class Asking:
    """What a `discover` function gets: whom to ask, and the way to ask."""

    provider: ProviderSpec
    get: Get


@record(kw_only=True)
class Listed:
    """What a provider said at `at` (seconds since the epoch). `problem` says why it said nothing; `refused` is the key
    that it did not take."""

    provider: str
    models: tuple[ModelSpec, ...] = ()
    at: float = 0.0
    problem: str = ""
    refused: str | None = field(default=None, repr=False)


class Discovery:
    """Lists of models by provider: from memory, from `folder`, or from the provider itself.

    `offline` asks nobody; what was kept is still used, however old.
    """

    def __init__(
        self,
        folder: Path,
        client: Callable[[], Client],
        credential: CredentialFor,
        *,
        expand: Callable[[str], str] = str,
        offline: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._folder = folder
        self._client = client
        self._credential = credential
        self._expand = expand
        self._offline = offline
        self._clock = clock
        self._known: dict[Path, Listed] = {}
        self._told: set[tuple[str, float]] = set()

    async def all(self, specs: Iterable[tuple[ProviderSpec, ApiFormat | None]]) -> list[Listed]:
        """What each of these providers says, all asked at once."""
        return list(await asyncio.gather(*(self.of(spec, api) for spec, api in specs)))

    async def of(self, spec: ProviderSpec, api: ApiFormat | None = None) -> Listed:
        """What `spec` serves, by its own way or that of its wire format. Never raises, cancellation aside."""
        way = spec.discover or (api.discover if api is not None else None)
        if way is None or not spec.base_url or spec.compat.get("listsModels") is False:
            return Listed(provider=spec.id)
        path = self._path(spec)
        kept = self._kept(path, spec)
        fresh = kept is not None and (self._offline or self._is_fresh(kept))
        if kept is not None and fresh and (self._offline or kept.refused is None):
            return kept
        if self._offline:
            return Listed(provider=spec.id)
        key = ""
        try:
            async with asyncio.timeout(LIMIT_S):
                found = self._credential(spec)
                credential = await found if inspect.isawaitable(found) else found
                key = credential.key if credential is not None else ""
                if kept is not None and fresh and kept.refused == key:
                    return kept
                models = await self._ask(spec, way, key)
            listed = Listed(provider=spec.id, models=models, at=self._clock())
        except TimeoutError:
            listed = self._failed(spec, kept, f"no answer within {LIMIT_S:g} s")
        except (ListFailed, RunFailed) as error:
            listed = self._failed(spec, kept, str(error))
            if isinstance(error, ListFailed) and error.refused:
                listed = replace(listed, refused=key)  # another key may do better, at once
        except Exception as error:  # a plugin's function: a list that is missing stops nobody
            listed = self._failed(spec, kept, error_text(error))
        self._keep(path, listed)
        return listed

    def is_news(self, listed: Listed) -> bool:
        """Whether a problem comes from an asking that was not told of yet."""
        mark = (listed.provider, listed.at)
        told = mark in self._told
        self._told.add(mark)
        return bool(listed.problem) and not told

    async def probe(self, spec: ProviderSpec, api: ApiFormat | None, key: str) -> Probed:
        """Whether the server takes `key`, by the cheapest question that there is. Never raises, cancellation aside."""
        way = (_probe if spec.probe else None) or spec.discover or (api.discover if api is not None else None)
        if way is None or not spec.base_url or "{" in spec.base_url or spec.compat.get("listsModels") is False:
            return Probed(verdict="unknown", reason=f"{spec.id} has nothing to ask that costs nothing")
        try:
            async with asyncio.timeout(PROBE_S):
                await self._ask(spec, way, key)
        except TimeoutError:
            return Probed(verdict="unreachable", reason=f"no answer within {PROBE_S:g} s")
        except ListFailed as error:
            if error.refused:
                return Probed(verdict="refused", reason=str(error))
            return Probed(verdict="unknown" if error.answered else "unreachable", reason=str(error))
        except Exception as error:  # a plugin's function, whose words may hold the key
            return Probed(verdict="unknown", reason=type(error).__name__)
        return Probed(verdict="good")

    def forget(self, spec: ProviderSpec) -> None:
        """The credential of `spec` is another one: a list that failed is asked for anew."""
        path = self._path(spec)
        kept = self._kept(path, spec)
        if kept is not None and kept.problem:
            self._keep(path, Listed(provider=spec.id, models=kept.models))

    def _failed(self, spec: ProviderSpec, kept: Listed | None, why: str) -> Listed:
        problem = f"the models of {spec.id} could not be listed at {shown_url(spec.base_url)}: {why}"
        return Listed(provider=spec.id, models=kept.models if kept else (), at=self._clock(), problem=problem)

    def _is_fresh(self, kept: Listed) -> bool:
        return 0 <= self._clock() - kept.at < (AGAIN_S if kept.problem else KEEP_S)

    async def _ask(self, spec: ProviderSpec, way: Any, key: str) -> tuple[ModelSpec, ...]:
        async def get(path: str, headers: Mapping[str, str] = {}, *, root: bool = False) -> Any:
            base = _root(spec.base_url) if root else spec.base_url
            sent = {"accept": "application/json", "user-agent": f"zot/{__version__}"}
            sent.update((n.lower(), v.replace("{key}", key)) for n, v in headers.items() if key or "{key}" not in v)
            sent.update((name.lower(), self._expand(value)) for name, value in spec.headers.items())
            return await self._json(path if "://" in path else join_url(base, path), sent)

        answer: Sequence[ModelSpec] = await resolve(way)(Asking(provider=spec, get=get))
        return tuple(answer)

    async def _json(self, url: str, headers: Mapping[str, str]) -> Any:
        client = self._client()
        from zot_core.net.client import NetError  # loaded by now, and not before

        try:
            async with client.stream("GET", url, headers=headers) as response:
                body = await response.read(LARGEST)
                if not 200 <= response.status < 300:
                    refused = response.status in (401, 403) or (response.status == 400 and _names_key(body))
                    raise ListFailed(f"it answered {response.status}", refused=refused, answered=True)
        except NetError as error:
            raise ListFailed(str(error)) from error
        try:
            return json.loads(body)
        except ValueError:
            raise ListFailed("its answer is no JSON", answered=True) from None

    # --- what is kept ------------------------------------------------------------------------------------------------

    def _path(self, spec: ProviderSpec) -> Path:
        name = "".join(char if char.isalnum() or char in "-_" else "_" for char in spec.id)[:60]
        place = sha256(f"{spec.id}\n{spec.base_url}".encode("utf-8", "replace")).hexdigest()[:12]
        return self._folder / f"{name}-{place}.json"

    def _kept(self, path: Path, spec: ProviderSpec) -> Listed | None:
        if path not in self._known:
            try:
                data = json.loads(path.read_text(encoding="utf-8"))
                if data["version"] != __version__:
                    return None
                models = tuple(_model(row, spec.id) for row in data["models"])
                self._known[path] = Listed(
                    provider=spec.id, models=models, at=float(data["at"]), problem=str(data["problem"])
                )
            except (OSError, ValueError, KeyError, TypeError):
                return None  # not there, or not ours: it is asked anew
        return self._known[path]

    def _keep(self, path: Path, found: Listed) -> None:
        self._known[path] = found
        if found.refused is not None:
            return  # whether the next process has the same key cannot be said without keeping it
        from zot_core.config.files import write_whole
        from zot_core.config.paths import make_private

        rows = [_row(model) for model in found.models]
        data = {"version": __version__, "at": found.at, "problem": found.problem, "models": rows}
        try:
            make_private(self._folder.parent)
            make_private(self._folder)
            write_whole(path, json.dumps(data, ensure_ascii=False))
        except OSError:
            pass  # a cache that cannot be written costs a question the next time


async def _probe(asking: Asking) -> Sequence[ModelSpec]:
    await asking.get(asking.provider.probe, {"authorization": "Bearer {key}"})
    return ()


def _names_key(body: bytes) -> bool:
    """Google and xAI answer a wrong key with 400, and say so."""
    said = body[:4096].lower()
    return b"api key" in said or b"api_key" in said


def _root(url: str) -> str:
    parts = urlsplit(url.strip())
    return urlunsplit((parts.scheme, parts.netloc, "", "", ""))


def _row(model: ModelSpec) -> dict[str, Any]:
    row: dict[str, Any] = {name: getattr(model, name) for name in FIELDS}
    prices = model.prices
    figures = None if prices is None else [prices.input, prices.output, prices.cache_read, prices.cache_write]
    levels = None if model.thinking_levels is None else dict(model.thinking_levels)
    return {**row, "inputs": model.inputs, "prices": figures, "levels": levels, "compat": dict(model.compat)}


def _model(row: Mapping[str, Any], provider: str) -> ModelSpec:
    figures = row["prices"]
    prices = None
    if figures is not None:
        prices = Prices(input=figures[0], output=figures[1], cache_read=figures[2], cache_write=figures[3])
    return ModelSpec(
        provider=provider,
        inputs=tuple(row["inputs"]),
        prices=prices,
        thinking_levels=row["levels"],
        compat=row["compat"],
        **{name: row[name] for name in FIELDS},
    )
