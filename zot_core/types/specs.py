"""Specs: what a plugin contributes, as data. Listing is data, doing is import.

Wherever a spec takes a function it also takes a dotted string `"package.module:name"`, which is imported when the
thing is first used. A spec never says who owns it; the registries do.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from zot_core.types.places import ExtensionPlaces
from zot_core.types.prompt_specs import Expansion as Expansion
from zot_core.types.prompt_specs import ExpansionName as ExpansionName
from zot_core.types.prompt_specs import PromptSection as PromptSection
from zot_core.types.prompt_specs import PromptSource as PromptSource
from zot_core.types.prompt_specs import Summarizer as Summarizer
from zot_core.types.prompt_specs import Summary as Summary
from zot_core.types.record import record

if TYPE_CHECKING:
    from zot_core.models.protocol import Authorized, Decoder, Outgoing, Request
    from zot_core.types.login import OAuthSpec
    from zot_core.types.stream import StreamPart

Json: TypeAlias = Mapping[str, Any]
Ref: TypeAlias = str
"""A dotted string `"package.module:name"`."""
ThinkingLevel: TypeAlias = Literal["off", "minimal", "low", "medium", "high", "xhigh", "max"]
THINKING_LEVELS: tuple[ThinkingLevel, ...] = ("off", "minimal", "low", "medium", "high", "xhigh", "max")
Mode: TypeAlias = Literal["repl", "print", "json", "rpc"]


def resolve(ref: Any) -> Any:
    """The object that a dotted string names; anything else is returned as it is.

    Raises ImportError or AttributeError as the import does.
    """
    if not isinstance(ref, str):
        return ref
    module, _, name = ref.partition(":")
    return getattr(import_module(module), name)


_EXPOSURE_WORDS: Mapping[str, str] = {"deferred": "search", "codemode": "eval"}


@record(kw_only=True)
class ToolSpec:
    """A tool that a model may call.

    `execute` is `async def execute(args, ctx) -> ToolResult | str | None`; `args` is an instance of `arguments`
    (a pydantic model) where that is given, else the mapping as the model sent it. `parameters` is the JSON Schema
    that models see. `preview(args) -> str` says in a line (or a diff) what a call will do. `prepare_arguments` maps old
    shapes of arguments to the present one before they are validated.
    """

    name: str
    description: str
    parameters: Json
    execute: Callable[..., Any] | Ref
    arguments: type[Any] | Ref | None = None
    label: str = ""
    prompt_snippet: str = ""
    prompt_guidelines: tuple[str, ...] = ()
    preview: Callable[[Any], str] | Ref | None = None
    prepare_arguments: Callable[[Any], Any] | Ref | None = None
    sequential: bool = False
    workspace_effect: Literal["read", "write"] | None = None
    exposure: Literal["direct", "search", "eval", "model-only", "hidden"] = "direct"
    """How models come to it: `direct` is offered at once, `search` when `tool_search` found it, `eval` as direct where
    nothing evaluates code, `model-only` is refused to other tools, `hidden` is never offered. Of other programs' words,
    `deferred` is read as `search` and `codemode` as `eval`."""
    search_text: str = ""
    """More words for `tool_search` to find it by; no model sees them."""
    search_keywords: tuple[str, ...] = ()
    """As `search_text`, with the weight of the name."""
    search_group: str = ""
    """What `tool_search` may narrow a search to; "" is the name of the plugin."""
    allow_lazy_activation: bool = True
    """Whether a search or a model's call by its name may bring it; else only `ctx.tools.set_active` and loaders."""
    deferred: bool = False
    """Offered once the result of another tool, its loader, names it in `activate_tools`; no search finds it."""
    timeout: float | None = None
    details: Json | None = None
    """Facts added to every result's details, such as the name of the extension that owns the tool."""
    render_call: Callable[..., Any] | Ref | None = None
    """`render_call(args, theme, context)` draws the call's line on a screen: a component, text or lines; `context` is a
    `zot_core.ui.RenderContext`. Where it is missing or raises, the screen's own form is shown."""
    render_result: Callable[..., Any] | Ref | None = None
    """`render_result(result, options, theme, context)` draws what came of it; progress comes as a partial result."""
    render_shell: Literal["default", "self"] = "default"
    """`self` leaves the frame of the row (its mark, the columns from the left) to the renderers."""

    def __post_init__(self) -> None:
        """Reads the words that other programs have for an exposure."""
        if self.exposure in _EXPOSURE_WORDS:
            object.__setattr__(self, "exposure", _EXPOSURE_WORDS[self.exposure])


