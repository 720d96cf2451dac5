"""`/settings`: on a screen the settings that can be changed by choosing; with words, and elsewhere, a table.

What is chosen is written to the home's settings.json, one key at a time. Some of it holds at once, the rest from a
`/reload` on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from zot_core.config.editable import EditableSetting
from zot_core.config.paths import Paths, project_settings
from zot_core.config.problems import SaveRefused
from zot_core.config.store import SettingsStore
from zot_core.types.failure import UsageError
from zot_core.ui import Border, Component, Container, Input, SettingItem, SettingsList, cut

_WORDS = {None: "not set", True: "on", False: "off"}
AROUND = 14
"""Rows of the terminal that are not the list's."""
RELOAD = "settings changed: /reload"
"""The status that stays until it was done."""


async def settings(args: str, ctx: Any) -> str | None:
    """The settings whose key has the given words in it, with their origin; without words those that somebody set, or
    on a screen those that can be changed."""
    if args.strip() or ctx.ui.theme is None:
        return listed(args, ctx)
    page = Page(ctx)
    await ctx.ui.custom(page.component, title="Settings")
    return page.report()


def listed(args: str, ctx: Any) -> str:
    """The table."""
    words = args.lower().split()
    rows = [
        (key, value, origin)
        for key, value, origin in ctx.all_settings()
        if (all(word in key.lower() for word in words) if words else origin != "default")
    ]
    if not rows:
        where = ctx.home / "settings.json"
        return "No setting has that name." if words else f"Nothing is set; settings go into {where}."
    return "\n".join(
        [
            "| setting | value | from |",
            "|---|---|---|",
            *(f"| `{key}` | {_cell(value)} | {origin} |" for key, value, origin in rows),
        ]
    )


class Heading(Component):
    """A line that is cut, not wrapped."""

    def __init__(self, text: str) -> None:
        self._text = text

    def render(self, width: int) -> list[str]:
        return [cut(self._text, width)]


class Page:
    """The list on the screen, and what was changed in it."""

    def __init__(self, ctx: Any) -> None:
        self._ctx = ctx
        self._paths = Paths.find()
        self._settings = {one.key: one for one in self._read()}
        self._changed: dict[str, str] = {}
        self._waits: set[str] = set()
        self._list: SettingsList

    def component(self, tui: Any, theme: Any, keybindings: Any, done: Callable[[Any], None]) -> Component:
        """What is shown."""
        self._theme, self._keybindings = theme, keybindings
        items = [self._item(one) for one in self._settings.values()]
        self._list = SettingsList(
            items,
            self._change,
            lambda: done(None),
            theme=theme,
            keybindings=keybindings,
            rows=max(min(tui.rows - AROUND, 10), 3),
        )
        head = Heading(f"{theme.bold('Settings')}  {theme.fg('dim', f'kept in {_place(self._paths.settings)}')}")
        page = Container([Border(lambda text: theme.fg("border", text)), head, self._list])
        page.focused = self._list
        return page

    def report(self) -> str | None:
        """What was changed, and whether it holds yet; None for nothing."""
        if not self._changed:
            return None
        lines = [f"- `{key}` is {value} now" for key, value in self._changed.items()]
        if self._waits:
            which = "All of it holds" if len(self._waits) == len(self._changed) else f"{_and(self._waits)}: holds"
            lines.append(f"\n{which} from the next `/reload` on.")
            self._ctx.ui.set_status("settings", RELOAD)
        return "\n".join(lines)

    def _read(self) -> list[EditableSetting]:
        found: list[EditableSetting] = list(self._ctx.editable_settings())
        names = ("auto", *(one["name"] for one in self._ctx.ui.all_themes()))
        theme = next(((value, origin) for key, value, origin in self._ctx.all_settings() if key == "theme"), None)
        if theme is not None:
            value, origin = theme
            about = "The colours; `auto` fits the terminal. `/theme` tries them on."
            one = EditableSetting(
                path=("theme",), value=value or "auto", choices=names, origin=origin, description=about
            )
            found.insert(0, one)
        return found

    async def _change(self, key: str, text: str) -> None:
        setting = self._settings[key]
        try:
            value = _value(setting, text)
            setting.check(value)
            store = SettingsStore(self._paths)
            if value is None:
                await asyncio.to_thread(store.unset, setting.path)
            else:
                await asyncio.to_thread(store.set, setting.path, value)
        except (UsageError, SaveRefused) as error:
            self._list.status = f"✗ {error}"
            return
        now = next((one for one in self._read() if one.key == key), setting)
        if key == "theme":  # the session's settings are those of its start
            now = replace(now, value=value, origin=str(self._paths.settings))
        self._settings[key] = now
        self._list.update(self._item(now))
        self._changed[key] = _shown(value)
        self._list.status = await self._held(now, value)

    async def _held(self, setting: EditableSetting, value: Any) -> str:
        """Makes a new value hold, where that is possible at once; what there is to say."""
        key = setting.key
        if setting.value != value and value is not None:
            return f"kept, but {_place(setting.origin)} says {_shown(setting.value)}, and that counts here"
        if key == "theme":
            done, why = self._ctx.ui.set_theme(value)
            return "kept" if done else f"kept, and not used yet: {why}"
        if key == "reasoning" and value is not None:
            await self._ctx.models.set_thinking(value)
            return "kept, and used from the next request on"
        self._waits.add(key)
        return "kept; it holds from the next /reload on"

    def _item(self, setting: EditableSetting) -> SettingItem:
        return SettingItem(
            id=setting.key,
            value=_shown(setting.value),
            values=tuple(_shown(value) for value in setting.choices),
            description=setting.description,
            note=self._origin(setting.origin),
            submenu=None if setting.choices else self._number,
        )

    def _origin(self, origin: str) -> str:
        """Where a value comes from, in short: whose file it is."""
        if origin == str(self._paths.settings):
            return "settings.json"
        return (
            f"the project's {Path(origin).name}" if origin == str(project_settings(self._ctx.cwd)) else _place(origin)
        )

    def _number(self, value: str, done: Callable[[str | None], None]) -> Component:
        return Input(done, lambda: done(None), value=value, theme=self._theme, keybindings=self._keybindings)


def _value(setting: EditableSetting, text: str) -> Any:
    """The value that is shown as `text`. Raises UsageError."""
    if not setting.choices:
        return setting.parse(text)
    return next((value for value in setting.choices if _shown(value) == text), text)


def _shown(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return _WORDS[value]
    return f"{value:g}" if isinstance(value, float) else str(value)


def _place(origin: str | Path) -> str:
    """A file in short, as people write it."""
    path, home = str(origin), str(Path.home())
    return f"~{path[len(home) :]}" if path.startswith(f"{home}/") else path


def _and(keys: set[str]) -> str:
    return ", ".join(f"`{key}`" for key in sorted(keys))


def _cell(value: Any) -> str:
    return str(value).replace("|", "\\|")
