"""SP-09 and its kin: what a model said goes back to it to the letter, over resume and a change of model and format.

The strict servers know their own seals again, so every altered or misled one is refused; these tests want no refusal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest
from mock_provider import anthropic_replies as anthropic
from mock_provider import replies_google as google
from mock_provider import replies_responses as responses
from mock_provider.server import MockServer, Reply, calls
from mock_provider.server import text as chat_text
from support.format_talk import ask

from zot_core.session.session import Session
from zot_core.types.content import Image, Text
from zot_core.types.messages import AssistantMessage, Message, ToolResultMessage, UserMessage
from zot_core.types.specs import ModelSpec

PNG = Image("image/png", "iVBORw0KGgowMDAw")


@dataclass(frozen=True)
class Speaker:
    """A model of one format, and how its server answers."""

    model: ModelSpec
    calls: Callable[[str], Reply]
    says: Callable[[str], Reply]


def _responses_calls(mark: str) -> Reply:
    return responses.answer(
        responses.thought(f"First {mark}.", "Then.", item_id=f"rs_{mark}", model="gpt-r"),
        responses.message("I look.", item_id=f"msg_{mark}_of_rs_{mark}", phase="commentary"),
        responses.call(f"r{mark}a", "read", {"path": "ä"}, of=f"rs_{mark}"),
        responses.call(f"r{mark}b", "read", {"path": "b"}, of=f"rs_{mark}"),
        model="gpt-r",
    )


def _responses_says(mark: str) -> Reply:
    return responses.answer(
        responses.thought(item_id=f"rs_{mark}s", model="gpt-r"),
        responses.message("Done ", mark, item_id=f"msg_{mark}_of_rs_{mark}s", phase="final_answer"),
        model="gpt-r",
    )


def _google_calls(mark: str) -> Reply:
    sign = "gemini-4-neon"
    return google.answer(
        google.text("Hm ", thought=True),
        google.text("so.", thought=True, sign=sign),
        google.text("I look."),
        google.call("read", {"path": "ä"}, call_id=f"g{mark}", sign=sign),
        google.call("read", {"path": "b"}),
        model=sign,
    )


def _google_says(mark: str) -> Reply:
    return google.answer(google.text(f"Done {mark}"), google.text("", sign="gemini-4-neon"), model="gemini-4-neon")


SPEAKERS = {
    "responses": Speaker(
        ModelSpec(id="gpt-r", provider="o", api="openai-responses", reasoning=True, inputs=("text", "image")),
        _responses_calls,
        _responses_says,
    ),
    "google": Speaker(
        ModelSpec(
            id="gemini-4-neon",
            provider="g",
            api="google-generative-ai",
            reasoning=True,
            inputs=("text", "image"),
            thinking_levels={"off": None, "minimal": None},
            compat={"requiresThoughtSignature": True, "supportsMultimodalFunctionResponse": True},
        ),
        _google_calls,
        _google_says,
    ),
    "anthropic": Speaker(
        ModelSpec(id=anthropic.MODEL, provider="a", api="anthropic-messages", reasoning=True, inputs=("text", "image")),
        lambda mark: anthropic.answer(
            anthropic.think(f"First {mark}."),
            "I look.",
            anthropic.call("read", path="ä"),
            anthropic.call("read", path="b"),
        ),
        lambda mark: anthropic.answer(f"Done {mark}"),
    ),
    "chat": Speaker(
        ModelSpec(id="m", provider="c", api="openai-completions", inputs=("text", "image")),
        lambda mark: calls((f"c{mark}a", "read", {"path": "ä"}), (f"c{mark}b", "read", {"path": "b"}), say="I look."),
        lambda mark: chat_text("Done ", mark),
    ),
}


class Talk:
    """A conversation that is kept in a session, with servers that refuse whatever is not right."""

    def __init__(self, folder: Path, server: MockServer) -> None:
        self._session = Session.create(folder / "sessions", folder)
        self._server = server
        self._count = 0

    def resume(self) -> None:
        path = self._session.path
        self._session.close()
        assert path is not None
        self._session = Session.open(path)

    def turn(self, speaker: Speaker) -> None:
        """One turn: a question, two calls at once with their results, an answer."""
        self._count += 1
        mark = str(self._count)
        self._add(UserMessage(content=(Text(f"Question {mark}"),)))
        asked = self._request(speaker, speaker.calls(mark))
        assert len(asked.tool_calls) == 2
        for call in asked.tool_calls:
            content = (Text(f"of {call.name}"), PNG)
            self._add(ToolResultMessage(call_id=call.id, tool_name=call.name, content=content))
        said = self._request(speaker, speaker.says(mark))
        assert said.text == f"Done {mark}"

    def _request(self, speaker: Speaker, reply: Reply) -> AssistantMessage:
        self._server.replies.append(reply)
        told = ask(self._server, speaker.model, self._session.messages(), system="Be brief.", thinking="low")
        assert self._server.refusals == []
        assert told.message.failure is None
        self._add(told.message)
        return told.message

    def _add(self, message: Message) -> None:
        self._session.append_message(message)

    def close(self) -> None:
        self._session.close()


@pytest.fixture
def talk(tmp_path: Path) -> Any:
    with MockServer() as server:
        one = Talk(tmp_path, server)
        one.server = server  # type: ignore[attr-defined]
        yield one
        one.close()


@pytest.mark.parametrize("name", ["responses", "google"])
def test_to_the_letter_over_resume(talk: Any, name: str) -> None:
    speaker = SPEAKERS[name]
    talk.turn(speaker)
    talk.resume()
    talk.turn(speaker)
    field = "input" if name == "responses" else "contents"
    rows = [body[field] for body in talk.server.bodies]
    for before, after in pairwise(rows):
        assert after[: len(before)] == before  # and so the provider's cache holds
    if name == "responses":
        first = responses.thought("First 1.", "Then.", item_id="rs_1", model="gpt-r")["item"]
        assert rows[-1][1] == first
        assert [row.get("id") for row in rows[-1][1:5]] == ["rs_1", "msg_1_of_rs_1", "fc_r1a_of_rs_1", "fc_r1b_of_rs_1"]
        assert [row.get("phase") for row in rows[-1] if row.get("role") == "assistant"][:2] == [
            "commentary",
            "final_answer",
        ]
    else:
        sent = rows[-1][1]["parts"]
        assert sent[1] == google.text("so.", thought=True, sign="gemini-4-neon")
        assert sent[3] == google.call("read", {"path": "ä"}, call_id="g1", sign="gemini-4-neon")
        assert rows[-1][3]["parts"][-1] == google.text("", sign="gemini-4-neon")


@pytest.mark.parametrize("names", list(product(SPEAKERS, SPEAKERS)), ids="-".join)
def test_any_model_goes_on_with_what_any_other_said(talk: Any, names: tuple[str, str]) -> None:
    one, other = (SPEAKERS[name] for name in names)
    talk.turn(one)
    talk.turn(other)
    talk.resume()
    talk.turn(one)
    talk.turn(other)
    assert talk.server.refusals == []


@pytest.mark.parametrize(("name", "other_id"), [("responses", "gpt-r2"), ("google", "gemini-4-argon")])
def test_another_model_of_the_same_format_gets_no_foreign_seal(talk: Any, name: str, other_id: str) -> None:
    speaker = SPEAKERS[name]
    talk.turn(speaker)
    told = ask(_with(talk.server, speaker.says("9")), replace(speaker.model, id=other_id), _asked(talk))
    assert told.message.failure is None
    sent = str(talk.server.bodies[-1])
    assert "encrypted_content': 'gAAAA" not in sent
    assert google.call("read", {"path": "ä"}, call_id="g1", sign="gemini-4-neon")["thoughtSignature"] not in sent
    talk.turn(speaker)  # and back, with all of its own
    if name == "responses":
        thoughts = [row["id"] for row in talk.server.bodies[-1]["input"] if row["type"] == "reasoning"]
        assert thoughts == ["rs_1", "rs_1s", "rs_2"]


def _with(server: MockServer, reply: Reply) -> MockServer:
    server.replies.append(reply)
    return server


def _asked(talk: Any) -> list[Message]:
    return [*talk._session.messages(), UserMessage(content=(Text("And now?"),))]
