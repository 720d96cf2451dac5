"""Compares the wheel built from the tree with the one built from the sdist, and both with the tree itself.

Usage: compare_wheels.py TREE_WHEEL SDIST_WHEEL TREE. Says each difference in a line; exit 1 if there is one.
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

PACKAGES = ("zot_core", "zot_plugins", "zot_cli")


def contents(wheel: str) -> dict[str, bytes]:
    """Name -> bytes of every file in `wheel`, the list of hashes aside."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/RECORD")}


def in_tree(tree: Path) -> dict[str, bytes]:
    """What the wheel must carry: every file of the three packages, data files included."""
    files = (path for package in PACKAGES for path in (tree / package).rglob("*") if path.is_file())
    return {path.relative_to(tree).as_posix(): path.read_bytes() for path in files if "__pycache__" not in path.parts}


def differences(left: dict[str, bytes], right: dict[str, bytes], names: tuple[str, str]) -> list[str]:
    """One line for each file that is in one only, or differs."""
    lines = [f"only in the {names[0]}: {name}" for name in sorted(left.keys() - right.keys())]
    lines += [f"only in the {names[1]}: {name}" for name in sorted(right.keys() - left.keys())]
    return lines + [f"differs: {name}" for name in sorted(left.keys() & right.keys()) if left[name] != right[name]]


def main(tree_wheel: str, sdist_wheel: str, tree: str) -> int:
    """Prints what is wrong; the exit code says whether anything is."""
    wheel = contents(tree_wheel)
    packaged = {name: data for name, data in wheel.items() if ".dist-info/" not in name}
    problems = differences(wheel, contents(sdist_wheel), ("wheel of the tree", "wheel of the sdist"))
    problems += differences(in_tree(Path(tree)), packaged, ("tree", "wheel"))
    problems += [f"no py.typed in {package}" for package in PACKAGES if f"{package}/py.typed" not in packaged]
    print("\n".join(problems) or f"{len(packaged)} files, the same in the tree and both wheels")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
