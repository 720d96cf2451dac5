"""The SP faults in the forms of Responses and Gemini, through the runner and a server that plays them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from mock_provider import replies_google as google
from mock_provider import replies_responses as responses
from mock_provider.server import MockServer, Reply
from support.format_talk import ask

from zot_core.types.content import Text
from zot_core.types.messages import UserMessage
from zot_core.types.specs import ModelSpec
from zot_core.types.stream import Done, Failed

USER = [UserMessage(content=(Text("hi"),))]


@dataclass(frozen=True)
class Form:
    """One format: its model, a good answer, one that is cut, a refusal by status, an error within the stream."""

    model: ModelSpec
    answer: Callable[..., Reply]
    begin: Callable[[], list[bytes]]
    error: Callable[..., dict[str, Any]]
    length: Callable[[int], Reply]

    def refusal(self, status: int, code: str, message: str, **headers: str) -> Reply:
        body = json.dumps(self.error(code, message, status)).encode()
        return Reply(body=[body], status=status, headers=headers, content_type="application/json", done=False)

    def broken(self, code: str, message: str, status: int | None = None) -> Reply:
        row = f"data: {json.dumps(self.event(code, message, status))}\n\n".encode()
        return Reply(body=[*self.begin(), row], done=False)

    def event(self, code: str, message: str, status: int | None) -> dict[str, Any]:
        return self.error(code, message, status)


class ResponsesForm(Form):
    def event(self, code: str, message: str, status: int | None) -> dict[str, Any]:
        return {
            "type": "response.failed",
            "response": {"status": "failed", "error": {"code": code, "message": message}},
        }


def _google_error(code: str, message: str, status: int | None) -> dict[str, Any]:
    return {"error": {"code": status or 500, "message": message, "status": code.upper()}}


def _length_google(total: int) -> Reply:
    usage = {"promptTokenCount": total - 1, "candidatesTokenCount": 1}
    return Reply(body=google.encoded([google.chunk(google.text("a"), finish="MAX_TOKENS", usage=usage)]), done=False)


def _length_responses(total: int) -> Reply:
    usage = {"input_tokens": total - 1, "output_tokens": 1}
    end = responses.ending("incomplete", incomplete_details={"reason": "max_output_tokens"}, usage=usage)
    return responses.answer(responses.message("a"), end=end)


FORMS: dict[str, Form] = {
    "responses": ResponsesForm(
        ModelSpec(id="mock", provider="o", api="openai-responses", context_window=1000),
        lambda **options: responses.answer(
            responses.message("Grüße 世界 🙂"), responses.call("c", "read", {"path": "🙂"}), **options
        ),
        lambda: responses.encoded([*responses.beginning(), *responses.events_of(0, responses.message("a", "b"))[:4]]),
        lambda code, message, status: {"error": {"code": code, "message": message, "type": code}},
        _length_responses,
    ),
    "google": Form(
        ModelSpec(id="mock", provider="g", api="google-generative-ai", context_window=1000),
        lambda **options: google.answer(google.text("Grüße 世界 🙂"), google.call("read", {"path": "🙂"}), **options),
        lambda: google.encoded([google.chunk(google.text("a")), google.chunk(google.text("b"))]),
        _google_error,
        _length_google,
    ),
}
both = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


def is_good(told: Any) -> None:
    assert isinstance(told.parts[-1], Done), told.parts[-1]
    assert told.message.text == "Grüße 世界 🙂"
    assert [call.args for call in told.message.tool_calls] == [{"path": "🙂"}]


@both
def test_sp01_a_byte_at_a_time_and_with_other_line_ends(form: Form) -> None:
    with MockServer([form.answer(piece=1), form.answer(piece=1, crlf=True)]) as server:
        is_good(ask(server, form.model, USER))
        if form.model.api == "openai-responses":
            is_good(ask(server, form.model, USER))


@both
def test_sp05_a_passing_error_after_the_start_is_tried_again(form: Form) -> None:
    code = "server_error" if form.model.api == "openai-responses" else "internal"
    with MockServer([form.broken(code, "The server had an error, try again"), form.answer()]) as server:
        told = ask(server, form.model, USER)
    is_good(told)
    assert [failure.kind for failure in told.retries] == ["provider"]


@both
def test_sp05_a_lasting_error_ends_the_turn_with_the_providers_word(form: Form) -> None:
    code = "invalid_prompt" if form.model.api == "openai-responses" else "INVALID_ARGUMENT"
    with MockServer([form.broken(code, "Nobody may ask that.", 400)]) as server:
        told = ask(server, form.model, USER)
    assert told.retries == []
    assert "Nobody may ask that." in told.failure.message
    assert told.message.text == "ab"


@both
def test_sp05_an_error_document_with_status_200(form: Form) -> None:
    replies = [replace(form.refusal(200, "x", "Nobody may ask that: invalid request."), strict=False)]
    with MockServer(replies) as server:
        told = ask(server, form.model, USER)
    assert "Nobody may ask that" in told.failure.message


@both
def test_a_cut_stream_is_tried_again_and_never_a_success(form: Form) -> None:
    cut = Reply(body=form.begin(), cut=True, done=False)
    ended = Reply(body=form.begin(), done=False)
    with MockServer([cut, ended, form.answer()]) as server:
        told = ask(server, form.model, USER)
    is_good(told)
    assert [failure.kind for failure in told.retries] == ["network", "network"]


@both
def test_sp07_waits_as_it_is_told(form: Form) -> None:
    replies = [form.refusal(429, "x", "Too many requests", **{"retry-after": "7"}), form.answer()]
    with MockServer(replies) as server:
        told = ask(server, form.model, USER)
    is_good(told)
    assert told.waits[0] >= 7
    with MockServer([form.refusal(429, "x", "Too many requests", **{"retry-after": "11000"})]) as server:
        told = ask(server, form.model, USER)
    assert (told.failure.kind, told.waits) == ("rate_limit", [])
    assert "Come back in" in told.failure.message


def test_sp07_waits_that_stand_in_the_error_itself() -> None:
    form = FORMS["google"]
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "9s"}]
    error = {"error": {"code": 429, "message": "You exceeded your current quota.", "details": details}}
    reply = Reply(body=[json.dumps(error).encode()], status=429, content_type="application/json", done=False)
    with MockServer([reply, form.answer()]) as server:
        told = ask(server, form.model, USER)
    is_good(told)
    assert told.waits[0] >= 9
    form = FORMS["responses"]
    with MockServer([form.broken("rate_limit_exceeded", "Please try again in 8.5s."), form.answer()]) as server:
        told = ask(server, form.model, USER)
    is_good(told)
    assert told.waits[0] >= 8.5


@both
def test_sp13_an_overflow_is_known_in_every_wording(form: Form) -> None:
    wordings = (
        "Your input exceeds the context window of this model.",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        "prompt is too long",
    )
    for words in wordings:
        for reply in (form.refusal(400, "invalid", words), form.broken("invalid", words, 400)):
            with MockServer([reply]) as server:
                told = ask(server, form.model, USER)
            assert (told.failure.kind, told.retries) == ("context_overflow", []), words
            assert len(server.requests) == 1
    with MockServer([form.refusal(413, "x", "Payload too large")]) as server:
        assert ask(server, form.model, USER).failure.kind == "context_overflow"
    with MockServer([form.length(1000), form.length(100)]) as server:
        assert ask(server, form.model, USER).failure.kind == "context_overflow"
        assert ask(server, form.model, USER).parts[-1] == Done("length", "mock")
    limited = form.broken("rate_limit_exceeded", "Rate limit reached: tokens per min, context tokens 9", 429)
    with MockServer([limited, form.answer()]) as server:
        assert [failure.kind for failure in ask(server, form.model, USER).retries] == ["rate_limit"]


@both
def test_a_wrong_key_is_said_and_never_shown(form: Form) -> None:
    with MockServer([form.answer()], key="other") as server:
        told = ask(server, form.model, USER)
    assert told.failure.kind == "auth"
    assert "secret-key-1234" not in told.failure.message
    header = server.requests[0].headers
    assert header["x-goog-api-key" if form.model.api.startswith("google") else "authorization"].endswith(
        "secret-key-1234"
    )
    invalid = form.refusal(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.")
    with MockServer([invalid]) as server:
        assert ask(server, form.model, USER).failure.kind == "auth"


@both
def test_what_the_server_refuses_comes_through(form: Form) -> None:
    with MockServer() as server:
        told = ask(server, replace(form.model, compat={"extraBody": {"surprise": 1}}), USER)
    assert (told.failure.kind, told.failure.status) == ("bad_request", 400)
    assert isinstance(told.parts[-1], Failed)
    assert "surprise" in told.failure.message