@record(kw_only=True)
class ToolResult:
    """What a tool answers: `content` for the model, `details` for screens and state, `usage` of nested model calls.

    `terminate` asks to skip the next model call; it holds only if every result of the batch asks for it.
    `activate_tools` names tools that the model is offered from its next call on; unknown names are ignored.
    """

    content: Any = ()
    is_error: bool = False
    details: Json | None = None
    usage: Any = None
    terminate: bool = False
    activate_tools: tuple[str, ...] = ()


@record(kw_only=True)
class CommandSpec:
    """A slash command. `handler` is `async def handler(args: str, ctx: CommandContext) -> str | None`; a returned
    text is shown to the person. `busy` says what happens while a run goes on: run at once, wait for its end, or
    abort it. `aliases` are further names for it, which no list repeats."""

    name: str
    description: str = ""
    handler: Callable[..., Any] | Ref
    argument_hint: str = ""
    requires_arguments: bool | None = None
    complete: Callable[..., Any] | Ref | None = None
    """`complete(text)` or `complete(text, ctx)`, sync or async: texts or `Suggestion`s for its arguments."""
    busy: Literal["run", "wait", "abort"] = "run"
    modes: tuple[Mode, ...] = ("repl", "print", "json", "rpc")
    aliases: tuple[str, ...] = ()
    group: str = ""
    """The heading that it stands under in `/help`; "" is the name of its plugin."""


@record(kw_only=True)
class FlagSpec:
    """A flag of the command line, `--name`; its value is in `session.flags` under `name`. A bool flag takes no
    value. Given in a mode that is not among `modes` it is refused."""

    name: str
    description: str = ""
    type: Literal["bool", "str", "int", "float"] = "bool"
    default: Any = None
    repeatable: bool = False
    choices: tuple[str, ...] = ()
    """The values that a `str` flag takes; none are any."""
    modes: tuple[Mode, ...] = ("repl", "print", "json", "rpc")


@record(kw_only=True)
class CliSpec:
    """A command of the `zot` program, such as `zot ext`; `command` names a click command and is imported to run it."""

    name: str
    help: str
    command: Any


@record(kw_only=True)
class Prices:
    """US dollars per million tokens.

    `tiers` are (tokens, Prices): a request whose input, cached tokens included, is above so many costs that, all of it;
    of several the highest holds.
    """

    input: float = 0.0
    output: float = 0.0
    cache_read: float = 0.0
    cache_write: float = 0.0
    tiers: tuple[tuple[int, Prices], ...] = ()


@record(kw_only=True)
class ModelSpec:
    """A model as the catalog knows it. `api` and `base_url`, where set, win over the provider's.

    `context_window` and `max_output` are in tokens; `inputs` are the kinds of content it takes; `compat` are flags
    for its wire format, as that format documents them. `source` says who said so: "" is the provider's catalog, else
    `models.json`, `live` (the server itself listed it), `--base-url` (a person named the server) or `unlisted`.
    """

    id: str
    provider: str
    name: str = ""
    api: str = ""
    base_url: str = ""
    context_window: int = 128_000
    max_output: int = 16_384
    inputs: tuple[Literal["text", "image"], ...] = ("text",)
    reasoning: bool = False
    thinking_levels: Json | None = None
    prices: Prices | None = None
    compat: Json = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    source: str = ""


