"""The built-ins have no private door: their table is what the package's metadata says."""

from __future__ import annotations

import ast
import sys
import tomllib
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from zot_plugins import BUILTINS

ROOT = Path(__file__).parents[2]
FOLDERS = sorted(path.parent.name for path in (ROOT / "zot_plugins").glob("*/plugin.py"))


def test_the_table_equals_the_entry_points() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]["zot"]
    assert dict(BUILTINS) == declared


def test_the_installed_metadata_says_the_same() -> None:
    installed = {point.name: point.value for point in entry_points(group="zot") if point.dist.name == "zot-agent"}
    assert installed == dict(BUILTINS)


def test_every_folder_with_a_plugin_is_in_the_table() -> None:
    assert sorted(BUILTINS) == FOLDERS
    assert all(module == f"zot_plugins.{name}.plugin" for name, module in BUILTINS.items())


@pytest.mark.parametrize("name", FOLDERS)
def test_a_plugin_names_its_code_and_does_not_import_it(name: str) -> None:
    tree = ast.parse((ROOT / "zot_plugins" / name / "plugin.py").read_text(encoding="utf-8"))
    imported: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add((node.module or "").partition(".")[0])
    assert imported <= sys.stdlib_module_names | {"zot_core"}


@pytest.mark.parametrize("name", FOLDERS)
def test_every_dotted_string_of_a_plugin_leads_somewhere(name: str) -> None:
    text = (ROOT / "zot_plugins" / name / "plugin.py").read_text(encoding="utf-8")
    strings = [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)]
    refs = [text for text in strings if isinstance(text, str) and text.startswith("zot_") and text.count(":") == 1]
    for ref in refs:
        module, _, attribute = ref.partition(":")
        if " " not in ref:
            assert hasattr(import_module(module), attribute), ref
