"""CF-01, reading: layers, where values come from, and what bad files and values do (nothing but a clear message)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from zot_core.config import schema, values
from zot_core.config.paths import Paths
from zot_core.config.settings import LoadedSettings, load_settings


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    (tmp_path / "home").mkdir()
    return Paths(tmp_path / "home")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project" / ".zot").mkdir(parents=True)
    return tmp_path / "project"


def write(path: Path, data: Any) -> None:
    path.write_text(data if isinstance(data, str) else json.dumps(data))


def messages(loaded: LoadedSettings) -> str:
    return "\n".join(map(str, loaded.problems))


def test_without_files_everything_is_its_default(paths: Paths) -> None:
    loaded = load_settings(paths)
    assert loaded.values == values.Settings()
    assert loaded.problems == ()
    assert loaded.values.shutdown == values.Shutdown(2000, 10_000, 2000)
    assert loaded.values.retry.attempts == 3
    assert loaded.values.max_steps == 50
    assert loaded.origin("retry.attempts") == "default"


def test_layers_lie_over_one_another_and_each_value_knows_its_place(paths: Paths, project: Path) -> None:
    write(paths.go_config, {"provider": "go", "model": "go-model", "theme": "go-theme", "reasoning": "high"})
    write(paths.settings, {"provider": "home", "model": "home-model", "retry": {"attempts": 7, "max_delay_s": 9}})
    write(project / ".zot/settings.json", {"model": "project-model", "retry": {"attempts": 8}})
    loaded = load_settings(paths, project, overrides={"queue.enter": "follow_up", "reasoning": "low"})
    found = loaded.values
    assert (found.provider, found.model, found.theme, found.reasoning) == ("home", "project-model", "go-theme", "low")
    assert (found.retry.attempts, found.retry.max_delay_s, found.retry.base_delay_s) == (8, 9, 2.0)
    assert found.queue.enter == "follow_up"
    assert loaded.origin("theme") == str(paths.go_config)
    assert loaded.origin("provider") == str(paths.settings)
    assert loaded.origin("retry.max_delay_s") == str(paths.settings)
    assert loaded.origin("retry.attempts") == str(project / ".zot/settings.json")
    assert loaded.origin("reasoning") == "command line"
    assert loaded.origin("retry.base_delay_s") == "default"


def test_a_project_that_is_not_trusted_says_nothing(paths: Paths, project: Path) -> None:
    write(project / ".zot/settings.json", {"model": "evil"})
    assert load_settings(paths).values.model == ""


def test_a_project_cannot_say_what_belongs_to_the_person(paths: Paths, project: Path) -> None:
    write(project / ".zot/settings.json", '{\n"default_project_trust": "always",\n"allow_replacing": ["read"]}')
    loaded = load_settings(paths, project)
    assert loaded.values.default_project_trust == "ask"
    assert loaded.values.allow_replacing == ()
    assert [p.line for p in loaded.problems] == [2, 3]
    assert "only in the home settings" in loaded.problems[0].message


def test_a_home_inside_the_project_is_read_once(tmp_path: Path) -> None:
    paths = Paths(tmp_path / ".zot")
    paths.ensure()
    write(paths.settings, {"allow_replacing": ["read"]})
    loaded = load_settings(paths, tmp_path)
    assert loaded.values.allow_replacing == ("read",)
    assert loaded.problems == ()


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ('{\n  "model": "x"\n  "theme": "y"\n}', 3, "expected a comma"),
        ("[]", 1, "must be an object {...}, not a list"),
        ("\n\n3", 3, "must be an object {...}, not a number"),
        ("null", 1, "not null"),
        ('{"model": "x', 1, "not closed"),
    ],
)
def test_a_file_that_does_not_parse_gives_defaults_and_a_place(paths: Paths, text: str, line: int, says: str) -> None:
    write(paths.settings, text)
    loaded = load_settings(paths)
    (problem,) = loaded.problems
    assert loaded.values == values.Settings()
    assert (problem.level, problem.file, problem.line) == ("error", str(paths.settings), line)
    assert says in problem.message
    assert paths.settings.read_text() == text


def test_bytes_and_folders_in_place_of_a_file_are_named(paths: Paths) -> None:
    paths.settings.write_bytes(b'{"model": "\xff"}')
    paths.go_config.mkdir()
    loaded = load_settings(paths)
    assert loaded.values == values.Settings()
    assert "not UTF-8" in messages(loaded)
    assert "cannot be read: Is a directory" in messages(loaded)


@pytest.mark.parametrize("text", ["", "  \n", "// later\n", "{}", "\ufeff{}"])
def test_an_empty_file_says_nothing_and_is_no_mistake(paths: Paths, text: str) -> None:
    write(paths.settings, text)
    assert load_settings(paths).problems == ()


def test_comments_trailing_commas_and_a_mark_are_fine(paths: Paths) -> None:
    write(paths.settings, '\ufeff{ // mine\n "model": "x", /* why */ "disabled_plugins": ["a", "b",],\n}')
    loaded = load_settings(paths)
    assert loaded.problems == ()
    assert loaded.values.disabled_plugins == ("a", "b")


def test_a_wrong_value_costs_only_itself(paths: Paths) -> None:
    write(
        paths.settings,
        '{\n"model": "x",\n"max_steps": "many",\n"retry": {"attempts": 0, "base_delay_s": 1},\n"http": 3,\n'
        '"queue": {"enter": "sideways"},\n"disabled_plugins": ["a", 2],\n"theme": null}',
    )
    loaded = load_settings(paths)
    assert loaded.values.model == "x"
    assert loaded.values.max_steps == 50
    assert loaded.values.retry == values.Retry(base_delay_s=1)
    assert loaded.values.http == values.Http()
    assert loaded.values.disabled_plugins == ()
    assert {(p.level, p.line) for p in loaded.problems} == {("warning", n) for n in (3, 4, 5, 6, 7)}
    assert "'queue.enter': must be 'steer' or 'follow_up'" in messages(loaded)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"modle": "x"}, "unknown setting 'modle'; did you mean 'model'?"),
        ({"defaultProjectTrust": "ask"}, "did you mean 'default_project_trust'?"),
        ({"retry": {"atempts": 1}}, "unknown setting 'retry.atempts'; did you mean 'retry.attempts'?"),
        ({"zzzzzz": 1}, "unknown setting 'zzzzzz'; it is kept and ignored"),
    ],
)
def test_an_unknown_key_is_named_with_its_nearest_spelling(paths: Paths, data: Any, says: str) -> None:
    write(paths.settings, data)
    (problem,) = load_settings(paths).problems
    assert problem.level == "warning"
    assert says in problem.message


def test_other_spellings_and_short_forms(paths: Paths) -> None:
    write(paths.settings, {"thinking": "high", "tools": "zot", "$schema": "x"})
    loaded = load_settings(paths)
    assert loaded.problems == ()
    assert loaded.values.reasoning == "high"
    assert loaded.values.tools.preset == "zot"


def test_a_key_that_stands_twice_is_named(paths: Paths) -> None:
    write(paths.settings, '{"model": "a",\n"model": "b"}')
    loaded = load_settings(paths)
    assert loaded.values.model == "b"
    assert "'model' stands here a second time" in messages(loaded)


def test_sections_of_plugins_are_kept_as_written_and_merge(paths: Paths, project: Path) -> None:
    write(paths.settings, {"plugins": {"guard": {"words": ["a"], "level": 1}, "bad": 3}})
    write(project / ".zot/settings.json", {"plugins": {"guard": {"level": 2}}})
    loaded = load_settings(paths, project)
    assert loaded.section("guard") == {"words": ["a"], "level": 2}
    assert loaded.section("nobody") == {}
    assert "'plugins.bad'" in messages(loaded)
    assert loaded.origin("plugins.guard.words") == str(paths.settings)


def test_the_go_zots_file_counts_where_it_means_the_same(paths: Paths) -> None:
    write(
        paths.go_config,
        {"provider": "openai", "model": " ", "reasoning": "maximum", "theme": "", "insecure": True,
         "http_proxy": "http://p:1", "auto_compact_threshold": 80},
    )  # fmt: skip
    loaded = load_settings(paths)
    assert loaded.problems == ()
    assert loaded.values.provider == "openai"
    assert loaded.values.model == ""
    assert loaded.values.reasoning == "max"
    assert loaded.values.http == values.Http(proxy="http://p:1", verify_tls=False)


def test_doctor_gets_every_value_with_its_place_and_no_secret(paths: Paths) -> None:
    write(paths.settings, {"model": "x", "plugins": {"p": {"api_key": "sk-secret", "on": True}},
                           "http": {"proxy": "http://u:pw@h"}})  # fmt: skip
    rows = {key: (value, origin) for key, value, origin in load_settings(paths).rows()}
    assert rows["model"] == ("x", str(paths.settings))
    assert rows["shutdown.quit_budget_ms"] == (2000, "default")
    assert rows["plugins.p.on"] == (True, str(paths.settings))
    assert "sk-secret" not in str(rows)
    assert "pw" not in str(rows["http.proxy"])


def test_a_plugins_own_model_checks_its_section() -> None:
    from pydantic import BaseModel

    class Mine(BaseModel):
        level: int = 1
        words: tuple[str, ...] = ()

    good, none = schema.check_section(Mine, {"level": 2}, "guard")
    assert good == {"level": 2, "words": []}
    assert none == []
    mended, problems = schema.check_section(Mine, {"level": "x", "words": ["a"], "wrods": []}, "guard", "s.json")
    assert mended == {"level": 1, "words": ["a"]}
    assert "'plugins.guard.level'" in str(problems[0])
    assert "did you mean 'plugins.guard.words'?" in str(problems[1])


def test_the_schema_of_the_reference_page_names_every_setting() -> None:
    properties = schema.json_schema()["properties"]
    assert properties.keys() == values.Settings.__dataclass_fields__.keys()
    assert values.choices("queue.enter") == ("steer", "follow_up")
    assert values.choices("model") == ()
