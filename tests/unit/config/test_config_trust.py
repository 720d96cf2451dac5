"""Project trust: what counts, who decides in which order, and that decisions are kept by real path."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from zot_core.config.paths import Paths
from zot_core.config.trust import Decision, TrustStore, decide, found_to_trust
from zot_core.events.session import Trust

if TYPE_CHECKING:
    from zot_core.config.trust import Ask


@pytest.fixture
def store(tmp_path: Path) -> TrustStore:
    return TrustStore(Paths(tmp_path / "home"))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project/.zot/plugins").mkdir(parents=True)
    (tmp_path / "project/.zot/plugins/guard.py").write_text("")
    return tmp_path / "project"


def answering(answer: Trust | None, asked: list[str], who: str) -> Ask:
    async def ask() -> Trust | None:
        asked.append(who)
        return answer

    return ask


def run(project: Path, store: TrustStore, asked: list[str] | None = None, **options: Any) -> Decision:
    asked = [] if asked is None else asked
    for who in ("plugins", "person"):
        if who in options:
            options[who] = answering(options[who], asked, who)
    found = options.pop("found", found_to_trust(project))
    return asyncio.run(decide(project, found, store, **options))


@pytest.mark.parametrize(
    "name",
    [".zot/settings.json", ".zot/plugins/a.py", ".zot/extensions/x/extension.json", ".zot/skills/s/SKILL.md",
     ".zot/prompts/p.md", ".zot/themes/t.json", ".zot/hooks/h", ".zot/mcp.json", ".agents/skills/s/SKILL.md"],
)  # fmt: skip
def test_what_can_act_or_steer_silently_counts(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_text("")
    (found,) = found_to_trust(tmp_path)
    assert name.startswith(found)


@pytest.mark.parametrize("name", ["AGENTS.md", "CLAUDE.md", ".zot/notes.txt", "src/.zot/plugins/a.py"])
def test_context_files_and_the_rest_do_not_count(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text("")
    (tmp_path / ".zot/skills").mkdir(parents=True)  # an empty folder holds nothing to trust
    assert found_to_trust(tmp_path) == ()


def test_ones_own_home_needs_no_trust(tmp_path: Path) -> None:
    (tmp_path / ".zot/plugins").mkdir(parents=True)
    (tmp_path / ".zot/plugins/a.py").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / ".zot")
    assert found_to_trust(tmp_path, tmp_path / "link") == ()
    assert found_to_trust(tmp_path, tmp_path / "elsewhere") == (".zot/plugins",)


def test_the_command_line_comes_first_and_nobody_is_asked(project: Path, store: TrustStore) -> None:
    store.set(project, False)
    asked: list[str] = []
    decision = run(project, store, asked, command_line=True, plugins=Trust(False), person=Trust(False))
    assert (decision.trusted, decision.source, asked) == (True, "--trust", [])
    assert run(project, store, command_line=False).trusted is False


def test_then_plugins_then_the_file_then_the_setting_then_the_person(project: Path, store: TrustStore) -> None:
    asked: list[str] = []
    assert run(project, store, asked, plugins=None, default="never", person=Trust(True)).source.startswith("default")
    assert run(project, store, asked, default="always").trusted is True
    assert run(project, store, asked, plugins=None, person=Trust(True)).source == "you"
    assert asked == ["plugins", "plugins", "person"]
    store.set(project, True)
    assert run(project, store, default="never").source == "trust.json"
    assert run(project, store, plugins=Trust(False)).source == "a plugin"


def test_only_what_is_to_be_remembered_is_kept(project: Path, store: TrustStore) -> None:
    assert run(project, store, person=Trust(True)).trusted is True
    assert store.get(project) is None
    run(project, store, person=Trust(True, remember=True))
    assert store.get(project) is True
    run(project, store, plugins=Trust(False, remember=True))
    assert store.get(project) is False
    store.set(project, None)
    assert store.get(project) is None


def test_where_nobody_can_be_asked_it_is_left_out_with_one_notice(project: Path, store: TrustStore) -> None:
    decision = run(project, store)
    assert decision.trusted is False
    assert decision.skipped == (".zot/plugins",)
    assert "--trust" in decision.notice
    assert ".zot/plugins" in decision.notice
    assert run(project, store, person=None).trusted is False


def test_with_nothing_to_trust_nobody_is_asked_and_the_answer_is_no(project: Path, store: TrustStore) -> None:
    asked: list[str] = []
    decision = run(project, store, asked, found=(), plugins=Trust(True), person=Trust(True), default="always")
    assert (decision.trusted, decision.notice, asked) == (False, "", [])
    store.set(project, True)
    assert run(project, store, found=()).trusted is True


def test_trust_belongs_to_the_real_folder_and_not_to_what_is_below(project: Path, store: TrustStore) -> None:
    link = project.parent / "link"
    link.symlink_to(project)
    store.set(link, True)
    assert store.get(project) is True
    (project / "sub").mkdir()
    assert store.get(project / "sub") is None
    assert store.get(project.parent) is None


def test_a_file_that_does_not_parse_trusts_nothing_and_is_kept(
    project: Path, store: TrustStore, tmp_path: Path
) -> None:
    file = tmp_path / "home/trust.json"
    file.parent.mkdir()
    file.write_text("{broken")
    decision = run(project, store, person=Trust(True, remember=True))
    assert decision.trusted is True
    assert any("this run only" in str(problem) for problem in decision.problems)
    assert file.read_text() == "{broken"
    assert run(project, store).trusted is False


def test_only_true_and_false_are_decisions(project: Path, store: TrustStore, tmp_path: Path) -> None:
    file = tmp_path / "home/trust.json"
    file.parent.mkdir()
    file.write_text(json.dumps({str(project): "yes"}))
    assert run(project, store).trusted is False
    assert "true or false" in str(store.read()[1][0])


def test_a_path_of_odd_bytes_is_kept(store: TrustStore) -> None:
    store.set("/tmp/odd\udcff", True)
    assert store.get("/tmp/odd\udcff") is True
