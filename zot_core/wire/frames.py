"""The frames of the extension protocol, both directions: one JSON object a line, `type` says which.

The same word may mean different frames in the two directions, so each direction has classes of its own. What an
extension sends is checked without conversions, unknown fields are let be, null counts as missing. `framing.py` reads
and writes the lines; the descriptions here are the reference's.
"""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator

PROTOCOL_VERSION = 1
MAX_FRAME = 4 << 20
"""Bytes of a frame, its LF included, in either direction."""
MAX_PROMPT = 1 << 20
"""Bytes of an encoded `system_prompt` in an answer."""
EVENTS = ("session_start", "turn_start", "turn_end", "tool_call", "tool_confirmation_requested", "assistant_message")
"""What an extension may observe."""
INTERCEPTS = ("before_agent_start", "tool_call", "turn_start", "assistant_message")
"""What an extension may answer to."""
ACTIONS = ("prompt", "insert", "display", "open_panel", "noop")
LEVELS = ("info", "success", "warn", "error")


class _Frame(BaseModel):
    type: ClassVar[str] = ""


class FromExtension(_Frame):
    """A frame that an extension sends."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, protected_namespaces=())


class ToExtension(_Frame):
    """A frame that zot sends."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())


def _missing(empty: Any) -> BeforeValidator:
    """Null counts as missing, as it does for the decoders that extensions were written against."""
    return BeforeValidator(lambda value: empty() if value is None else value)


Str = Annotated[str, _missing(str)]
Flag = Annotated[bool, _missing(bool)]
Strs = Annotated[list[str], _missing(list)]


# --- extension to zot ---------------------------------------------------------------------------------------------


class Hello(FromExtension):
    """The first frame; everything before it is skipped."""

    type: ClassVar[str] = "hello"
    name: str = Field(description="Must be the manifest's `name`.")
    version: Str = Field(default="", description="Shown by `zot ext doctor`.")
    capabilities: Annotated[list[Any], _missing(list)] = Field(
        default=[], description="What it may do: `commands`, `tools`, `panels`. For information."
    )


class RegisterCommand(FromExtension):
    """A slash command. Names are matched whatever their case; the first of a name stays."""

    type: ClassVar[str] = "register_command"
    name: str = Field(description="Without the slash; `command_invoked` says it in this spelling.")
    description: Str = Field(default="", description="Shown in menus and by /help.")


class RegisterTool(FromExtension):
    """A tool that models may call. A built-in of the same name stays, and so does the first of two extensions'."""

    type: ClassVar[str] = "register_tool"
    name: str = Field(description="Letters, digits, `_` and `-`, at most 64.")
    description: Str = Field(default="", description="What the model is told.")
    schema_: Annotated[dict[str, Any], _missing(dict)] = Field(
        default={},
        alias="schema",
        description="A JSON Schema of type object for the arguments. Checking them is the tool's.",
    )
    deferred: Flag = Field(default=False, description="Not offered until the result of another tool names it.")


class Subscribe(FromExtension):
    """What it wants to be told, and what it wants to be asked."""

    type: ClassVar[str] = "subscribe"
    events: Strs = Field(default=[], description="Events to be told: `" + "`, `".join(EVENTS) + "`.")
    intercept: Strs = Field(default=[], description="Events to be asked about: `" + "`, `".join(INTERCEPTS) + "`.")


class Ready(FromExtension):
    """All that is registered at the start has been sent."""

    type: ClassVar[str] = "ready"


class TextBlock(BaseModel):
    """A piece of text."""

    model_config = ConfigDict(strict=True, frozen=True)
    type: Literal["text"]
    text: str


class ImageBlock(BaseModel):
    """A picture."""

    model_config = ConfigDict(strict=True, frozen=True)
    type: Literal["image"]
    mime_type: str = Field(pattern="^image/", description="Such as `image/png`.")
    data: str = Field(min_length=1, description="Its bytes in base64.")

    @field_validator("data")
    @classmethod
    def _decodes(cls, value: str) -> str:
        try:
            base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError) as error:
            raise ValueError(f"is not base64: {error}") from None
        return value