@record(kw_only=True)
class ProviderSpec:
    """A place where models are served.

    `api` names a wire format from `api_formats`; a provider that speaks no HTTP gives `stream` instead. `env` lists the
    environment variables that hold its key, first set one wins; `api_key` may be text, `$VAR`, `${VAR}` or `!command`.
    `keyless` providers (a local server) need no key. `discover` is `async def discover(asking: Asking)`, which fetches
    the live list of models within 3 s (zot_core/models/discovery.py); without it the wire format's own way is taken.
    `oauth` says how people log in and how a login in auth.json is renewed.

    `/login` tries a new key by listing models; where anybody may list them, `probe` is a path below the base URL (or an
    address) that a GET with the key as bearer token reads and one with a wrong key does not.

    `authorize` is `async def authorize(outgoing: Outgoing) -> Authorized` (zot_core/models/protocol.py), asked before
    each attempt, for requests that are signed or whose tokens are found elsewhere: no key is needed then. What blocks
    belongs into a thread. It raises RunFailed for what a person has to mend. `signs() -> bool` says, quickly and
    without a network, whether it seems to have something to find: lists of usable models leave the others out.

    `secret_env` names variables beside `env` that hold credentials: no child process sees them. `named_only` providers
    are never chosen unasked, nor for a model's name that another provider has too.
    """

    id: str
    name: str = ""
    api: str = ""
    base_url: str = ""
    env: tuple[str, ...] = ()
    api_key: str = ""
    keyless: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)
    models: Sequence[ModelSpec] | Ref = ()
    default_model: str = ""
    compat: Json = field(default_factory=dict)
    discover: Callable[..., Awaitable[Sequence[ModelSpec]]] | Ref | None = None
    stream: Callable[[Request], AsyncIterator[StreamPart]] | Ref | None = None
    oauth: OAuthSpec | Ref | None = None
    probe: str = ""
    authorize: Callable[[Outgoing], Awaitable[Authorized]] | Ref | None = None
    signs: Callable[[], bool] | Ref | None = None
    secret_env: tuple[str, ...] = ()
    named_only: bool = False


@record(kw_only=True)
class ApiFormat:
    """A wire format of models: two pure functions.

    `build(request) -> HttpRequest` makes path, headers and JSON payload; `parser(request) -> StreamParser` makes an
    object that turns decoded server-sent events into stream parts. `discover` lists the models of a server that
    speaks this format, as `ProviderSpec.discover` does. `decoders` are for servers that frame their events in another
    way: by content type, in lower case, what makes a `Decoder` (zot_core/models/protocol.py).
    """

    name: str
    build: Callable[..., Any] | Ref
    parser: Callable[..., Any] | Ref
    discover: Callable[..., Awaitable[Sequence[ModelSpec]]] | Ref | None = None
    decoders: Mapping[str, Callable[[], Decoder] | Ref] = field(default_factory=dict)


@record(kw_only=True)
class Candidate:
    """A plugin that was found but not loaded: who it is, where it stands in the order, how to get it.

    `load` is an async function that returns the plugin (a module or an object with hook implementations). With `keep`,
    anything that can be compared, the plugin outlasts sessions: it is taken again for as long as a candidate of its
    name has an equal `keep`. A reload calls `renew(plugin)` with the one that is still at work, in place of `load`; it
    may raise ReplacementFailed to go on with another. A plugin that is left behind is told `process_stop`.
    """

    name: str
    tier: int
    position: int = 0
    load: Callable[[], Awaitable[Any]]
    origin: str = ""
    keep: Any = None
    renew: Callable[[Any], Awaitable[Any]] | None = None


