"""Keys with modifiers as modern terminals send them: `CSI 13;2u` (Kitty, fixterms) and `CSI 27;2;13~` (xterm).

prompt-toolkit knows hardly any and would type the rest into the text. Knows no action.
"""

from __future__ import annotations

import re
from typing import Any, TypeVar

from prompt_toolkit.application import Application
from prompt_toolkit.input.ansi_escape_sequences import ANSI_SEQUENCES
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.keys import Keys

_Key = Keys | str | tuple[Keys | str, ...]
_Result = TypeVar("_Result")
SHIFT, ALT, CTRL = 1, 2, 4
TTIMEOUT = 0.03
"""Seconds within which a terminal sends the rest of a key that begins with Esc; a person's next key comes later."""
TIMEOUT = 0.3
"""Seconds until the first key of a sequence such as ctrl+x ctrl+u is taken for itself."""
_CURSOR = "ABCDEFHPQRS"
_TILDE = (2, 3, 5, 6, 11, 12, 13, 14, 15, 17, 18, 19, 20, 21, 23, 24)
_CTRL = {
    " ": Keys.ControlAt,
    "@": Keys.ControlAt,
    "[": Keys.Escape,
    "\\": Keys.ControlBackslash,
    "]": Keys.ControlSquareClose,
    "^": Keys.ControlCircumflex,
    "_": Keys.ControlUnderscore,
    "-": Keys.ControlUnderscore,
    "/": Keys.ControlUnderscore,
}
_ESCAPE = re.compile(r"\x1b\[(27(;\d+)?u|27;\d+;27~)")
_SHIFT_ENTER = (Keys.Escape, Keys.F20)


class KeysApplication(Application[_Result]):
    """An application for which Esc alone waits for nothing once the terminal has sent nothing after it for `TTIMEOUT`
    seconds: keys with Alt come as one (see `register`), so a letter that comes later is a letter."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.ttimeoutlen = TTIMEOUT

    @property
    def timeoutlen(self) -> float:
        """Seconds that the second key of a sequence is waited for."""
        buffer = self.key_processor.key_buffer
        return 0.0 if len(buffer) == 1 and is_escape(buffer[0]) else TIMEOUT

    @timeoutlen.setter
    def timeoutlen(self, seconds: float | None) -> None:
        pass  # prompt-toolkit sets its default


def register() -> None:
    """Teaches prompt-toolkit the sequences; what it knows itself stays, but Shift-Enter, which is not Enter."""
    table: dict[str, object] = ANSI_SEQUENCES  # type: ignore[assignment]
    for code in (9, 13, 27, *range(32, 128)):
        table.setdefault(f"\x1b[{code}u", _key(code, 0))
        for modifiers in range(16):
            key = _key(code, modifiers)
            table.setdefault(f"\x1b[{code};{modifiers + 1}u", key)
            table.setdefault(f"\x1b[27;{modifiers + 1};{code}~", key)
    table["\x1b[27;2;13~"] = table["\x1b[13;2u"] = _SHIFT_ENTER
    for modifiers in range(1, 16):
        for letter in _CURSOR:
            table.setdefault(f"\x1b[1;{modifiers + 1}{letter}", Keys.Ignore)
        for number in _TILDE:
            table.setdefault(f"\x1b[{number};{modifiers + 1}~", Keys.Ignore)
    for code in range(33, 127):
        if chr(code) not in "[OP]_^X":  # those begin what terminals send
            table.setdefault(f"\x1b{chr(code)}", (Keys.Escape, chr(code)))
    for code, plain in ((8, Keys.ControlH), (10, Keys.ControlJ), (13, Keys.ControlM), (32, " "), (127, Keys.ControlH)):
        table.setdefault(f"\x1b{chr(code)}", (Keys.Escape, plain))
    for report in ("\x1b[I", "\x1b[O"):  # the window has the focus, or has it no more
        table.setdefault(report, Keys.Ignore)


def is_escape(press: KeyPress) -> bool:
    """Whether it is the Esc key itself, and not what begins a key with Alt that has no meaning."""
    return press.key is Keys.Escape and (press.data in ("", "\x1b") or _ESCAPE.fullmatch(press.data) is not None)


def _key(code: int, modifiers: int) -> _Key:
    """What a key of a code with modifiers means; Super and what is above it mean nothing here."""
    if modifiers >= 8:
        return Keys.Ignore
    shift, alt, ctrl = modifiers & SHIFT, modifiers & ALT, modifiers & CTRL
    if code == 127:
        return (Keys.Escape, Keys.ControlH) if alt or ctrl else Keys.ControlH
    if code == 13:
        return _SHIFT_ENTER if shift and not alt and not ctrl else _alt(Keys.ControlM, alt)
    if code == 9:
        return Keys.BackTab if shift else Keys.Ignore if ctrl or alt else Keys.ControlI
    if code == 27:
        return Keys.Escape
    letter = chr(code)
    if ctrl:
        found = Keys[f"Control{letter.upper()}"] if letter.isalnum() else _CTRL.get(letter, Keys.Ignore)
        return _alt(found, alt)
    return _alt(letter.upper() if shift else letter, alt)


def _alt(key: Keys | str, alt: int) -> _Key:
    return (Keys.Escape, key) if alt and key is not Keys.Ignore else key