Block: TypeAlias = Annotated[TextBlock | ImageBlock, Field(discriminator="type")]


class ToolResult(FromExtension):
    """The answer to `tool_call`, within 60 s."""

    type: ClassVar[str] = "tool_result"
    id: str = Field(description="The call's.")
    content: Annotated[list[Block], _missing(list)] = Field(
        default=[],
        description='Blocks `{"type":"text","text"}` and `{"type":"image","mime_type","data"}`, the latter in base64.',
    )
    is_error: Flag = Field(default=False, description="The call failed; the content says how.")
    activate_tools: Strs = Field(
        default=[], description="Deferred tools to offer from now on; unknown names are let be."
    )


class PanelContent(FromExtension):
    """What a panel shows."""

    id: str = Field(description="Its own name for the panel.")
    title: Str = ""
    lines: Strs = []
    footer: Str = ""


class CommandResponse(FromExtension):
    """The answer to `command_invoked`, within 30 s. A non-empty `error` is shown whatever the action."""

    type: ClassVar[str] = "command_response"
    id: str = Field(description="The command's.")
    action: Str = Field(
        default="", description="`" + "`, `".join(ACTIONS) + "`; what it needs is in the field of its name."
    )
    prompt: Str = Field(default="", description="Sent as a message of the person's; the model answers it.")
    insert: Str = Field(default="", description="Put into the editor at the cursor, not sent.")
    display: Str = Field(default="", description="Shown as a note; no part of the conversation.")
    open_panel: PanelContent | None = Field(
        default=None, description="A panel to open: `id`, `title`, `lines`, `footer`."
    )
    error: Str = Field(default="", description="What went wrong, for the person.")


class InterceptResponse(FromExtension):
    """The answer to `event_intercept`, within 5 s. What is left out changes nothing."""

    type: ClassVar[str] = "event_intercept_response"
    id: str = Field(description="The request's.")
    block: Flag = Field(default=False, description="Refuses it; `before_agent_start` cannot be refused.")
    reason: Str = Field(default="", description="Why: to the model for `tool_call`, else to the person.")
    modified_args: Any = Field(
        default=None, description="For `tool_call`: the arguments in the place of its own, an object."
    )
    replace_text: Str | None = Field(default=None, description="For `assistant_message`: what people see in its place.")
    system_prompt: Any = Field(
        default=None,
        description='For `before_agent_start`: the whole prompt in the place of the present one; "" removes it.',
    )
    oversized_prompt: ClassVar[bool] = False

    @property
    def has_prompt(self) -> bool:
        """Whether it says anything of the prompt; an empty one removes it, so truth is no test."""
        return "system_prompt" in self.model_fields_set


class OversizedPrompt(InterceptResponse):
    """An answer whose encoded `system_prompt` is over MAX_PROMPT; read as such, never sent under this name."""

    oversized_prompt: ClassVar[bool] = True


class Submit(FromExtension):
    """A prompt as if the person had typed it. Interactive mode only; elsewhere, and when blank, it is ignored."""

    type: ClassVar[str] = "submit"
    text: str


class PanelRender(FromExtension):
    """Other content for an open panel; title and footer stay when they are left out."""

    type: ClassVar[str] = "panel_render"
    panel_id: str
    title: str | None = None
    lines: Strs = []
    footer: str | None = None


class ClosePanel(FromExtension):
    """Closes a panel of its own."""

    type: ClassVar[str] = "panel_close"
    panel_id: str


class Notify(FromExtension):
    """A note for the person, shown until their next prompt."""

    type: ClassVar[str] = "notify"
    level: Str = Field(default="info", description="`" + "`, `".join(LEVELS) + "`.")
    message: str


class ClearNotes(FromExtension):
    """Takes back the notes that this extension showed, nobody else's."""

    type: ClassVar[str] = "clear_notes"


class ShutdownAck(FromExtension):
    """The answer to `shutdown`; the process should end promptly after it."""

    type: ClassVar[str] = "shutdown_ack"


