"""What commands leave running ends with the session that started them: its end, its replacement, a reload."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from support.tool_context import until

from zot_core.testing import Script
from zot_core.types.content import text_of

START = {
    "job": {"command": "echo $$ > pid; echo up; cat", "background": True},
    "child": {"command": "sleep 300 & echo $! > pid"},
    "setsid": {"command": "(setsid sh -c 'echo $$ > pid; exec sleep 300' &); until [ -s pid ]; do sleep 0.01; done"},
}


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


async def end(app: Any) -> None:
    await app.close()


async def new(app: Any) -> None:
    assert await app.new_session()


async def reload(app: Any) -> None:
    await app.reload()


@pytest.mark.parametrize("how", [end, new, reload])
@pytest.mark.parametrize("kind", START)
def test_children_end_with_their_session(
    runtime: Any, world: Any, kind: str, how: Callable[[Any], Awaitable[None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELL", "/bin/bash")

    async def main() -> None:
        async with runtime(script=Script().call("bash", START[kind]).then().text("done")) as app:
            await app.prompt("go")
            (result,) = app.front.tool_results()
            assert not result.is_error, text_of(result.content)
            await until(lambda: (world.project / "pid").exists() and bool((world.project / "pid").read_text()))
            pid = int((world.project / "pid").read_text())
            assert not gone(pid)
            await how(app)
            await until(lambda: gone(pid))

    asyncio.run(main())


def test_a_background_job_brings_its_tool_along(runtime: Any, world: Any) -> None:
    script = (
        Script().call("bash", {"command": "cat", "background": True}).then().call("bash_job", {}).then().text("done")
    )

    async def main() -> list[str]:
        async with runtime(script=script, tools=("bash",)) as app:
            await app.prompt("go")
            return [text_of(result.content) for result in app.front.tool_results()]

    started, listed = asyncio.run(main())
    assert " runs since 0 s]" in started
    assert listed.endswith(": cat")


def test_settings_of_the_tool(runtime: Any, world: Any) -> None:
    (world.home / "settings.json").write_text(
        '{"plugins": {"tool_bash": {"timeout": 0.3, "shell": "/bin/sh", "expose_session_environment": false}}}'
    )
    script = Script().call("bash", {"command": 'echo "$0" .$ZOT_MODEL.; sleep 60'}).then().text("done")

    async def main() -> str:
        async with runtime(script=script) as app:
            await app.prompt("go")
            assert not [note for note in app.front.notes if "tool_bash" in note.text]
            (result,) = app.front.tool_results()
            return text_of(result.content)

    assert asyncio.run(main()).startswith("/bin/sh ..\n\n[Timed out after 0.3 s")


def test_wrong_settings_are_said_and_cost_only_themselves(runtime: Any, world: Any) -> None:
    (world.home / "settings.json").write_text(
        '{"plugins": {"tool_bash": {"timeout": -1, "shell": "/bin/sh", "colour": "red"}}}'
    )
    script = Script().call("bash", {"command": 'echo "$0"'}).then().text("done")

    async def main() -> str:
        async with runtime(script=script) as app:
            await app.prompt("go")
            assert [note for note in app.front.notes if "timeout" in note.text]
            (result,) = app.front.tool_results()
            return text_of(result.content)

    assert asyncio.run(main()).strip() == "/bin/sh"
