"""From a theme's file to a Theme: its shape is checked by pydantic, its colours one by one. All that is wrong is said.

Reads what pi writes (every token in `colors`, `vars`, `export`) and what the Go zot writes (any part of `colors`, also
apart for `dark` and `light`, `syntax`, `spinner_frames`). Knows no folder.
"""

from __future__ import annotations

import re
import stat
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr, ValidationError

from zot_core.config.objects import ObjectFile, read_object
from zot_core.config.problems import Level, Problem
from zot_core.ui.color import DEFAULT, Color, color_of, luminance
from zot_core.ui.theme import Appearance, Spinner, Theme, ThemeError, built_in
from zot_core.ui.tokens import TOKENS, is_background, nearest_token, token_of

MAX_BYTES = 1 << 20
FORMS = '"#rrggbb", a number from 0 to 255, "" for the terminal\'s own, or a name of vars'
_MODES: tuple[Appearance, Appearance] = ("dark", "light")
_NAME = re.compile(r"[^/\x00-\x1f\x7f-\x9f]{1,100}")


class _Spinner(BaseModel):
    frames: list[Annotated[StrictStr, Field(max_length=40)]] = []
    messages: list[Annotated[StrictStr, Field(max_length=200)]] = []
    interval_ms: Annotated[StrictInt, Field(ge=0, le=10_000)] = 0


class _File(BaseModel):
    """The shape of a file; what stands in `colors`, `vars` and `syntax` is looked at one by one."""

    model_config = ConfigDict(extra="allow")

    name: StrictStr = ""
    description: StrictStr = ""
    appearance: Literal["dark", "light"] | None = None
    vars: dict[str, Any] = {}
    colors: dict[str, Any] = {}
    syntax: dict[str, Any] = {}
    spinner: _Spinner = _Spinner()
    spinner_frames: list[StrictStr] = []
    spinner_messages: list[StrictStr] = []
    spinner_interval_ms: StrictInt = 0


def read_theme(path: str, terminal: Appearance) -> Theme:
    """`load_theme`; see there."""
    reading = _Reading(path, terminal)
    theme = reading.theme()
    if any(problem.level == "error" for problem in reading.problems):
        raise ThemeError(reading.problems)
    assert theme is not None
    return theme