INCOMING: dict[str, type[FromExtension]] = {
    frame.type: frame
    for frame in (
        Hello,
        RegisterCommand,
        RegisterTool,
        Subscribe,
        Ready,
        ToolResult,
        CommandResponse,
        InterceptResponse,
        Submit,
        PanelRender,
        ClosePanel,
        Notify,
        ClearNotes,
        ShutdownAck,
    )
}
"""What an extension may send, by `type`."""


# --- zot to extension ---------------------------------------------------------------------------------------------


class Request(ToExtension):
    """A frame that wants an answer with its `id`."""

    id: str


class HelloAck(ToExtension):
    """The answer to `hello`, at once."""

    type: ClassVar[str] = "hello_ack"
    protocol_version: int = PROTOCOL_VERSION
    zot_version: str
    provider: str = Field(description="Of the model in use; empty while none is chosen.")
    model: str
    cwd: str = Field(description="The person's project; the process itself runs in the extension's folder.")
    extension_dir: str
    data_dir: str = Field(description="Where the extension may keep its state.")


class CommandInvoked(Request):
    """The person ran one of its commands."""

    type: ClassVar[str] = "command_invoked"
    name: str = Field(description="In the spelling of `register_command`.")
    args: str = Field(description="What was typed after the name, trimmed.")


class ToolCall(Request):
    """A model called one of its tools."""

    type: ClassVar[str] = "tool_call"
    name: str
    args: dict[str, Any] = Field(description="As the model wrote them, unchecked.")


class Event(ToExtension):
    """Something that it subscribed to happened. No answer is expected."""

    type: ClassVar[str] = "event"
    event: str
    step: int | None = Field(default=None, description="`turn_start`: from 1 in each prompt.")
    stop: str | None = Field(
        default=None, description="`turn_end`: `end_turn`, `tool_use`, `length`, `error`, `aborted`, …"
    )
    error: str | None = Field(default=None, description="`turn_end`: what went wrong.")
    tool_id: str | None = None
    tool_name: str | None = None
    tool_args: dict[str, Any] | None = None
    tool_preview: str | None = Field(
        default=None, description="`tool_confirmation_requested`: what the person is shown."
    )
    text: str | None = Field(default=None, description="`assistant_message`: what the model said.")


class EventIntercept(Request):
    """Something is about to happen, and the extension may change or refuse it."""

    type: ClassVar[str] = "event_intercept"
    event: str
    step: int | None = Field(default=None, description="`turn_start`.")
    tool_id: str | None = Field(default=None, description="`tool_call`, with `tool_name` and `tool_args`.")
    tool_name: str | None = None
    tool_args: dict[str, Any] | None = None
    text: str | None = Field(
        default=None, description="`assistant_message`: the text as extensions before this one left it."
    )
    session_id: str | None = Field(default=None, description="`before_agent_start`, with all that follow.")
    agent_run_id: str | None = Field(
        default=None, description="Names one preparation of the prompt; another one, another id."
    )
    cwd: str | None = None
    provider: str | None = None
    model: str | None = None
    system_prompt: str | None = Field(default=None, description="As extensions before this one left it.")


class PanelKey(ToExtension):
    """A key that the person pressed while a panel of the extension had the focus."""

    type: ClassVar[str] = "panel_key"
    panel_id: str
    key: str
    text: str | None = Field(default=None, description="The character, for the key `rune`.")


class PanelClosed(ToExtension):
    """The person closed a panel."""

    type: ClassVar[str] = "panel_close"
    panel_id: str


class Shutdown(ToExtension):
    """Zot ends, or starts its extensions anew: answer `shutdown_ack` and end within 2 s."""

    type: ClassVar[str] = "shutdown"


OUTGOING: dict[str, type[ToExtension]] = {
    frame.type: frame
    for frame in (HelloAck, CommandInvoked, ToolCall, Event, EventIntercept, PanelKey, PanelClosed, Shutdown)
}
"""What zot sends, by `type`."""
