"""The installed command against model servers that others wrote: llama.cpp's, and LLMock with its faults.

Nothing here knows how zot speaks a format; the servers do. See support/third_party.py for what they are told to say.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.third_party import CONTEXT, KEY, MODEL, Llama, LLMock

CHAT, RESPONSES, MESSAGES, GEMINI = (
    "openai-completions",
    "openai-responses",
    "anthropic-messages",
    "google-generative-ai",
)
OF_LLAMA = (CHAT, RESPONSES, MESSAGES)
BASES = {CHAT: "/v1", RESPONSES: "/v1", MESSAGES: "/anthropic", GEMINI: "/gemini"}
CALL = {"type": "reply", "tool_calls": [{"name": "read", "arguments": {"path": "a.txt"}}]}
SAY = {"type": "reply", "text": "One two three four five six seven."}
KEY_OF_MOCK = "key-of-the-mock-server"


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Llama]:
    """llama.cpp's server, one for all tests here."""
    with Llama(tmp_path_factory.mktemp("llama")) as server:
        yield server


@pytest.fixture(scope="module")
def llmock() -> Iterator[LLMock]:
    """LLMock, one for all tests here; each test gives it its script."""
    with LLMock() as server:
        yield server


@pytest.fixture
def ask(zot: Any, zot_home: Path, project: Path) -> Callable[..., Any]:
    """Calls `zot` with a provider of models.json that is `server` in one of its formats."""
    (project / "a.txt").write_text("data", encoding="utf-8")
    (zot_home / "settings.json").write_text(
        json.dumps({"retry": {"attempts": 2, "base_delay_s": 0.1}}), encoding="utf-8"
    )

    def call(server: Llama | LLMock, api: str, *argv: str, key: str = "", start: bool = False, **options: Any) -> Any:
        own = isinstance(server, Llama)
        row = {
            "api": api,
            "baseUrl": server.url + ("/v1" if own else BASES[api]),
            "apiKey": key or (KEY if own else KEY_OF_MOCK),
            "models": [{"id": MODEL, "contextWindow": CONTEXT, "reasoning": True}],
        }
        (zot_home / "models.json").write_text(json.dumps({"providers": {api: row}}), encoding="utf-8")
        line = ("--provider", api, "--model", MODEL, *argv)
        return zot.start(*line, **options) if start else zot(*line, **options)

    return call


def of_type(done: Any, name: str) -> list[dict[str, Any]]:
    return [event for event in done.events if event["type"] == name]


# --- llama.cpp ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("api", OF_LLAMA)
def test_an_answer_of_llama_cpp_is_on_stdout(ask: Any, llama: Llama, api: str) -> None:
    done = ask(llama, api, "-p", "Hi")
    assert (done.code, done.out, done.err) == (0, "Hello from a file 👍\n", "")


@pytest.mark.parametrize("api", OF_LLAMA)
def test_its_pieces_and_its_counts_are_told(ask: Any, llama: Llama, api: str) -> None:
    done = ask(llama, api, "--json", "Hi")
    assert done.code == 0, done.err
    assert [event["delta"] for event in of_type(done, "text_delta")] == ["Hello", " from", " a", " file 👍"]
    again = ask(llama, api, "--json", "Hi")
    (first,), (second,) = of_type(done, "usage"), of_type(again, "usage")
    assert first["output"] == second["output"] == 5
    assert first["input"] + first["cache_read"] == second["input"] + second["cache_read"] > 1000
    assert second["input"] == 1  # the server kept the rest, and says so


@pytest.mark.parametrize("api", OF_LLAMA)
def test_a_call_runs_and_its_result_is_understood(ask: Any, llama: Llama, api: str) -> None:
    done = ask(llama, api, "--json", "Read it")
    assert done.code == 0, done.err
    (call,), (result,) = of_type(done, "tool_call"), of_type(done, "tool_result")
    assert (call["name"], call["args"]) == ("read", {"path": "a.txt"})
    assert not result["is_error"] and result["content"][0]["text"] == "data"
    assert len(of_type(done, "tool_use_args")) > 1
    assert of_type(done, "assistant_message")[-1]["content"][0]["text"] == "It says data."


