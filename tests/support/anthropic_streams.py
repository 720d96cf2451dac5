"""Streams of the Messages API in our own words, after the vendor's description of its events, and what each says.

Bytes as they come over the wire: event lines, pings, comments, unknown events, characters of several bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mock_provider.anthropic_replies import event

from zot_core.types.content import AssistantContent, Text, Thinking, ToolCall
from zot_core.types.failure import ErrorKind, StopReason
from zot_core.types.usage import Usage


@dataclass(frozen=True, kw_only=True)
class Stream:
    """One stream: its bytes, and what it is: content, how it ended (or which failure), usage."""

    name: str
    data: bytes
    content: tuple[AssistantContent, ...] = ()
    stop: StopReason = "end_turn"
    failure: ErrorKind | None = None
    usage: Usage | None = None


def start(**usage: Any) -> str:
    """The first event."""
    counts = {"input_tokens": 25, "output_tokens": 1, **usage}
    message = {
        "id": "msg_a",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "content": [],
        "usage": counts,
    }
    return event("message_start", message={**message, "stop_reason": None, "stop_sequence": None})


def opened(index: int, kind: str, **fields: Any) -> str:
    """A block begins."""
    return event("content_block_start", index=index, content_block={"type": kind, **fields})


def delta(index: int, kind: str, **fields: Any) -> str:
    """A block grows."""
    return event("content_block_delta", index=index, delta={"type": kind, **fields})


def closed(*indexes: int) -> str:
    """Blocks end."""
    return "".join(event("content_block_stop", index=index) for index in indexes)


def end(reason: str | None, stop: bool = True, details: Any = None, **usage: Any) -> str:
    """The last two events."""
    told: dict[str, Any] = {"stop_reason": reason, "stop_sequence": None}
    if details is not None:
        told["stop_details"] = details
    last = event("message_delta", delta=told, usage={"output_tokens": 12, **usage})
    return last + (event("message_stop") if stop else "")


def text(index: int, *pieces: str) -> str:
    """A whole block of text."""
    grown = "".join(delta(index, "text_delta", text=piece) for piece in pieces)
    return opened(index, "text", text="") + grown + closed(index)


def tool(index: int, call_id: str, name: str, *pieces: str) -> str:
    """A whole call."""
    grown = "".join(delta(index, "input_json_delta", partial_json=piece) for piece in pieces)
    return opened(index, "tool_use", id=call_id, name=name, input={}) + grown + closed(index)


PING = event("ping")
PLAIN = Usage(input=25, output=12)

STREAMS = [
    Stream(
        name="text",
        data=(start() + PING + text(0, "Grüß ", "Gott 👋", " – fine.") + end("end_turn")).encode(),
        content=(Text("Grüß Gott 👋 – fine."),),
        usage=PLAIN,
    ),
    Stream(
        name="one call after text",
        data=(
            start()
            + text(0, "I look.")
            + tool(1, "toolu_1", "read", "", '{"pa', 'th": "日本 🙂', '.txt"}')
            + end("tool_use")
        ).encode(),
        content=(Text("I look."), ToolCall("toolu_1", "read", {"path": "日本 🙂.txt"}, '{"path": "日本 🙂.txt"}')),
        stop="tool_use",
        usage=PLAIN,
    ),
    Stream(
        name="a call without arguments",
        data=(start() + tool(0, "toolu_1", "now") + end("tool_use")).encode(),
        content=(ToolCall("toolu_1", "now", {}, ""),),
        stop="tool_use",
        usage=PLAIN,
    ),
    Stream(
        name="calls interleaved by index",
        data=(
            start()
            + opened(0, "tool_use", id="toolu_1", name="read", input={})
            + opened(1, "tool_use", id="toolu_2", name="bash", input={})
            + delta(0, "input_json_delta", partial_json='{"path"')
            + delta(1, "input_json_delta", partial_json='{"command": "l')
            + PING
            + delta(0, "input_json_delta", partial_json=': "x"}')
            + delta(1, "input_json_delta", partial_json='s"}')
            + closed(1, 0)
            + end("tool_use")
        ).encode(),
        content=(
            ToolCall("toolu_1", "read", {"path": "x"}, '{"path": "x"}'),
            ToolCall("toolu_2", "bash", {"command": "ls"}, '{"command": "ls"}'),
        ),
        stop="tool_use",
        usage=PLAIN,
    ),
    Stream(
        name="thinking around calls",
        data=(
            start(cache_read_input_tokens=900, cache_creation_input_tokens=50)
            + opened(0, "thinking", thinking="", signature="")
            + delta(0, "thinking_delta", thinking="Erst ")
            + delta(0, "thinking_delta", thinking="schauen…")
            + delta(0, "signature_delta", signature="c2ln")
            + delta(0, "signature_delta", signature="bmF0dXI=")
            + closed(0)
            + opened(1, "redacted_thinking", data="b3BhcXVl")
            + closed(1)
            + tool(2, "toolu_1", "ls", "{}")
            + opened(3, "thinking", thinking="", signature="")
            + delta(3, "signature_delta", signature="YWxsZWlu")
            + closed(3)
            + tool(4, "toolu_2", "ls", '{"path": "b"}')
            + end("tool_use", output_tokens=40)
        ).encode(),
        content=(
            Thinking("Erst schauen…", "c2lnbmF0dXI="),
            Thinking("", "b3BhcXVl", redacted=True),
            ToolCall("toolu_1", "ls", {}, "{}"),
            Thinking("", "YWxsZWlu"),
            ToolCall("toolu_2", "ls", {"path": "b"}, '{"path": "b"}'),
        ),
        stop="tool_use",
        usage=Usage(input=25, output=40, cache_read=900, cache_write=50),
    ),
    Stream(
        name="a tool that the server runs",
        data=(
            start()
            + text(0, "Searching.")
            + opened(1, "server_tool_use", id="srvtoolu_1", name="web_search", input={})
            + delta(1, "input_json_delta", partial_json='{"query": "x"}')
            + closed(1)
            + opened(2, "web_search_tool_result", tool_use_id="srvtoolu_1", content=[])
            + closed(2)
            + opened(3, "text", text="")
            + delta(3, "citations_delta", citation={"type": "web_search_result_location"})
            + delta(3, "text_delta", text="Found.")
            + closed(3)
            + end("end_turn")
        ).encode(),
        content=(Text("Searching."), Text("Found.")),
        usage=PLAIN,
    ),
    Stream(
        name="noise",
        data=(
            ": a comment\n\nretry: 3\n\n"
            + event("greeting", hello=1)
            + start()
            + "data: keep-alive\n\n"
            + event("content_block_delta", index=7)
            + event("content_block_delta", index=0, delta={"type": "aura_delta", "aura": "blue"})
            + opened(0, "text", text="", extra=[1])
            + delta(0, "text_delta", text="ok")
            + event("content_block_start", index=1, content_block=None)
            + "data: null\n\ndata: [DONE]\n\n"
            + closed(0)
            + end("stop_sequence")
            + event("content_block_delta", index=0, delta={"type": "text_delta", "text": "late"})
        ).encode(),
        content=(Text("ok"),),
        usage=PLAIN,
    ),
    Stream(
        name="line ends of another kind, the last ones missing",
        data=(start() + text(0, "a\r\nb ", "✓") + end("end_turn")).replace("\n", "\r\n").strip().encode(),
        content=(Text("a\r\nb ✓"),),
        usage=PLAIN,
    ),
    Stream(
        name="the end of the body right after the reason",
        data=(start() + text(0, "all") + end("end_turn", stop=False)).encode(),
        content=(Text("all"),),
        usage=PLAIN,
    ),
    Stream(
        name="a compatible server that starts blocks full and counts at the end",
        data=(
            event("message_start", message={"model": "m"})
            + opened(0, "thinking", thinking="hm")
            + opened(1, "text", text="So: ")
            + delta(1, "text_delta", text="yes")
            + opened(2, "tool_use", id="1", name="read", input={"path": "x"})
            + end("tool_use", input_tokens=7)
        ).encode(),
        content=(Thinking("hm"), Text("So: yes"), ToolCall("1", "read", {"path": "x"}, '{"path": "x"}')),
        stop="tool_use",
        usage=Usage(input=7, output=12),
    ),
    Stream(
        name="cut by the output limit within a call",
        data=(
            start()
            + text(0, "Writing.")
            + tool(1, "toolu_1", "write", '{"path": "a", "content": "hal')
            + end("max_tokens")
        ).encode(),
        content=(Text("Writing."), ToolCall("toolu_1", "write", None, '{"path": "a", "content": "hal')),
        stop="length",
        usage=PLAIN,
    ),
    Stream(
        name="cut by the window",
        data=(start() + text(0, "As I was say") + end("model_context_window_exceeded")).encode(),
        content=(Text("As I was say"),),
        stop="length",
        usage=PLAIN,
    ),
    Stream(
        name="no room for a word",
        data=(start() + end("model_context_window_exceeded")).encode(),
        failure="context_overflow",
        usage=PLAIN,
    ),
    Stream(
        name="a pause",
        data=(start() + text(0, "One moment") + end("pause_turn")).encode(),
        content=(Text("One moment"),),
        stop="length",
        usage=PLAIN,
    ),
    Stream(
        name="a refusal",
        data=(
            start()
            + text(0, "Well")
            + end("refusal", details={"type": "refusal", "category": "cyber", "explanation": "not this"})
        ).encode(),
        content=(Text("Well"),),
        failure="refused",
        usage=PLAIN,
    ),
    Stream(
        name="overloaded within the stream",
        data=(
            start()
            + opened(0, "text", text="")
            + delta(0, "text_delta", text="Hel")
            + event("error", error={"type": "overloaded_error", "message": "Overloaded"})
        ).encode(),
        content=(Text("Hel"),),
        failure="overloaded",
        usage=Usage(input=25, output=1),
    ),
    Stream(
        name="cut off",
        data=(start() + opened(0, "text", text="") + delta(0, "text_delta", text="Hel")).encode(),
        content=(Text("Hel"),),
        failure="network",
        usage=Usage(input=25, output=1),
    ),
]