@record(kw_only=True)
class SessionFacts:
    """What a contribution may know of the session that it is collected for: facts, no handles."""

    cwd: str
    mode: Mode
    kind: str = "interactive"
    labels: Mapping[str, str] = field(default_factory=dict)
    trusted: bool = False
    flags: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    """The plugin's own section of the settings, validated by its model where it contributes one."""
    home: str = ""
    extensions: tuple[tuple[int, str], ...] = ()
    """The extensions that the command line names, absolute, each with its place among all explicit plugins
    (`--ext`)."""
    extension_places: ExtensionPlaces = field(default_factory=ExtensionPlaces)
    """What the settings say of more extensions, and of some that are left out."""
    no_extensions: bool = False
    """Whether only explicit extensions are wanted (`--no-ext`)."""
    secret_env: frozenset[str] = frozenset()
    """Names of environment variables that hold zot's credentials; no child process may see them. Given to `sources`."""


@record(kw_only=True)
class SettingsSpec:
    """A plugin's section of settings.json, `plugins.<name>`; `model` is a pydantic model or a dotted string to one."""

    model: Any


@record(kw_only=True)
class FilesystemRequest:
    """A file operation about to happen, on the real path after links are resolved."""

    operation: Literal["read", "enumerate", "write"]
    path: str
    tool_name: str


@record(kw_only=True)
class FilesystemPolicy:
    """`check(request) -> str | None` answers None to allow or the reason to deny; a raise denies. Sync: it runs in the
    worker, right before the I/O.

    Shell commands ask no policy; what holds for them are folders. `denied_roots` are closed to them where the system
    can do that, and the result says where not. With `roots`, commands are kept inside these folders, or refused where
    that cannot be enforced; of the rest they may read the system's own folders and `readable_roots`. `readonly_roots`
    stay as they are even inside of roots (a missing one is made as an empty folder to that end); the result says where
    nothing can see to that. `network` False leaves commands no network, and refuses them where that cannot be.

    One that can be switched has `current`, asked at the start of each tool call: it answers the policy that holds for
    that call, or None.
    """

    name: str
    check: Callable[[FilesystemRequest], str | None]
    denied_roots: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    readable_roots: tuple[str, ...] = ()
    readonly_roots: tuple[str, ...] = ()
    network: bool = True
    current: Callable[[], FilesystemPolicy | None] | None = None


@record(kw_only=True)
class ShortcutSpec:
    """A key of the REPL: `handler(ctx)` runs when `key` (such as `ctrl+x`) is pressed."""

    key: str
    description: str
    handler: Callable[..., Any] | Ref


@record(kw_only=True)
class MessageRenderer:
    """How custom messages of a type look on a screen. `render(message, options, theme)` answers a component, text or
    lines, None for the plain form; `options` is a `zot_core.ui.RenderOptions`."""

    custom_type: str
    render: Callable[..., Any] | Ref


@record(kw_only=True)
class EntryRenderer:
    """How entries of `ctx.append_entry` look on a screen; those without a renderer are not shown.

    `render(entry, options, theme)` answers a component, text or lines; the entry has `id`, `custom_type` and `data`.
    `replaces(previous, next)` is asked when the entry directly before is of the same type; True puts the new one in its
    place.
    """

    custom_type: str
    render: Callable[..., Any] | Ref
    replaces: Callable[[Any, Any], bool] | Ref | None = None


@record(kw_only=True)
class MarkdownTransformer:
    """Changes Markdown before a screen shows it; what is stored and what models see stays as it is.

    `transform(markdown, context) -> str` gets what the transformer before it answered; `context` is a
    `zot_core.ui.MarkdownContext`. It is called for every frame of what streams, so it should be sync and quick.
    """

    transform: Callable[..., str] | Ref
    name: str = ""


@record(kw_only=True)
class ResourcePath:
    """A file or folder that holds skills, prompts, themes or hooks, and the scope that it counts as."""

    path: str
    scope: Literal["system", "user", "project", "temporary"] | None = None
