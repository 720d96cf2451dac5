"""A command that fails says why, once."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize("mode", ["-p", "--json"])
def test_a_refused_command_is_told_once(zot: Any, mode: str) -> None:
    done = zot(mode, "/fallback nope/x scripted/scripted")
    assert done.code == 2
    assert (done.out + done.err).count("no known model") == 1, done
    assert "zot:/" not in done.out + done.err


def test_a_broken_command_is_told_without_the_name_of_its_task(zot: Any, plugin: Any) -> None:
    path = plugin(
        "from zot_core import CommandSpec, hookimpl\n"
        "def boom(args, ctx):\n    raise ValueError('kaputt')\n"
        "@hookimpl\ndef commands():\n    return CommandSpec(name='boom', description='d', handler=boom)\n"
    )
    done = zot("--plugin", path, "-p", "/boom")
    assert done.code != 0 and "kaputt" in done.err and "zot:/boom" not in done.err
