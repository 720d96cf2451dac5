"""Any output, in any pieces: what is shown is whole lines and whole characters within the limits. Property tests."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zot_core.toolkit.command import Gated
from zot_core.toolkit.jobs import Job, Jobs
from zot_core.toolkit.operations import ShellExit
from zot_core.toolkit.process import ProcessGroups
from zot_core.toolkit.spool import Spool
from zot_core.toolkit.text import as_seen
from zot_core.toolkit.truncation import MAX_BYTES, MAX_LINES

PIECES = st.lists(
    st.one_of(
        st.binary(max_size=40),
        st.text(max_size=40).map(lambda text: text.encode("utf-8", "surrogatepass")),
        st.sampled_from([b"\r", b"\n", b"\x1b[31m", b"\x1b[2K", "é日本".encode(), b"x" * 30_000, b"line\n" * 900]),
    ),
    max_size=12,
)
QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@QUICK
@given(PIECES)
def test_a_command_shows_the_end_of_what_a_terminal_would_show(tmp_path: Path, pieces: list[bytes]) -> None:
    spool = Spool("p", folder=tmp_path)
    for piece in pieces:
        spool.feed(piece)
    text, notice = spool.finish()
    whole = as_seen(b"".join(pieces).decode("utf-8", "replace"))
    assert len(text.encode("utf-8", "surrogatepass")) <= MAX_BYTES
    assert len(text.split("\n")) <= MAX_LINES + 1
    if not notice:
        assert text == whole
        assert spool.path is None
        return
    assert spool.path is not None
    kept = spool.path.read_text(encoding="utf-8")
    spool.path.unlink()
    assert kept == whole
    if "a part of the last line" not in notice:
        assert whole.rstrip("\n").split("\n")[-len(text.split("\n")) :] == text.split("\n")
    else:
        assert whole.rstrip("\n").endswith(text)


@QUICK
@given(PIECES, st.lists(st.booleans(), min_size=12, max_size=12))
def test_looks_at_a_job_tell_everything_once(pieces: list[bytes], looks: list[bool]) -> None:
    plain = [piece.decode("ascii", "ignore").encode() for piece in pieces]
    plain = [bytes(byte for byte in piece if 32 <= byte < 127 or byte == 10)[:2000] for piece in plain]

    async def main() -> str:
        told: list[str] = []

        class Shell:
            async def run(self, command: str, *, on_data: Any, **options: Any) -> ShellExit:
                for piece, look in zip(plain, looks, strict=False):
                    on_data(piece)
                    if look:
                        told.append(job.news())
                return ShellExit(code=0)

        job: Job = Jobs(ProcessGroups()).start(Gated("x", "/", {}), lambda stdin: Shell(), takes_input=False)
        await job.done.wait()
        return "".join([*told, job.news()])

    # Line ends around a look are not kept, the text is.
    assert asyncio.run(main()).replace("\n", "") == b"".join(plain).decode().replace("\n", "")
