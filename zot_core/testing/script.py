"""Scripts for the scripted provider, written in Python: what a model says, call by call.

Makes the file that the provider reads and knows nothing of how it is played.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


class Script:
    """Replies of a model, one for each model call. Methods add a step to the reply at hand and give the script back;
    `then()` begins the next reply.

        Script().tool_call("bash", command="ls").then().text("Three files.")
    """

    def __init__(self) -> None:
        self.replies: list[list[dict[str, Any]]] = [[]]

    def _step(self, key: str, value: Any, **more: Any) -> Script:
        self.replies[-1].append({key: value, **more})
        return self

    def text(self, *fragments: str) -> Script:
        """Text, streamed in these fragments."""
        return self._step("text", list(fragments))

    def thinking(self, *fragments: str, signature: str = "") -> Script:
        """Thinking, streamed in these fragments, signed if `signature` is given."""
        return self._step("thinking", list(fragments), **({"signature": signature} if signature else {}))

    def tool_call(self, tool: str, /, call_id: str = "", **args: Any) -> Script:
        """A call of `tool`; several in one reply are parallel calls. `call_id` is made up when empty."""
        return self.call(tool, args, call_id=call_id)

    def call(self, tool: str, args: Mapping[str, Any], *, call_id: str = "") -> Script:
        """`tool_call` for arguments whose names are no Python names."""
        call: dict[str, Any] = {"name": tool, "args": dict(args)}
        return self._step("tool_call", {**call, "id": call_id} if call_id else call)

    def raw_call(self, tool: str, *fragments: str, call_id: str = "") -> Script:
        """A call whose arguments are this text, valid JSON or not, in these fragments."""
        call: dict[str, Any] = {"name": tool, "raw": list(fragments)}
        return self._step("tool_call", {**call, "id": call_id} if call_id else call)

    def usage(self, **tokens: float) -> Script:
        """Usage: input, output, cache_read, cache_write, cost."""
        return self._step("usage", tokens)

    def delay(self, seconds: float) -> Script:
        """Waits; for what can be told only in time. A test that waits for luck is none."""
        return self._step("delay", seconds)

    def hang(self) -> Script:
        """Says nothing more until the call is cancelled."""
        return self._step("hang", True)

    def error(self, kind: str, message: str = "", **more: Any) -> Script:
        """Ends the reply with a failure; `more` may say status, retryable and retry_after."""
        return self._step("error", {"kind": kind, **({"message": message} if message else {}), **more})

    def cut(self) -> Script:
        """Ends the reply as a broken connection does."""
        return self._step("cut", True)

    def finish(self, reason: str) -> Script:
        """Ends the reply with this stop reason, such as `length`."""
        return self._step("finish", reason)

    def then(self) -> Script:
        """The steps from here on are the next reply."""
        self.replies.append([])
        return self

    def write(self, path: Path) -> Path:
        """Writes the script's file, for `--script` or ZOT_SCRIPT; gives the path back."""
        path.write_text(json.dumps({"replies": self.replies}, indent=1) + "\n", encoding="utf-8")
        return path