@pytest.mark.parametrize("api", OF_LLAMA)
def test_thinking_is_apart_from_the_answer(ask: Any, llama: Llama, api: str) -> None:
    done = ask(llama, api, "--json", "Think")
    assert done.code == 0, done.err
    (message,) = of_type(done, "assistant_message")
    kinds = {block["type"]: block.get("thinking", block.get("text", "")).strip() for block in message["content"]}
    assert kinds == {"thinking": "Let me see.", "text": "I have thought."}


def test_a_conversation_goes_on_in_every_format(ask: Any, llama: Llama) -> None:
    """Thinking and calls of one format are accepted in another's by a server that is not ours."""
    for number, api in enumerate((*OF_LLAMA, *reversed(OF_LLAMA))):
        more = ("--continue",) if number else ()
        for prompt, answer in (("Think", "I have thought."), ("Read it", "It says data.")):
            done = ask(llama, api, *more, "-p", prompt)
            assert (done.code, done.out.strip(), done.err) == (0, answer, "")
            more = ("--continue",)


@pytest.mark.parametrize("api", OF_LLAMA)
def test_a_wrong_key_is_an_error_of_keys(ask: Any, llama: Llama, api: str) -> None:
    done = ask(llama, api, "--json", "Hi", key="not-the-key-of-it")
    (error,) = of_type(done, "error")
    assert (done.code, error["kind"], error["retryable"]) == (1, "auth", False)
    assert "401" in done.err and "models.json" in done.err
    assert "not-the-key-of-it" not in done.out + done.err


@pytest.mark.parametrize("api", OF_LLAMA)
def test_what_is_longer_than_its_window_is_an_overflow(ask: Any, llama: Llama, api: str) -> None:
    done = ask(llama, api, "--json", "-p", text="x" * 2 * CONTEXT)
    assert done.code == 1
    assert [event["kind"] for event in of_type(done, "error")] == ["context_overflow"]


def test_its_models_are_found_by_its_address_alone(
    zot: Any, llama: Llama, monkeypatch: pytest.MonkeyPatch, zot_home: Path
) -> None:
    monkeypatch.setenv("LLAMACPP_HOST", llama.url)
    line = ("--provider", "llamacpp", "--api-key", KEY)
    listed = zot(*line, "--list-models", "--json", "llamacpp/")
    (row,) = json.loads(listed.out)
    assert (row["model"], row["context_window"], row["source"]) == (f"llamacpp/{MODEL}", CONTEXT, "live")
    done = zot(*line, "-p", "Hi")
    assert (done.code, done.out, done.err) == (0, "Hello from a file 👍\n", "")


@pytest.mark.parametrize("api", OF_LLAMA)
def test_a_server_that_dies_in_mid_answer_is_never_a_success(ask: Any, tmp_path: Path, api: str) -> None:
    with Llama(tmp_path) as server:
        process = ask(server, api, "--json", "Say it for ever", start=True)
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "")
        seen = [next(line for line in lines if '"text_delta"' in line)]
        server.kill()
        seen.extend(lines)
        assert process.wait(20) == 1
    events = [json.loads(line) for line in seen]
    assert [event["kind"] for event in events if event["type"] == "error"] == ["network"]
    assert [event["stop"] for event in events if event["type"] == "turn_end"] == ["error"]
    assert events[-1]["type"] == "done"


# --- LLMock -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("api", BASES)
def test_a_call_of_every_vendor_runs(ask: Any, llmock: LLMock, api: str) -> None:
    llmock.plays(CALL, SAY)
    done = ask(llmock, api, "--json", "Read it")
    assert done.code == 0, done.err
    assert [result["content"][0]["text"] for result in of_type(done, "tool_result")] == ["data"]
    assert "".join(event["delta"] for event in of_type(done, "text_delta")) == SAY["text"]
    assert all(event["input"] > 0 and event["output"] > 0 for event in of_type(done, "usage"))
    assert (len(llmock.requests()), llmock.verdict()) == (2, [])


