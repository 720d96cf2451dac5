"""Settings that can be changed by choosing: found by their types, with their values, origins and checks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from zot_core.config.editable import EditableSetting, editable
from zot_core.config.paths import Paths
from zot_core.types.failure import UsageError
from zot_core.types.specs import SettingsSpec


class Guard(BaseModel):
    """A plugin's section."""

    model_config = ConfigDict(extra="forbid", strict=True)

    mode: Literal["soft", "hard"] = "soft"
    """How hard it
    guards."""
    times: int = Field(default=3, ge=1)
    share: Annotated[float, Field(le=1)] = 0.5
    quiet: bool | None = None
    words: list[str] = []
    note: str = ""


@pytest.fixture
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    home, project = tmp_path / "home", tmp_path / "project"
    (project / ".zot").mkdir(parents=True)
    home.mkdir()
    monkeypatch.setenv("ZOT_HOME", str(home))

    def read(own: Any = None, theirs: Any = None) -> dict[str, EditableSetting]:
        (home / "settings.json").write_text(json.dumps(own or {}))
        (project / ".zot" / "settings.json").write_text(json.dumps(theirs or {}))
        rows = editable(Paths.find(), project, [("guard", SettingsSpec(model=Guard))])
        return {one.key: one for one in rows}

    return read


def test_what_can_be_chosen_and_what_not(found: Any) -> None:
    rows = found()
    assert rows["retry.attempts"].choices == () and rows["retry.attempts"].whole
    assert not rows["retry.base_delay_s"].whole
    assert rows["http.verify_tls"].choices == (True, False)
    assert rows["queue.enter"].choices == ("steer", "follow_up")
    assert rows["reasoning"].choices[:2] == (None, "off")
    assert rows["guard.mode"].choices == ("soft", "hard")
    assert rows["guard.quiet"].choices == (None, True, False)
    assert (rows["guard.times"].value, rows["guard.share"].whole) == (3, False)
    assert rows["guard.mode"].description == "How hard it guards."
    assert not {"guard.words", "guard.note", "provider", "http.proxy", "disabled_plugins"} & rows.keys()


def test_the_value_that_counts_and_whose_it_is(found: Any) -> None:
    own = {"retry": {"attempts": 5}, "plugins": {"guard": {"times": 7}}}
    rows = found(own, {"retry": {"attempts": 9}})
    assert (rows["retry.attempts"].value, Path(rows["retry.attempts"].origin).parent.name) == (9, ".zot")
    assert (rows["guard.times"].value, Path(rows["guard.times"].origin).parent.name) == (7, "home")
    assert rows["retry.max_delay_s"].origin == "default"


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("retry.attempts", 0, "greater than or equal to 1"),
        ("reasoning", "much", "must be"),
        ("guard.times", 0, "greater than or equal to 1"),
        ("guard.share", 2.0, "less than or equal to 1"),
    ],
)
def test_a_value_that_does_not_fit_is_refused(found: Any, key: str, value: Any, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        found()[key].check(value)


def test_what_a_person_wrote(found: Any) -> None:
    rows = found()
    assert rows["retry.attempts"].parse(" 4 ") == 4
    assert rows["retry.base_delay_s"].parse("0.5") == 0.5
    with pytest.raises(UsageError, match="is a whole number, not 'four'"):
        rows["retry.attempts"].parse("four")
    for key, value in (("retry.attempts", 4), ("guard.mode", "hard"), ("guard.quiet", True)):
        rows[key].check(value)


def test_every_setting_of_the_core_says_what_it_is_for(found: Any) -> None:
    assert [key for key, one in found().items() if not one.description and not key.startswith("guard.")] == []