class _Reading:
    """One file being read; it goes on after a mistake, so that all of them are said at once."""

    def __init__(self, path: str, terminal: Appearance) -> None:
        self.path, self.terminal = path, terminal
        self.problems: list[Problem] = []
        self.document = ObjectFile({}, "")
        self.vars: dict[str, Any] = {}

    def say(self, level: Level, message: str, *place: str) -> None:
        """A problem at a key, with its line."""
        line = self.document.line_of(place) if place else None
        self.problems.append(Problem(level, self.path, line, message))

    def theme(self) -> Theme | None:
        """The theme, or None when the file has no shape at all."""
        file = self.shape()
        if file is None:
            return None
        self.vars = file.vars
        for name in self.vars:
            self.color(self.vars[name], "vars", name)
        given = self.colors(file)
        by_mode = any(mode in file.colors for mode in _MODES)
        appearance = file.appearance or (None if by_mode else _seen(given)) or self.terminal
        base = built_in(appearance)
        missing = tuple(token for token in TOKENS if token not in given)
        if missing:
            self.say("info", f"{_some(missing)} not given: taken from the built-in theme {base.name}")
        return Theme(
            name=self.name(file),
            description=file.description,
            appearance=appearance,
            path=self.path,
            colors={**base.colors, **given} if missing else given,
            spinner=Spinner(
                frames=tuple(file.spinner.frames or file.spinner_frames),
                messages=tuple(file.spinner.messages or file.spinner_messages),
                interval_ms=file.spinner.interval_ms or file.spinner_interval_ms,
            ),
            missing=missing,
            problems=tuple(self.problems),
        )

    def shape(self) -> _File | None:
        """What the file holds, its kinds checked."""
        try:
            about = Path(self.path).stat()
        except OSError as error:
            self.say("error", f"this theme cannot be read: {error.strerror or error}")
            return None
        if not stat.S_ISREG(about.st_mode) or about.st_size > MAX_BYTES:
            self.say("error", f"a theme is a regular file of at most {MAX_BYTES >> 20} MiB")
            return None
        document, self.problems = read_object(self.path)
        if document is None:
            return None
        self.document = document
        try:
            return _File.model_validate(document.value)
        except ValidationError as error:
            for wrong in error.errors(include_url=False, include_input=False):
                place = tuple(str(part) for part in wrong["loc"])
                said = wrong["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
                self.say("error", f"{'.'.join(place)}: should be {said}", *place)
            return None

    def name(self, file: _File) -> str:
        """The name that it has or, as themes need none, that its file or its extension has."""
        path = Path(self.path)
        folder = path.parent.parent if path.parent.name == "themes" else path.parent
        name = file.name.strip() or (folder.name if path.name == "theme.json" else path.stem)
        if not _NAME.fullmatch(name):
            self.say("error", f"name: {name!r} cannot be the name of a theme: no / and no control characters", "name")
        return name

    def colors(self, file: _File) -> dict[str, Color]:
        """Every colour by token. What is given for one mode stands over what is given for both; where there is only the
        other mode, that one's."""
        found: dict[str, Color] = {}
        both = {key: value for key, value in file.colors.items() if key not in _MODES}
        self.add(found, both, "colors")
        self.add(found, file.syntax, "syntax", prefix="syntax_")
        modes = [mode for mode in _MODES if mode in file.colors]
        wanted = file.appearance or self.terminal
        for mode in modes:
            section = file.colors[mode]
            if not isinstance(section, dict):
                self.say("error", f"colors.{mode}: must be an object {{...}} of colours", "colors", mode)
            elif mode == wanted or modes == [mode]:
                self.add(found, section, "colors", mode)
            else:
                self.add({}, section, "colors", mode)  # not used now, but wrong all the same
        return found

    def add(self, found: dict[str, Color], section: dict[str, Any], *place: str, prefix: str = "") -> None:
        """The colours of a section into `found`; a token's name is `prefix` and the key."""
        for key, value in section.items():
            token = token_of(prefix + key)
            if token is None:
                near = nearest_token(prefix + key)
                hint = f"; did you mean {near}?" if near else ""
                self.say("warning", f"{'.'.join((*place, key))}: there is no such token{hint}", *place, key)
            else:
                found[token] = self.color(value, *place, key)

    def color(self, value: Any, *place: str) -> Color:
        """The colour that a value means, through as many names of `vars` as it takes."""
        seen: list[str] = []
        while isinstance(value, str) and color_of(value) is None and value in self.vars and value not in seen:
            seen.append(value)
            value = self.vars[value]
        color = color_of(value)
        if color is not None:
            return color
        called = ".".join(place)
        if isinstance(value, str) and value in seen:
            self.say("error", f"{called}: {' -> '.join([*seen, value])} goes round in vars", *place)
        elif isinstance(value, str) and not value.startswith("#"):
            self.say("error", f"{called}: vars has no {value!r}; a colour is {FORMS}", *place)
        else:
            self.say("error", f"{called}: {value!r} is no colour; give {FORMS}", *place)
        return DEFAULT


def _seen(given: dict[str, Color]) -> Appearance | None:
    """What the colours are for: by the text's, else by most of what stands behind text; None if they do not tell."""
    text = given.get("text", DEFAULT).as_rgb()
    if text is not None:
        return "dark" if luminance(text) > 0.3 else "light"
    behind = [rgb for token, color in given.items() if is_background(token) and (rgb := color.as_rgb()) is not None]
    if not behind:
        return None
    bright = sum(luminance(rgb) > 0.3 for rgb in behind)
    return "light" if bright * 2 > len(behind) else "dark"


def _some(tokens: tuple[str, ...]) -> str:
    shown = ", ".join(tokens[:5])
    return (
        f"{shown} and {len(tokens) - 5} more are"
        if len(tokens) > 5
        else f"{shown} {'is' if len(tokens) == 1 else 'are'}"
    )
