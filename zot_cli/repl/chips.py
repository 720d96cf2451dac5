"""Chips: what stands in the editor for a folded paste or a picture, and what it stands for.

A chip's number is never given twice while zot runs, so a text that comes back (from the queue, the history, an editor
of the person's) still means what it meant. One whose content is not known here is only text. Knows no editor.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from zot_cli.plain import one_line
from zot_core.types.content import Image

LINES = 15
CHARACTERS = 1000
"""A paste of more lines or characters is shown as a chip and sent whole."""
_PASTE = re.compile(r"\[paste #\d+: [^\]\n]*\]")
_PICTURE = re.compile(r"\[picture #\d+: ([^\]\n]*)\]")
_ANY = re.compile(f"{_PASTE.pattern}|{_PICTURE.pattern}")


class Chips:
    """Every paste and picture since zot began: the conversation holds them too, so this costs no memory of its own."""

    def __init__(self) -> None:
        self._pastes: dict[str, str] = {}
        self._pictures: dict[str, Image] = {}

    def paste(self, text: str) -> str:
        """What stands for a pasted text: the text itself, or a chip when it is long."""
        lines = text.count("\n") + 1
        if lines <= LINES and len(text) <= CHARACTERS:
            return text
        size = f"{lines} lines" if lines > 1 else f"{len(text)} characters"
        chip = f"[paste #{len(self._pastes) + 1}: {size}]"
        self._pastes[chip] = text
        return chip

    def picture(self, picture: Image, name: str) -> str:
        """The chip of a picture."""
        name = one_line(name).replace("[", "(").replace("]", ")")
        chip = f"[picture #{len(self._pictures) + 1}: {name}]"
        self._pictures[chip] = picture
        return chip

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where chips stand in a text, those that stand for something."""
        if "[" not in text:
            return []
        return [found.span() for found in _ANY.finditer(text) if found[0] in self._pastes or found[0] in self._pictures]

    def unfolded(self, text: str) -> str:
        """The text with its pastes whole; pictures keep their chips."""
        return _PASTE.sub(lambda found: self._pastes.get(found[0], found[0]), text)

    def folded(self, text: str) -> str:
        """The text with known pastes as their chips again."""
        if len(text) > CHARACTERS or text.count("\n") >= LINES:
            for chip, content in sorted(self._pastes.items(), key=lambda pair: -len(pair[1])):
                text = text.replace(content, chip)
        return text

    def pictures(self, text: str) -> list[Image]:
        """The pictures whose chips are in the text, in its order."""
        return [self._pictures[found[0]] for found in _PICTURE.finditer(text) if found[0] in self._pictures]

    def adopted(self, text: str, pictures: Iterable[Image]) -> str:
        """The text with a chip for each of its pictures: its own where it names one, else one after it."""
        rest = list(pictures)
        for picture in self.pictures(text):
            if picture in rest:
                rest.remove(picture)
        chips = {found[0]: found[1] for found in _PICTURE.finditer(text) if found[0] not in self._pictures}
        renamed = {chip: self.picture(rest.pop(0), name) for chip, name in chips.items() if rest}
        text = _PICTURE.sub(lambda found: renamed.get(found[0], found[0]), text)
        return " ".join(filter(None, [text, *(self.picture(picture, "picture") for picture in rest)]))

    def plain(self, text: str) -> str:
        """The text as it can be kept beyond this process: pastes whole, words in the place of pictures."""
        known = self._pictures
        return _PICTURE.sub(
            lambda found: _gone(found[1]) if found[0] in known else found[0],
            self.unfolded(text),
        )

    def contents(self, text: str) -> tuple[dict[str, str], dict[str, Image]]:
        """The pastes and the pictures of a text, by their chips."""
        found = [one[0] for one in _ANY.finditer(text)]
        pastes = {chip: self._pastes[chip] for chip in found if chip in self._pastes}
        return pastes, {chip: self._pictures[chip] for chip in found if chip in self._pictures}

    def restored(self, text: str, pastes: Mapping[str, str], pictures: Mapping[str, Image], gone: Sequence[str]) -> str:
        """A text of another process with its chips under numbers of this one. Those of `gone` become words: what they
        stood for was not kept."""

        def again(found: re.Match[str]) -> str:
            chip = found[0]
            if chip in pastes:
                return self.paste(pastes[chip])
            if chip in pictures:
                return self.picture(pictures[chip], found[1])
            return _gone(found[1] or "a paste") if chip in gone else chip

        return _ANY.sub(again, text)


def _gone(name: str) -> str:
    return f"({name}: not kept)"
