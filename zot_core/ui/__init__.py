"""What screens and plugins share of how things look: components, themes, colours. Lines of text; knows no terminal.

    from zot_core.ui import Box, Text

Each name is loaded when it is first used, so that a plugin that draws costs nothing where nothing is drawn.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zot_core.ui.ansi import CURSOR as CURSOR
    from zot_core.ui.ansi import cut as cut
    from zot_core.ui.ansi import plain as plain
    from zot_core.ui.ansi import width_of as width_of
    from zot_core.ui.ansi import wrap as wrap
    from zot_core.ui.code import highlight_code as highlight_code
    from zot_core.ui.code import language_of_path as language_of_path
    from zot_core.ui.completion import Found as Found
    from zot_core.ui.completion import Suggestion as Suggestion
    from zot_core.ui.component import Border as Border
    from zot_core.ui.component import Box as Box
    from zot_core.ui.component import Component as Component
    from zot_core.ui.component import Container as Container
    from zot_core.ui.component import Markdown as Markdown
    from zot_core.ui.component import Spacer as Spacer
    from zot_core.ui.component import Text as Text
    from zot_core.ui.controls import BorderedLoader as BorderedLoader
    from zot_core.ui.controls import Input as Input
    from zot_core.ui.controls import SelectItem as SelectItem
    from zot_core.ui.controls import SelectList as SelectList
    from zot_core.ui.editor import AppEditor as AppEditor
    from zot_core.ui.editor import Working as Working
    from zot_core.ui.keys import Keybindings as Keybindings
    from zot_core.ui.overlay import OverlayOptions as OverlayOptions
    from zot_core.ui.picker import Picker as Picker
    from zot_core.ui.picker import RowAction as RowAction
    from zot_core.ui.picture import Image as Image
    from zot_core.ui.rendering import MarkdownContext as MarkdownContext
    from zot_core.ui.rendering import RenderContext as RenderContext
    from zot_core.ui.rendering import RenderOptions as RenderOptions
    from zot_core.ui.settings_list import SettingItem as SettingItem
    from zot_core.ui.settings_list import SettingsList as SettingsList
    from zot_core.ui.text_area import Editor as Editor
    from zot_core.ui.theme import Theme as Theme

_HOMES = {
    "ansi": ("CURSOR", "cut", "plain", "width_of", "wrap"),
    "code": ("highlight_code", "language_of_path"),
    "completion": ("Found", "Suggestion"),
    "component": ("Border", "Box", "Component", "Container", "Markdown", "Spacer", "Text"),
    "controls": ("BorderedLoader", "Input", "SelectItem", "SelectList"),
    "editor": ("AppEditor", "Working"),
    "keys": ("Keybindings",),
    "overlay": ("OverlayOptions",),
    "picker": ("Picker", "RowAction"),
    "picture": ("Image",),
    "rendering": ("MarkdownContext", "RenderContext", "RenderOptions"),
    "settings_list": ("SettingItem", "SettingsList"),
    "text_area": ("Editor",),
    "theme": ("Theme",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value
