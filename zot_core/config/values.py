"""The settings that the core and the front ends know, with their defaults: the one list of them.

Plain dataclasses, so that a start from the boot snapshot needs no pydantic; `schema` checks files against these very
classes. A plugin's own settings are in `plugins.<name>` and belong to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields, is_dataclass
from typing import Annotated, Any, Literal, TypeVar, get_args

from zot_core.types.record import record
from zot_core.types.specs import ThinkingLevel

S = TypeVar("S")


class AtLeast:
    """A number's lower limit, told to pydantic only when a file is checked."""

    def __init__(self, limit: float) -> None:
        self.limit = limit

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return {**handler(source), "ge": self.limit}


Count = Annotated[int, AtLeast(0)]
Seconds = Annotated[float, AtLeast(0)]


@record
class Retry:
    """How often a failed request is tried in all, the first wait in seconds (doubling), and the longest wait."""

    attempts: Annotated[int, AtLeast(1)] = 3
    """How often a request is tried in all."""
    base_delay_s: Seconds = 2.0
    """Seconds before the second try; each further one waits twice as long."""
    max_delay_s: Seconds = 60.0
    """Seconds that a wait takes at most."""


@record
class Shutdown:
    """Time for handlers of the end of a session, in milliseconds; 0 switches a limit off."""

    handler_warn_ms: Count = 2000
    """Milliseconds until a handler of a session's end is warned of; 0 is never."""
    handler_timeout_ms: Count = 10_000
    """Milliseconds until such a handler is cancelled; 0 is never."""
    quit_budget_ms: Count = 2000
    """Milliseconds that all of them have together when zot is left; 0 is no limit."""


@record
class Http:
    """Requests to models: seconds until a connection stands, seconds of silence on a stream, a proxy, TLS checks."""

    connect_timeout_s: Seconds = 10.0
    """Seconds until a connection to a model's server has to stand."""
    idle_timeout_s: Seconds = 120.0
    """Seconds of silence after which an answer counts as cut off."""
    proxy: str = ""
    verify_tls: bool = True
    """Whether certificates are checked; false is for a server of one's own."""


@record
class Queue:
    """What Enter does while a run goes on: `steer` it after the current tools, or `follow_up` when it has ended."""

    enter: Literal["steer", "follow_up"] = "steer"
    """What Enter does while a run goes on: join it at its next step, or wait until it is over."""


@record
class Tools:
    """Which tools a model gets: a preset (`zot` is read, write, edit, bash), or `include`, and less `exclude`."""

    preset: Literal["default", "zot"] = "default"
    """Which tools models get: zot's usual ones, or only read, write, edit and bash."""
    include: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()


@record
class Extensions:
    """Subprocess extensions: more folders to load from, and names that are left out."""

    paths: tuple[str, ...] = ()
    """Folders of extensions, or that hold some; `~` is your home, and a relative one begins at this file's folder."""
    disabled: tuple[str, ...] = ()
    """Names of extensions that are not loaded, unless `--ext` names their folder."""


@record
class Settings:
    """Everything that settings.json may hold. "" and None mean: not said, so the program chooses."""

    provider: str = ""
    model: str = ""
    enabled_models: tuple[str, ...] = ()
    """The models that `ctrl+p` goes through and `/model` lists first: patterns for `provider/id` or the id alone, with
    `:level` to pin how much they think. None means all that can be used."""
    reasoning: ThinkingLevel | None = None
    """How much models think where a session and its model say nothing else."""
    max_steps: Annotated[int, AtLeast(1)] = 50
    """Model calls of one run, after which it ends by itself."""
    theme: str = ""
    images: Literal["auto", "kitty", "iterm2", "off"] = "auto"
    """How the interactive mode draws pictures: by Kitty's or iTerm2's protocol, not at all, or as the terminal's
    environment tells (`auto`; not within tmux, screen or Zellij, which would not pass them on)."""
    rewrap_scrollback: bool = False
    """Whether another width of the terminal prints the whole conversation anew. That empties the terminal's scrollback,
    also of what stood there before; without it the last screenful is printed anew."""
    session_dir: str = ""
    default_project_trust: Literal["ask", "always", "never"] = "ask"
    """Whether a project that nothing is kept about may bring plugins and settings."""
    retry: Retry = field(default_factory=Retry)
    shutdown: Shutdown = field(default_factory=Shutdown)
    http: Http = field(default_factory=Http)
    queue: Queue = field(default_factory=Queue)
    tools: Tools = field(default_factory=Tools)
    extensions: Extensions = field(default_factory=Extensions)
    disabled_plugins: tuple[str, ...] = ()
    allow_replacing: tuple[str, ...] = ()
    """Built-ins that another plugin of the same name may replace without a notice at every start."""
    plugins: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


ALIASES: Mapping[str, str] = {"thinking": "reasoning", "thinking_level": "reasoning", "reasoning_level": "reasoning"}
"""Other spellings of top-level keys that are read as well, and kept as written."""
HOME_ONLY = frozenset({"default_project_trust", "allow_replacing"})
"""Keys that a project cannot set for itself."""
PLUGIN_SECTIONS = "plugins"


def sections() -> dict[str, type[Any]]:
    """The keys of Settings that are objects with known keys, and their classes."""
    return {f.name: f.default_factory for f in fields(Settings) if is_dataclass(f.default_factory)}  # type: ignore[misc]


def from_plain(cls: type[S], data: Mapping[str, Any]) -> S:
    """An instance of a settings class from checked JSON; absent keys have their defaults, unknown ones are left out.

    Raises TypeError or ValueError when `data` is not what a check would have let through.
    """
    known = sections() if cls is Settings else {}
    values: dict[str, Any] = {}
    for item in fields(cls):  # type: ignore[arg-type]
        if item.name not in data:
            continue
        value = data[item.name]
        if item.name in known:
            value = from_plain(known[item.name], value)
        elif isinstance(value, list):
            value = tuple(value)
        values[item.name] = value
    return cls(**values)


def choices(key: str) -> tuple[str, ...]:
    """What a top-level key or `section.key` may be where it is one of a few words; () for any other key."""
    from typing import get_type_hints

    section, _, name = key.rpartition(".")
    cls = sections().get(section) if section else Settings
    hint = get_type_hints(cls).get(name) if cls is not None else None
    words = [get_args(part) or () for part in (hint, *get_args(hint))]
    return tuple(word for group in words for word in group if isinstance(word, str))
