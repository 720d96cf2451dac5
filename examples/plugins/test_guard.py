"""A test of guard.py: what happens when the person says yes, and when nobody answers."""

from pathlib import Path

from zot_core.testing import RecordingFrontEnd, Script

GUARD = Path(__file__).with_name("guard.py")


def clean_up(run_prompt, front):
    script = Script().tool_call("bash", command="rm -rf build").then().text("Done.")
    return run_prompt("Clean up", script=script, plugins=[GUARD], front=front)


def test_a_yes_lets_it_through(run_prompt, world):
    (world.project / "build").mkdir()
    front = RecordingFrontEnd()
    front.ui.answer("confirm", True)
    ran = clean_up(run_prompt, front)
    assert ran.ui.asked == [("confirm", "Delete a whole tree?")]
    assert not (world.project / "build").exists()


def test_nobody_answers(run_prompt, world):
    (world.project / "build").mkdir()
    ran = clean_up(run_prompt, RecordingFrontEnd())
    assert ran.tool_results()[0].is_error
    assert (world.project / "build").exists()
