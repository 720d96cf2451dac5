"""A streamed answer ends up in the scrollback as one that came whole, wherever its text was cut. Without a terminal."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

import pytest

from zot_cli.repl import state as st
from zot_cli.repl.look import default_look
from zot_cli.repl.markdown import blocks_of, final_part
from zot_cli.repl.spans import to_ansi
from zot_cli.repl.transcript import Transcript

LOOK = default_look("dark", "256")
BLOCKS = {
    "heading": "# Title",
    "underlined heading": "Title\nmore\n===",
    "paragraph": "Some **bold** and `code`\nsecond line",
    "list": "- one\n  - nested\n\n    words in it\n- two\n- three",
    "numbers": "1. a\n2. b\n10. c",
    "loose numbers": "1. a\n\n2. b",
    "code in a list": "- a\n\n  ```\n  x\n\n  y\n  ```\n- b",
    "tasks": "- [ ] a\n- [x] b",
    "table": "| a | b |\n|---|---:|\n| 1 | 2 |\n| x | y |",
    "bare table": "a | b\n---|---\n1 | 2",
    "fence": "```python\ndef f():\n\n    return '```'\n\n# no title\n```",
    "tildes": "~~~\na\n\nb\n~~~",
    "open fence": "```\nopen\n\n- x",
    "indented code": "    code\n\n    more",
    "quote": "> a\n> b\nlazy\n\n> c",
    "rule": "---",
    "html": "<div>\nx\n\n</div>",
    "link": "see [x] and [y](http://z)\n\n[x]: http://e.example/\n",
    "no heading": "words\n#tag",
    "crlf": "a\r\nb\r\n\r\nc",
    "lone carriage returns": "a\rb\rc",
    "wide": "漢字 \U0001f468‍\U0001f469‍\U0001f467 e\u0301 שלום",
    "tabs": "\tx\ty",
    "controls": "a\x1b[31mb\x1b]0;t\x07c\u202ed",
    "odd breaks": "a\x0bb\x0c\u2028c\x85d",
    "blanks": "   \n \n",
}


def printed(pieces: Sequence[str], width: int = 60) -> str:
    """The bytes in the scrollback once an answer has come in `pieces`."""
    transcript, state, out = Transcript(), st.State(), ""
    for change in [*(lambda s, piece=piece: st.text_delta(s, piece) for piece in pieces), st.answer_over]:
        before = transcript.blocks[-1] if transcript.blocks else None
        state, done = transcript.take(change(state))
        out += to_ansi(transcript.lines(done, width, LOOK, before), "256")
    assert not state.blocks
    return out


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_that_is_cut_anywhere(name: str) -> None:
    for text in (BLOCKS[name], f"{BLOCKS[name]}\n\nThe end.", f"{BLOCKS[name]}\nThe end.\n"):
        whole = printed([text])
        assert printed(list(text)) == whole, "letter by letter"
        for at in range(1, len(text)):
            assert printed([text[:at], text[at:]]) == whole, f"cut at {at}"


@pytest.mark.parametrize("seed", range(40))
def test_blocks_one_after_another_that_are_cut_anywhere(seed: int) -> None:
    chance = random.Random(seed)
    text = chance.choice(["\n\n", "\n"]).join(BLOCKS[chance.choice(list(BLOCKS))] for _ in range(4))
    whole = printed([text])
    for _ in range(12):
        cuts = sorted(chance.sample(range(len(text)), k=min(6, len(text))))
        assert printed([text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]) == whole
    assert printed(list(text)) == whole


def test_no_letter_is_lost_between_blocks() -> None:
    text = "one\rtwo\n\n# three\n\nfour\r\n\r\nfive\n"
    assert [re.findall(r"\w+", block) for block in blocks_of(text)] == [["one", "two"], ["three"], ["four"], ["five"]]
    assert text[final_part(text) :] == "five\n"