@pytest.mark.parametrize("api", BASES)
def test_a_limit_that_passes_is_waited_for(ask: Any, llmock: LLMock, api: str) -> None:
    llmock.plays({"type": "fail", "status": 429, "retry_after": 0.3}, SAY)
    done = ask(llmock, api, "-p", "Hi")
    assert (done.code, done.out.strip()) == (0, SAY["text"])
    assert ([row["status"] for row in llmock.requests()], llmock.verdict()) == ([429, 200], [])


@pytest.mark.parametrize(
    ("status", "more", "kind"),
    [
        (401, {}, "auth"),
        (403, {}, "auth"),
        (404, {}, "bad_request"),
        (422, {}, "bad_request"),
        (400, {"message": "prompt is too long: 9 tokens > 8 maximum"}, "context_overflow"),
    ],
)
@pytest.mark.parametrize("api", BASES)
def test_what_no_retry_mends_is_said_at_once(
    ask: Any, llmock: LLMock, api: str, status: int, more: dict[str, str], kind: str
) -> None:
    llmock.plays({"type": "fail", "status": status, "times": None, **more})
    done = ask(llmock, api, "--json", "Hi")
    assert done.code == 1
    assert [event["kind"] for event in of_type(done, "error")] == [kind]
    assert str(status) in done.err and KEY_OF_MOCK not in done.err + done.out
    assert (len(llmock.requests()), llmock.verdict()) == (1, [])


@pytest.mark.parametrize("status", [500, 503, 529])
@pytest.mark.parametrize("api", BASES)
def test_a_server_that_stays_down_ends_the_run(ask: Any, llmock: LLMock, api: str, status: int) -> None:
    llmock.plays({"type": "fail", "status": status, "retry_after": 0.2, "times": None})
    done = ask(llmock, api, "--json", "Hi")
    (error,) = of_type(done, "error")
    assert (done.code, error["kind"]) == ((1, "provider") if status == 500 else (75, "overloaded"))
    assert error["retryable"] and str(status) in done.err
    assert (len(llmock.requests()), llmock.verdict()) == (2, [])


@pytest.mark.parametrize("fault", ["disconnect", "truncate", "malformed"])
@pytest.mark.parametrize("api", BASES)
def test_a_stream_that_breaks_is_never_a_success(ask: Any, llmock: LLMock, api: str, fault: str) -> None:
    llmock.plays({**SAY, "times": None}, {"type": "stream_fault", "kind": fault, "after_chunks": 4, "times": None})
    done = ask(llmock, api, "--json", "Hi")
    assert done.code == 1
    assert [event["kind"] for event in of_type(done, "error")] == ["network"]
    assert len(of_type(done, "retry")) == 1
    # LLMock counts what it says no word about as taken: a last attempt that was broken off cannot be tried again
    assert len(llmock.requests()) == 2


@pytest.mark.parametrize("fault", ["malformed_arguments", "unknown_tool"])
@pytest.mark.parametrize("api", BASES)
def test_a_call_that_makes_no_sense_is_answered(ask: Any, llmock: LLMock, api: str, fault: str) -> None:
    llmock.plays(CALL, {"type": "tool_fault", "kind": fault}, SAY)
    done = ask(llmock, api, "--json", "Read it")
    assert done.code == 0, done.err
    (result,) = of_type(done, "tool_result")
    assert result["is_error"]
    assert llmock.verdict() == []


@pytest.mark.parametrize("api", [CHAT, MESSAGES, GEMINI])
def test_its_lists_of_models_are_read(ask: Any, llmock: LLMock, api: str) -> None:
    done = ask(llmock, api, "--list-models", "--json", f"{api}/")
    sources = {row["model"]: row["source"] for row in json.loads(done.out)}
    assert "live" in sources.values(), (sources, done.err)
