"""Where the settings say that more extensions are, as contributions may know it. Data alone; knows no file's form."""

from __future__ import annotations

from zot_core.types.record import record


@record(kw_only=True)
class ExtensionPlaces:
    """What the settings say of extensions: `paths` are absolute, each an extension or a folder of some; `disabled` are
    names. With each comes the file that says so, and for the paths whether that is the project's."""

    paths: tuple[str, ...] = ()
    paths_in: str = ""
    of_project: bool = False
    disabled: tuple[str, ...] = ()
    disabled_in: str = ""
