"""Keys with modifiers, as Kitty's protocol, fixterms and xterm send them: they do what the plain forms do, and none
types its digits."""

from __future__ import annotations

import asyncio
import itertools

import pytest
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import DummyOutput
from support.typist import Typist

from zot_cli.repl.modified_keys import KeysApplication, is_escape, register

# (code, modifier) as terminals have them, the text before, and after
MEANT = [
    ((97, 1), "b|", "ba|"),
    ((97, 2), "b|", "bA|"),
    ((65, 2), "b|", "bA|"),
    ((97, 5), "b|", "|b"),
    ((101, 5), "|b", "b|"),
    ((98, 3), "one two|", "one |two"),
    ((100, 3), "one| two", "one|"),
    ((119, 5), "one two|", "one |"),
    ((127, 1), "one|", "on|"),
    ((127, 2), "one|", "on|"),
    ((127, 3), "one two|", "one |"),
    ((127, 5), "one two|", "one |"),
    ((32, 2), "one|", "one |"),
    ((45, 5), "one|", "one|"),
]


@pytest.mark.parametrize(("key", "before", "after"), MEANT)
@pytest.mark.parametrize("form", ["\x1b[{};{}u", "\x1b[27;{1};{0}~"])
def test_a_key_means_what_its_plain_form_does(form: str, key: tuple[int, int], before: str, after: str) -> None:
    hands = Typist()
    assert hands.start(before).type(form.format(*key)).marked == after
    hands.close()


def test_no_key_types_its_sequence() -> None:
    hands = Typist()
    codes = [9, 27, 32, 127, *range(33, 127)]
    sequences = [form.format(code, 1 + bits) for code, bits in itertools.product(codes, range(4, 16)) for form in (
        "\x1b[{};{}u", "\x1b[27;{1};{0}~")]  # fmt: skip
    sequences += [f"\x1b[1;{1 + bits}{letter}" for bits, letter in itertools.product(range(1, 16), "ABCDHFPQRS")]
    sequences += [f"\x1b[{code};{1 + bits}~" for bits, code in itertools.product(range(1, 16), (2, 3, 5, 6, 15, 24))]
    sequences += ["\x1b[I", "\x1b[O", "\x1b[9u", "\x1b[27u", "\x1b[127u"]
    for sequence in sequences:
        hands.start("|")
        hands.type(sequence)
        typed = hands.editor.shown
        assert not set(typed) & set("[;~\x1b") or len(typed) == 1, f"{sequence!r} typed {typed!r}"
        assert len(typed) <= 1, f"{sequence!r} typed {typed!r}"
    hands.close()


@pytest.mark.parametrize("letter", "bs")
def test_esc_is_done_at_once_and_a_letter_after_it_is_a_letter(letter: str) -> None:
    """Also one that is bound with Alt: the keys of a terminal come together, those of a person one by one."""

    async def typed() -> list[str]:
        with create_pipe_input() as terminal:
            done: list[str] = []
            came = asyncio.Event()
            keys = KeyBindings()

            def told(name: str, *sequence: str) -> None:
                @keys.add(*sequence)
                def pressed(event: KeyPressEvent) -> None:
                    if name != "esc" or is_escape(event.key_sequence[0]):
                        done.append(name)
                        came.set()

            register()
            told("esc", "escape")
            told("alt+b", "escape", "b")
            told("b", "b")
            told("s", "s")
            app = KeysApplication[None](key_bindings=keys, input=terminal, output=DummyOutput())
            running = asyncio.create_task(app.run_async())
            for data in ("\x1b", letter):
                terminal.send_text(data)
                await asyncio.wait_for(came.wait(), 5)
                came.clear()
            app.exit()
            await running
            return done

    assert asyncio.run(typed()) == ["esc", letter]
