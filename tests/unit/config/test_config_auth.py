"""CF-03: which key is used, that blank ones never are, and that messages name the place and never the key."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from zot_core.config import secrets
from zot_core.config.auth import Auth
from zot_core.config.paths import Paths
from zot_core.config.problems import SaveRefused
from zot_core.config.secrets import read_secret
from zot_core.types.failure import RunFailed, UsageError

ENV = ("ACME_API_KEY", "ACME_TOKEN")
STATES = {"absent": None, "empty": "", "blanks": " \t\n", "newline": "{}\n", "good": "{}"}


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    found = Paths(tmp_path / "home")
    found.ensure()
    return found


def store(paths: Paths, data: Any) -> None:
    paths.auth.write_text(data if isinstance(data, str) else json.dumps(data))
    paths.auth.chmod(0o600)


@pytest.mark.parametrize("states", list(itertools.product(STATES, repeat=4)), ids="-".join)
def test_the_first_place_that_is_not_blank_wins(paths: Paths, states: tuple[str, ...]) -> None:
    places = ("flag", "env", "file", "models")
    given = {place: STATES[state] for place, state in zip(places, states, strict=True)}
    values = {place: None if text is None else text.format(f"key-of-{place}") for place, text in given.items()}
    env = {} if values["env"] is None else {"ACME_API_KEY": values["env"]}
    if values["file"] is not None:
        store(paths, {"acme": {"api_key": values["file"]}})
    auth = Auth(paths, env, values["flag"] or "")
    found = auth.find("acme", ENV, values["models"] or "")
    expected = next((place for place in places if values[place] and values[place].strip()), None)
    if expected is None:
        assert found is None
        return
    assert found is not None
    assert found.key == f"key-of-{expected}"
    word = {"flag": "--api-key", "env": "$ACME_API_KEY", "file": str(paths.auth), "models": "models.json"}[expected]
    assert word in found.source
    assert found.key not in repr(found)
    assert found.key not in found.refused("acme")
    # A stale key that wins over a fresh one is at least told of the other.
    others = [place for place in places if place != expected and values[place] and values[place].strip()]
    assert len(found.also) == len(others)


def test_the_second_variable_counts_when_the_first_is_blank(paths: Paths) -> None:
    found = Auth(paths, {"ACME_API_KEY": " ", "ACME_TOKEN": "t\r\n"}).require("acme", ENV)
    assert (found.key, found.source) == ("t", "$ACME_TOKEN")


def test_a_refused_key_is_named_by_its_place_and_the_other_place_with_it(paths: Paths) -> None:
    store(paths, {"acme": {"api_key": "fresh-key"}})
    found = Auth(paths, {"ACME_API_KEY": "stale-key"}).require("acme", ENV)
    message = found.refused("acme")
    assert message == f"acme refused the key from $ACME_API_KEY; there is another one in {paths.auth} (acme)"
    assert found.mask("bad key stale-key!") == "bad key [key]!"


def test_without_any_key_the_ways_and_the_offline_provider_are_named(paths: Paths) -> None:
    with pytest.raises(RunFailed) as caught:
        Auth(paths, {"ACME_API_KEY": "  "}).require("acme", ENV)
    failure = caught.value.failure
    assert failure.kind == "auth"
    for word in ("--api-key", "ACME_API_KEY or ACME_TOKEN", str(paths.auth), "--provider scripted", "set but blank"):
        assert word in failure.message


@pytest.mark.parametrize(
    ("entry", "key", "kind"),
    [
        ("plain", "plain", "api_key"),
        ({"api_key": "k"}, "k", "api_key"),
        ({"apiKey": "k"}, "k", "api_key"),
        ({"type": "api_key", "key": "k"}, "k", "api_key"),
        ({"api_key": "k", "oauth": {"access_token": "t"}}, "k", "api_key"),
        ({"api_key": "", "oauth": {"access_token": "t", "expiry": "2999-01-01T00:00:00.123456789Z"}}, "t", "oauth"),
        ({"oauth": {"access_token": "t", "expiry": "0001-01-01T00:00:00Z", "account_id": "a"}}, "t", "oauth"),
        ({"type": "oauth", "access": "t", "refresh": "r", "expires": 32503680000000}, "t", "oauth"),
    ],
)
def test_every_shape_of_auth_json_is_read(paths: Paths, entry: Any, key: str, kind: str) -> None:
    store(paths, {"acme": entry, "other": {"api_key": "no"}})
    found = Auth(paths, {}).require("acme")
    assert (found.key, found.kind) == (key, kind)


def test_the_go_zots_file_works(paths: Paths) -> None:
    login = {"access_token": "token", "expiry": "2999-01-01T00:00:00+02:00", "account_id": "acct"}
    store(
        paths,
        {"anthropic": {"api_key": "sk-ant"}, "openai": {"oauth": login}, "more": {"groq": {"api_key": "g"}}},
    )
    auth = Auth(paths, {})
    assert auth.require("anthropic").key == "sk-ant"
    assert auth.find("openai") is None
    assert auth.require("openai-codex").account_id == "acct"
    assert auth.require("groq").key == "g"
    assert auth.remove("groq") is True
    assert auth.find("groq") is None
    assert auth.require("anthropic").key == "sk-ant"


def test_a_login_that_has_expired_is_not_used_and_said(paths: Paths) -> None:
    store(paths, {"acme": {"oauth": {"access_token": "t", "expiry": "2001-01-01T00:00:00Z"}}})
    auth = Auth(paths, {})
    assert auth.find("acme") is None
    assert "has expired" in auth.missing("acme")


@pytest.mark.parametrize("text", ['{"acme": {"api_key": "k" "x"}}', "[]", "{", '"k"'])
def test_a_broken_file_is_named_never_used_and_never_overwritten(paths: Paths, text: str) -> None:
    store(paths, text)
    auth = Auth(paths, {})
    assert auth.find("acme") is None
    assert f"{paths.auth}:1" in auth.missing("acme")
    assert auth.problems[0].level == "error"
    with pytest.raises(SaveRefused):
        auth.set_key("acme", "new")
    with pytest.raises(SaveRefused):
        auth.remove("acme")
    assert paths.auth.read_text() == text


def test_saving_keeps_the_others_and_is_private(paths: Paths) -> None:
    paths.auth.write_text(
        '{\n  // mine\n  "other": {"api_key": "o", "note": 1},\n  "acme": {"oauth": {}, "note": 2}\n}'
    )
    paths.auth.chmod(0o644)
    auth = Auth(paths, {})
    assert "others can read it" in str(auth.problems[0])
    auth.set_key("acme", " new\n")
    assert paths.auth.stat().st_mode & 0o777 == 0o600
    assert "// mine" in paths.auth.read_text()
    assert auth.require("acme").key == "new"
    assert auth.require("other").key == "o"
    assert auth.problems == []
    assert '"note": 2' in paths.auth.read_text()
    assert "oauth" not in paths.auth.read_text()
    assert auth.remove("acme") is True
    assert auth.remove("acme") is False
    assert auth.find("acme") is None


def test_a_new_file_is_private(tmp_path: Path) -> None:
    paths = Paths(tmp_path / "new")
    Auth(paths, {}).set_key("acme", "k")
    assert paths.auth.stat().st_mode & 0o777 == 0o600
    assert json.loads(paths.auth.read_text()) == {"acme": {"api_key": "k"}}


@pytest.mark.parametrize("key", ["", "  ", "two\nlines", "“curly”"])
def test_a_key_that_cannot_be_is_not_kept(paths: Paths, key: str) -> None:
    with pytest.raises(UsageError):
        Auth(paths, {}).set_key("acme", key)
    assert not paths.auth.exists()


def test_a_key_that_no_request_can_carry_is_refused_by_its_place(paths: Paths) -> None:
    with pytest.raises(RunFailed, match=r"\$ACME_API_KEY cannot be used") as caught:
        Auth(paths, {"ACME_API_KEY": "k9q\ncd"}).require("acme", ENV)
    assert "k9q" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("plain", "plain"),
        (" plain\n", "plain"),
        ("$WORD", "w"),
        ("${WORD}", "w"),
        ("$$WORD", "$WORD"),
        ("$!word", "!word"),
        ("a$WORD", "a$WORD"),
        ("$1x", "$1x"),
        ("!printf 'k\\n\\n'", "k"),
        ("! echo $WORD", "w"),
        ("$BLANK", ""),
        ("$ABSENT", ""),
    ],
)
def test_what_a_text_stands_for(text: str, value: str) -> None:
    env = {"WORD": "w", "BLANK": " ", "PATH": "/usr/bin:/bin"}
    secret = read_secret(text, "here", env)
    assert secret.value == value
    assert value == "" or value not in repr(secret) or text == "$WORD"
    assert bool(secret.problem) == (value == "")


@pytest.mark.parametrize(
    ("command", "says"),
    [("!echo no >&2; exit 3", "exit code 3: no"), ("!true", "printed nothing"), ("!", "is empty")],
)
def test_a_command_that_fails_ends_the_run_with_its_place(paths: Paths, command: str, says: str) -> None:
    with pytest.raises(RunFailed, match=says) as caught:
        Auth(paths, {"PATH": "/usr/bin:/bin"}).find("acme", (), command)
    assert caught.value.failure.kind == "auth"
    assert "apiKey of acme" in str(caught.value)


def test_a_command_that_hangs_is_ended_with_what_it_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "COMMAND_TIMEOUT", 0.3)
    secret = read_secret("!sleep 60 | cat; echo late", "here")
    assert "printed nothing within 0.3 s" in secret.problem


def test_a_command_runs_only_when_it_is_needed_and_once(paths: Paths, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    command = f"!echo x >> {mark}; echo key"
    env = {"PATH": "/usr/bin:/bin"}
    assert Auth(paths, {**env, "ACME_API_KEY": "k"}).require("acme", ENV, command).key == "k"
    assert not mark.exists()
    for _ in range(2):
        assert Auth(paths, env).require("acme", ENV, command).key == "key"
    assert mark.read_text() == "x\n"


def test_the_go_zots_command_runs_without_a_shell(paths: Paths) -> None:
    store(paths, {"acme": {"api_key_command": {"program": "printf", "args": ["%s", "$HOME;x"]}}})
    found = Auth(paths, {"PATH": "/usr/bin:/bin"}).require("acme")
    assert found.key == "$HOME;x"


def test_whether_there_is_a_key_is_told_without_running_anything(paths: Paths, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    auth = Auth(paths, {"ACME_API_KEY": " "})
    assert auth.has("acme", ENV) is False
    assert auth.may_run_command("acme") is False
    assert auth.has("acme", ENV, f"!touch {mark}; echo k") is True
    store(paths, {"acme": {"api_key_command": f"touch {mark}; echo k"}})
    auth.reload()
    assert auth.has("acme") is True
    assert auth.may_run_command("acme") is True
    assert not mark.exists()
