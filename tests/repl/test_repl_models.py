"""Going through models by a key, while nothing runs and while something does; lists keep that key for themselves."""

from __future__ import annotations

from typing import Any

PLUGIN = """
import asyncio
from pathlib import Path
from zot_core import ModelSpec, ProviderSpec, hookimpl
from zot_core.types.content import text_of
from zot_core.types.stream import Done, TextDelta, ToolCallDelta, ToolCallStart

async def stream(request):
    if request.messages[-1].role == "user" and text_of(request.messages[-1].content) == "work":
        yield TextDelta(f"{request.model.id} works.")
        while not Path("go").exists():
            await asyncio.sleep(0.02)
        yield ToolCallStart(0, "c1", "ls")
        yield ToolCallDelta(0, '{"path": "."}')
        yield Done("tool_use")
        return
    yield TextDelta(f"{request.model.id} was asked.")
    yield Done("end_turn")

@hookimpl
def providers():
    models = [ModelSpec(id=name, provider="p", reasoning=True) for name in ("large", "medium", "small")]
    return ProviderSpec(id="p", keyless=True, models=tuple(models), stream=stream)
"""


def opened(desk: Any, *argv: str) -> Any:
    (desk.project / "models.py").write_text(PLUGIN)
    desk.script(["Hello."])
    return desk.zot("--plugin", "models.py", *argv, columns=100)


def test_a_key_goes_through_the_scope_and_back(desk: Any) -> None:
    zot = opened(desk, "--models", "p/large,small:high")
    zot.type("half a thought")
    zot.press("ctrl+p")
    zot.wait("[zot] p/large · off")
    zot.press("ctrl+p")
    zot.wait("[zot] p/small · high")
    zot.wait(lambda screen: "p/small · high" in screen.text.splitlines()[-1])
    zot.type("\x1bp")
    zot.wait("[zot] p/large · off")
    assert "› half a thought" in zot.text
    zot.press("enter")
    zot.wait("large was asked.")


def test_a_step_while_a_run_goes_on_holds_from_the_next_call(desk: Any) -> None:
    zot = opened(desk)
    zot.press("ctrl+p")
    zot.wait("[zot] p/large · off")
    zot.type("work")
    zot.press("enter")
    zot.wait("large works.")
    zot.press("ctrl+p")
    zot.wait("p/medium · off, from the next model call on")
    (desk.project / "go").touch()
    zot.wait("medium was asked.")


def test_lists_and_the_menu_keep_the_key(desk: Any) -> None:
    zot = opened(desk, "--models", "p/*")
    zot.type("/model")
    zot.press("enter")
    zot.wait("› p/large")
    zot.press("ctrl+n")
    zot.wait("› p/medium")
    zot.press("ctrl+p")
    zot.wait("› p/large")
    zot.press("up")
    zot.wait("› All models …")
    zot.press("enter")
    zot.wait("scripted/scripted (in use)")
    zot.type("p/ small")
    zot.wait("› p/small")
    zot.press("enter")
    zot.wait("p/small answers from now on.")
    zot.type("/model p/")
    zot.wait("p/medium")
    zot.press("ctrl+n", "ctrl+p", "enter")
    zot.wait("p/large answers from now on.")
