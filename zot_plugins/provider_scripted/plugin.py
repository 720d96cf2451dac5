"""Brings the provider `scripted` and its flag `--script FILE`; the variable ZOT_SCRIPT names a file too."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

from zot_core import hookimpl
from zot_core.models.protocol import Request
from zot_core.types.specs import FlagSpec, ModelSpec, ProviderSpec, SessionFacts, resolve
from zot_core.types.stream import StreamPart

MODEL = ModelSpec(
    id="scripted",
    provider="scripted",
    name="No model: a script or a demonstration",
    context_window=1_000_000,
    max_output=1_000_000,
    inputs=("text", "image"),
    reasoning=True,
    thinking_levels={"xhigh": "xhigh", "max": "max"},
)


class Player:
    """The stream of one session: it counts the model calls, and the script file is read at the first of them."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.calls = 0
        self.script: object | None = None

    def __call__(self, request: Request) -> AsyncIterator[StreamPart]:
        code = "script:play" if self.path else "demo:demonstrate"
        # A reload makes another stream for the same session, which goes on where it was.
        playing = _playing.setdefault((request.session_id, self.path), self) if request.session_id else self
        while len(_playing) > MOST:
            del _playing[next(iter(_playing))]
        stream: AsyncIterator[StreamPart] = resolve(f"zot_plugins.provider_scripted.{code}")(request, playing)
        return stream


MOST = 100
"""Sessions whose place in their script is remembered in one process."""
_playing: dict[tuple[str, str], Player] = {}


@hookimpl
def flags() -> list[FlagSpec]:
    """`--script FILE`."""
    return [FlagSpec(name="script", type="str", description="a file of replies for the provider `scripted` to play")]


@hookimpl
def providers(session: SessionFacts) -> list[ProviderSpec]:
    """A provider whose place in the script is its own, so that a new session begins at the first reply."""
    given = session.flags.get("script") or os.environ.get("ZOT_SCRIPT", "").strip()
    path = str(Path(session.cwd, str(given)).expanduser()) if given else ""
    return [
        ProviderSpec(
            id="scripted",
            name="Scripted",
            keyless=True,
            named_only=True,
            models=(MODEL,),
            default_model=MODEL.id,
            stream=Player(path),
        )
    ]
