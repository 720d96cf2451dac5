"""A modal editor as in vi: Esc leaves insert mode, `i`, `a` and `A` enter it, letters move and delete in between.

zot --plugin vim_editor.py
"""

from zot_core import hookimpl
from zot_core.ui import AppEditor

KEYS = {  # a letter of normal mode -> keys of zot's own editor
    "h": ["left"],
    "l": ["right"],
    "j": ["down"],
    "k": ["up"],
    "w": ["ctrl+right"],
    "b": ["ctrl+left"],
    "0": ["home"],
    "$": ["end"],
    "x": ["delete"],
    "D": ["ctrl+k"],
    "u": ["ctrl+_"],
    "i": [],
    "a": ["right"],
    "A": ["end"],
}


class VimEditor(AppEditor):
    mode = "insert"

    def handle_key(self, key):
        if self.mode == "insert":
            if key == "esc" and self.text:  # on an empty line Esc is zot's: it ends the run
                self.mode = "normal"
            else:
                super().handle_key(key)
        elif key in KEYS:
            for one in KEYS[key]:
                super().handle_key(one)
            if key in "iaA":
                self.mode = "insert"
        elif len(key) > 1:  # enter, ctrl+c and what else is no letter
            super().handle_key(key)
        if not self.text:
            self.mode = "insert"

    def render(self, width):
        return [*super().render(width), self.theme.fg("dim", f"-- {self.mode} --")]


@hookimpl
def session_start(event, ctx):
    ctx.ui.set_editor_component(VimEditor)
