"""The host: registration whole or not at all, contributions with owners, lost implementations."""

from __future__ import annotations

import sys
import types

import pytest

from zot_core.hooks.markers import hookimpl
from zot_core.plugins.diagnostics import Diagnostic, Diagnostics
from zot_core.plugins.errors import PluginLoadError
from zot_core.plugins.host import PluginHost
from zot_core.plugins.rank import BUILTIN, EXPLICIT, USER
from zot_core.types.specs import FlagSpec, SessionFacts, ToolSpec


def facts_for(name):
    return SessionFacts(cwd="/", mode="print", settings={"of": name})


def spec(name):
    return ToolSpec(name=name, description="d", parameters={}, execute="x:y")


def contributes(hook, function):
    return type("Tiny", (), {hook: staticmethod(hookimpl(hook)(function))})()


def module(name, source):
    made = types.ModuleType(name)
    exec(compile("from zot_core.hooks.markers import hookimpl\n" + source, f"/{name}.py", "exec"), vars(made))
    return made


def test_contributions_come_in_rank_order_with_their_owner():
    host = PluginHost()
    host.register(contributes("tools", lambda: [spec("a"), spec("b")]), "built-in", tier=BUILTIN)
    host.register(contributes("tools", lambda: spec("c")), "one", tier=USER)
    host.register(contributes("tools", lambda: None), "none", tier=USER)

    def generates(session):
        yield spec(session.settings["of"])

    host.register(contributes("tools", generates), "generator", tier=EXPLICIT)
    found = [(c.owner.name, c.item.name) for c in host.collect("tools", facts_for)]
    assert found == [("generator", "generator"), ("one", "c"), ("built-in", "a"), ("built-in", "b")]
    assert [c.owner.name for c in host.collect("tools", facts_for, only={"one"})] == ["one"]


def test_a_failing_contribution_is_its_plugins_own():
    host = PluginHost()

    def fails():
        yield spec("lost")
        raise ValueError("boom")

    def greet(): ...

    host.register(contributes("tools", fails), "fails")
    host.register(contributes("tools", lambda: [spec("x"), greet]), "function")
    host.register(contributes("tools", lambda: {"name": "x"}), "dict")
    host.register(contributes("tools", lambda: sys.exit(2)), "exits")
    host.register(contributes("tools", lambda: spec("good")), "good")
    assert [c.item.name for c in host.collect("tools", facts_for)] == ["good"]
    assert {row.plugin: row.message for row in host.diagnostics.rows} == {
        "fails": "ValueError: boom",
        "function": "tools takes ToolSpec, not the function greet; decorate the function with @tool",
        "dict": "tools takes ToolSpec, not dict; decorate the function with @tool",
        "exits": "SystemExit: 2",
    }


def test_another_kind_of_item_is_refused_and_untyped_contributions_take_any():
    host = PluginHost()
    host.register(contributes("flags", lambda: "verbose"), "wrong", position=0)
    host.register(contributes("flags", lambda: FlagSpec(name="v")), "right", position=1)
    host.register(contributes("memory_reporters", lambda: len), "any")
    host.register(contributes("skills", lambda: "skills/"), "path")
    assert [c.item.name for c in host.collect("flags", facts_for)] == ["v"]
    assert [c.item for c in host.collect("memory_reporters", facts_for)] == [len]
    assert [c.item for c in host.collect("skills", facts_for)] == ["skills/"]


def test_a_name_is_taken_once_and_a_failed_registration_leaves_nothing():
    host = PluginHost()
    first = contributes("tools", lambda: spec("a"))
    loaded = host.register(first, "p", origin="here")
    assert (loaded.name, loaded.origin, loaded.hooks, loaded.kind) == ("p", "here", ("tools",), "python")
    with pytest.raises(PluginLoadError, match="name is taken"):
        host.register(contributes("tools", lambda: spec("b")), "p")
    with pytest.raises(PluginLoadError):
        host.register(first, "again")
    assert list(host.plugins) == ["p"] and len(host.collect("tools", facts_for)) == 1
    assert host.unregister("p") is loaded and dict(host.plugins) == {}


def test_kinds_of_plugins():
    host = PluginHost()
    assert host.register(types.SimpleNamespace(), "ext:x", tier=USER).kind == "extension"
    assert host.register(types.ModuleType("m"), "b", tier=BUILTIN).kind == "built-in"


def test_a_submodule_of_a_hooks_name_is_an_error():
    made = module("pkg_shadowed", "@hookimpl\ndef tools(): ...\n")
    made.tools = types.ModuleType("pkg_shadowed.tools")
    with pytest.raises(PluginLoadError) as caught:
        PluginHost().register(made, "pkg")
    text = str(caught.value)
    assert "/pkg_shadowed.py:2: tools implements tools" in text
    assert "the submodule pkg_shadowed.tools; rename the submodule or" in text and '@hookimpl("tools")' in text


def test_two_functions_of_one_name_are_an_error():
    made = module("pkg_twice", "@hookimpl\ndef tools(): ...\n@hookimpl\ndef tools(): ...\n")
    with pytest.raises(PluginLoadError, match="another function of that name"):
        PluginHost().register(made, "pkg")


def test_a_module_that_is_run_again_is_not():
    source = "@hookimpl\ndef tools(): ...\n@hookimpl\ndef commands(): ...\n"
    made = module("pkg_again", source)
    exec(compile("from zot_core.hooks.markers import hookimpl\n" + source, "/pkg_again.py", "exec"), vars(made))
    assert PluginHost().register(made, "pkg").hooks == ("commands", "tools")


def test_an_attribute_of_an_object_that_hides_a_method_is_an_error():
    class Guard:
        def __init__(self):
            self.tools = []

        @hookimpl
        def tools(self): ...

    # A class within a function cannot be looked up by name later, so it is not remembered; one in a module is.
    made = module(
        "pkg_class", "class Guard:\n    def __init__(self): self.tools = []\n    @hookimpl\n    def tools(self): ...\n"
    )
    with pytest.raises(PluginLoadError, match="a list object"):
        PluginHost().register(made.Guard(), "guard")


def test_a_forgotten_mark_is_pointed_out():
    host = PluginHost()
    host.register(module("pkg_unmarked", "def tool_call(event, ctx): ...\ndef helper(): ...\n"), "pkg")
    assert [(row.level, row.message) for row in host.diagnostics.rows] == [
        ("warning", "line 2: tool_call has the name of a hook but no @hookimpl, so it is never called")
    ]


def test_looking_at_a_plugin_runs_nothing_of_it():
    class Nosy:
        @property
        def tools(self):
            raise AssertionError("ran")

        def __getattr__(self, name):
            raise AssertionError("ran")

    assert PluginHost().register(Nosy(), "nosy").hooks == ()


def test_diagnostics_say_a_thing_once_and_keep_a_thousand():
    diagnostics, told = Diagnostics(), []
    off = diagnostics.subscribe(told.append)
    assert diagnostics.report(Diagnostic("error", "p", "h", "m"))
    assert not diagnostics.report(Diagnostic("error", "p", "h", "m"))
    assert len(told) == 1
    off()
    off()
    for number in range(1200):
        diagnostics.report(Diagnostic("info", "p", "h", str(number)))
    assert len(diagnostics.rows) == 1000 and len(told) == 1
    diagnostics.report(Diagnostic("info", "p", "", "load"))
    diagnostics.forget("p")
    assert [row.message for row in diagnostics.rows] == ["load"]
