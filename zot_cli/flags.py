"""The flags of `zot` as data: one row a flag, read by the parser, by `--help` and by the reference page.

Must not import anything of zot; a flag whose feature does not exist has no row.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

LEVELS = ("off", "minimal", "low", "medium", "high", "xhigh", "max")
FORMATS = ("anthropic-messages", "openai-completions", "openai-responses", "google-generative-ai")
MODES = ("print", "json", "rpc")


class Flag(NamedTuple):
    """One flag. `names` are its spellings, `dest` is where its value goes.

    `kind`: `switch` takes no value and sets `value`; `text` takes any; `file` is text where `@path` reads a file;
    `optional` takes a value if one follows; `csv`, `count` (a whole number from 1), `choice` (one of `choices`) and
    `float` and `int` (flags of plugins) are checked. `repeatable` collects values in order; `source` rows collect
    (kind, value) pairs into one list, so that their order on the line is kept over several flags.
    """

    names: tuple[str, ...]
    dest: str
    kind: Literal["switch", "text", "file", "optional", "csv", "count", "int", "float", "choice"]
    help: str
    metavar: str = ""
    value: object = True
    choices: tuple[str, ...] = ()
    repeatable: bool = False
    source: Literal["", "ext", "plugin"] = ""


FLAGS: tuple[Flag, ...] = (
    Flag(("-p", "--print"), "print", "switch", "Run to the end, the answer on stdout."),
    Flag(("--json",), "json", "switch", "Run to the end, one JSON event a line on stdout."),
    Flag(("--rpc",), "rpc", "switch", "Requests on stdin, responses and events on stdout; also `zot rpc`."),
    Flag(("--mode",), "mode", "choice", "The same by name.", "MODE", choices=MODES),
    Flag(("--provider",), "provider", "text", "Who serves the model; `scripted` needs no key and no network.", "ID"),
    Flag(("--model",), "model", "text", "The model; also `provider/id` and `id:LEVEL`.", "ID"),
    Flag(
        ("--models",),
        "models",
        "csv",
        "The models to go through with ctrl+p: patterns such as `anthropic/*:high`, by commas.",
        "PATTERNS",
    ),
    Flag(("--api-key",), "api_key", "text", "The credential for this run.", "KEY"),
    Flag(("--base-url",), "base_url", "text", "The endpoint for this run, with or without /v1.", "URL"),
    Flag(("--api",), "api", "choice", "The endpoint's wire format, if not the model's own.", "FORMAT", choices=FORMATS),
    Flag(
        ("--reasoning", "--thinking"),
        "reasoning",
        "choice",
        "How much the model thinks, limited to what it can.",
        "LEVEL",
        choices=LEVELS,
    ),
    Flag(("--system-prompt",), "system_prompt", "file", "In place of zot's own; @file reads a file.", "TEXT"),
    Flag(
        ("--append-system-prompt",),
        "append_system_prompt",
        "file",
        "After the system prompt; repeatable; @file reads a file.",
        "TEXT",
        repeatable=True,
    ),
    Flag(("-c", "--continue"), "continue_session", "switch", "Go on with the project's latest session."),
    Flag(("-r", "--resume"), "resume", "optional", "Resume a session by id, or the latest.", "[ID]"),
    Flag(("--session",), "session", "text", "Use the session of this path or id.", "PATH-or-ID"),
    Flag(("--fork",), "fork", "text", "Start from a copy of this session.", "ID"),
    Flag(("--no-session",), "no_session", "switch", "Keep no session file."),
    Flag(("--session-dir",), "session_dir", "text", "Where sessions are kept.", "DIR"),
    Flag(("--cwd",), "cwd", "text", "The project directory of the run.", "DIR"),
    Flag(("--tools",), "tools", "csv", "Only these tools.", "CSV"),
    Flag(("--exclude-tools",), "exclude_tools", "csv", "Without these tools.", "CSV"),
    Flag(("--no-tools",), "no_tools", "switch", "No tools at all."),
    Flag(("--no-builtin-tools",), "no_builtin_tools", "switch", "Only the tools of plugins that are not built in."),
    Flag(("--max-steps",), "max_steps", "count", "Model calls per prompt, 50 by default.", "N"),
    Flag(
        ("-e", "--ext", "--extension"),
        "explicit",
        "text",
        "Load this extension; repeatable, in the order given with --plugin.",
        "DIR",
        repeatable=True,
        source="ext",
    ),
    Flag(
        ("--plugin",),
        "explicit",
        "text",
        "Load this plugin; repeatable, in the order given with --ext.",
        "FILE-or-MODULE",
        repeatable=True,
        source="plugin",
    ),
    Flag(("--no-ext",), "no_ext", "switch", "No extensions but explicit ones."),
    Flag(("--no-plugins",), "no_plugins", "switch", "No plugins but built-in and explicit ones."),
    Flag(("--no-builtins",), "no_builtins", "switch", "No built-in plugins."),
    Flag(("--trust",), "trust", "switch", "Trust the project for this run."),
    Flag(("--no-trust",), "trust", "switch", "Do not trust the project for this run.", value=False),
    Flag(("--offline",), "offline", "switch", "No request but to the chosen model; also ZOT_OFFLINE=1."),
    Flag(
        ("--list-models",),
        "list_models",
        "switch",
        "List the models, or those with the given words in their names, and exit; with --json as JSON.",
    ),
    Flag(("-h", "--help"), "help", "switch", "Show this page and exit."),
    Flag(("-v", "--version"), "version", "switch", "Show the version and exit."),
)
