"""Finding and importing plugins: files, folders, modules; what they do wrong at import stays theirs."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from zot_core.plugins import discovery
from zot_core.plugins.diagnostics import Diagnostics
from zot_core.plugins.discovery import EntryPoint, choose
from zot_core.plugins.errors import PluginLoadError
from zot_core.plugins.host import PluginHost
from zot_core.plugins.loader import Loader
from zot_core.plugins.rank import BUILTIN, EXPLICIT, INSTALLED, PROJECT, USER
from zot_core.types.specs import Candidate

GUARD = "from zot_core.hooks.markers import hookimpl\nVERSION = {}\n@hookimpl\ndef tool_call(event, ctx): ...\n"


@pytest.fixture
def loader(monkeypatch):
    before = set(sys.modules)
    yield Loader(Diagnostics())
    for name in set(sys.modules) - before:
        if name.startswith("zot_plugin_g"):
            del sys.modules[name]


def load(candidate):
    return asyncio.run(candidate.load())


def test_files_and_folders_are_plugins(loader, tmp_path):
    (tmp_path / "guard.py").write_text(GUARD.format(1))
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("from .inner import VALUE\n")
    (tmp_path / "package" / "inner.py").write_text("VALUE = 7\n")
    (tmp_path / "_private.py").write_text("")
    (tmp_path / ".hidden.py").write_text("")
    (tmp_path / "notes.txt").write_text("")
    (tmp_path / "empty").mkdir()
    found = discovery.folder_candidates(loader, tmp_path, PROJECT)
    assert [(c.name, c.tier, c.origin) for c in found] == [
        ("guard", PROJECT, str(tmp_path / "guard.py")),
        ("package", PROJECT, str(tmp_path / "package")),
    ]
    assert load(found[0]).VERSION == 1 and load(found[1]).VALUE == 7
    assert load(found[0]) is load(found[0]), "a module belongs to the process, not to a Runtime"
    assert discovery.folder_candidates(loader, tmp_path / "missing", USER) == []


def test_a_later_generation_sees_an_edit_within_the_same_second(loader, tmp_path):
    package = tmp_path / "edited"
    package.mkdir()
    (package / "__init__.py").write_text("from . import inner\nVALUE = 1\n")
    (package / "inner.py").write_text("VALUE = 1\n")
    first = loader.path(package, "edited")
    loader.renew()
    (package / "__init__.py").write_text("from . import inner\nVALUE = 2\n")
    (package / "inner.py").write_text("VALUE = 2\n")
    second = loader.path(package, "edited")
    assert (first.VALUE, first.inner.VALUE, second.VALUE, second.inner.VALUE) == (1, 1, 2, 2)
    assert first.__name__ != second.__name__ and first.__name__ in sys.modules
    loader.discard(first)
    assert first.__name__ not in sys.modules and f"{first.__name__}.inner" not in sys.modules


def test_an_installed_module_is_imported_anew_only_by_a_reload(loader, tmp_path, monkeypatch):
    (tmp_path / "installed_one.py").write_text("class Plugin:\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    first = loader.module("installed_one:Plugin", "one")
    assert type(first).__module__ == "installed_one"
    loader.renew()
    assert type(loader.module("installed_one:Plugin", "one")).__module__.startswith("zot_plugin_g")
    del sys.modules["installed_one"]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("def broken(:\n", "broken.py:1: "),
        ("raise SystemExit(4)\n", "it ended the program at import (SystemExit: 4)"),
        ("import nothing_of_that_name\n", "No module named 'nothing_of_that_name'"),
        (
            "from zot_core.hooks.markers import hookimpl\n@hookimpl\ndef tool_cal(event): ...\n",
            "broken.py:2: there is no hook 'tool_cal' (did you mean 'tool_call'?)",
        ),
    ],
)
def test_what_breaks_at_import_is_a_load_error_and_leaves_nothing(loader, tmp_path, source, reason):
    (tmp_path / "broken.py").write_text(source)
    before = set(sys.modules)
    with pytest.raises(PluginLoadError) as caught:
        loader.path(tmp_path / "broken.py", "broken")
    assert reason in str(caught.value) and caught.value.plugin == "broken"
    assert not [name for name in set(sys.modules) - before if "broken" in name]


def test_what_is_printed_at_import_does_not_reach_stdout(loader, tmp_path, capsys):
    (tmp_path / "loud.py").write_text("print('hello')\n")
    loader.path(tmp_path / "loud.py", "loud")
    assert capsys.readouterr() == ("", "hello\n")


def test_a_slow_import_is_named(tmp_path, monkeypatch):
    ticks = iter([0.0, 1.25])
    monkeypatch.setattr("zot_core.plugins.loader.perf_counter", lambda: next(ticks))
    (tmp_path / "slow.py").write_text("")
    diagnostics = Diagnostics()
    Loader(diagnostics).path(tmp_path / "slow.py", "slow")
    assert [(row.plugin, "1.2 s" in row.message) for row in diagnostics.rows] == [("slow", True)]


def test_explicit_ones_are_paths_or_modules_in_the_order_given(loader, tmp_path):
    (tmp_path / "mine.py").write_text(GUARD.format(2))
    given = [(0, "mine.py"), (3, "json.decoder"), (4, "./gone.py")]
    found = discovery.explicit_candidates(loader, given, tmp_path)
    assert [(c.name, c.tier, c.position) for c in found] == [
        ("mine", EXPLICIT, 0),
        ("decoder", EXPLICIT, 3),
        ("gone", EXPLICIT, 4),
    ]
    assert load(found[0]).VERSION == 2 and load(found[1]).__name__ == "json.decoder"
    with pytest.raises(PluginLoadError, match=r"there is no .*gone\.py"):
        load(found[2])


def test_entry_points_without_the_built_ins(loader, monkeypatch):
    monkeypatch.setattr(discovery, "builtins", lambda: {"read": "zot_plugins.tool_read.plugin"})
    points = [
        EntryPoint("read", "zot_plugins.tool_read.plugin", "zot-agent"),
        EntryPoint("zulu", "zulu.plugin", "zot-zulu"),
        EntryPoint("alpha", "alpha", "zot-alpha"),
    ]
    found = discovery.entry_point_candidates(loader, lambda: points)
    assert [(c.name, c.tier, c.origin) for c in found] == [
        ("alpha", INSTALLED, "zot-alpha (alpha)"),
        ("zulu", INSTALLED, "zot-zulu (zulu.plugin)"),
    ]
    assert [(c.name, c.tier, c.position) for c in discovery.builtin_candidates(loader)] == [("read", BUILTIN, 0)]


def test_one_name_is_one_plugin_whatever_its_kind():
    def candidate(name, tier, position=0):
        return Candidate(name=name, tier=tier, position=position, load=lambda: None)

    mine, ext, other = candidate("guard", USER), candidate("ext:guard", PROJECT), candidate("b", EXPLICIT, 1)
    choice = choose([mine, ext, other])
    assert choice.kept == (other, ext) and choice.shadowed == ((mine, ext),)


def test_a_built_in_gives_way_to_a_python_plugin_of_its_name_and_to_no_extension():
    def candidate(name, tier):
        return Candidate(name=name, tier=tier, load=lambda: None)

    mine, ext, own = candidate("guard", USER), candidate("ext:guard", PROJECT), candidate("guard", BUILTIN)
    assert choose([own, ext]).kept == (ext, own)
    assert choose([own, mine]).shadowed == ((own, mine),)


def test_a_package_whose_submodule_has_a_hooks_name_is_refused_when_it_is_registered(loader, tmp_path):
    package: Path = tmp_path / "shadow"
    package.mkdir()
    (package / "__init__.py").write_text(GUARD.format(1) + "from .tool_call import VALUE\n")
    (package / "tool_call.py").write_text("VALUE = 1\n")
    with pytest.raises(PluginLoadError, match="rename the submodule"):
        PluginHost().register(loader.path(package, "shadow"), "shadow")
