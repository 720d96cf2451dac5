"""How the command line asks for RPC."""

from __future__ import annotations

import pytest

from zot_cli.modes.rpc.commands import HANDLERS
from zot_cli.names import COMMANDS
from zot_cli.options import parse
from zot_core.wire import rpc


@pytest.mark.parametrize(
    ("argv", "mode", "words"),
    [
        (["rpc"], "rpc", []),
        (["--rpc"], "rpc", []),
        (["--mode", "rpc"], "rpc", []),
        (["rpc", "--model", "x", "--no-session"], "rpc", []),
        (["--model", "x", "rpc"], "rpc", []),
        (["rpc", "more"], "rpc", ["more"]),
        (["rpc", "rpc"], "rpc", ["rpc"]),
        (["-p", "rpc"], "print", ["rpc"]),
        (["--json", "rpc"], "json", ["rpc"]),
        (["tell", "rpc"], "", ["tell", "rpc"]),
        (["--", "rpc"], "", ["rpc"]),
    ],
)
def test_the_word_and_the_flags_mean_the_same(argv: list[str], mode: str, words: list[str]) -> None:
    line = parse(argv, COMMANDS)
    assert (line.mode, line.words) == (mode, words)
    line.reparse(())
    assert (line.mode, line.words) == (mode, words)


def test_every_request_has_somebody_who_does_it_and_says_what_it_answers() -> None:
    assert set(HANDLERS) == set(rpc.COMMANDS) and len(rpc.COMMANDS) == len(rpc.REQUESTS)
    assert [name for name, model in rpc.COMMANDS.items() if not (model.answer and model.__doc__)] == []
