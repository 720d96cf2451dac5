"""The package's own tests, as its author would run them: `pip install -e ".[test]" && pytest`."""

import zot_greet

from zot_core.testing import Script


def test_the_model_greets(run_prompt):
    script = Script().tool_call("greet", name="Ada").then().text("Done.")
    ran = run_prompt("Greet Ada", script=script, plugins=[zot_greet])
    assert ran.tool_results()[0].content[0].text == "Hello, Ada!"
    assert ran.answer == "Done."


def test_the_person_greets(run_prompt):
    ran = run_prompt("/greet Ada", plugins=[zot_greet])
    assert [note.text for note in ran.notes] == ["Hello, Ada!"]


def test_the_flag_changes_the_word(run_prompt):
    script = Script().tool_call("greet", name="Ada").then().text("Done.")
    ran = run_prompt("Greet Ada", script=script, plugins=[zot_greet], flags={"greeting": "Salut"})
    assert ran.tool_results()[0].content[0].text == "Salut, Ada!"
