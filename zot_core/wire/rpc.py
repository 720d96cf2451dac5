"""The requests of `zot rpc`, one model a command: what they may carry, when they act, what answers them.

The reference page is made of this. `rpc_lines.py` makes requests of lines. Knows no process and no App.
"""

from __future__ import annotations

import binascii
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from zot_core.types.content import Image
from zot_core.types.panels import KEYS
from zot_core.types.specs import THINKING_LEVELS, ThinkingLevel

PROTOCOL_VERSION = 1
Id: TypeAlias = str | int | float
Acts: TypeAlias = Literal["at once", "in order", "in order, when idle"]
"""When a request acts: as soon as it is read, after those that came before it, or when moreover nothing runs."""


def _base64(text: str) -> str:
    try:
        data = binascii.a2b_base64(text, strict_mode=True)
    except (ValueError, binascii.Error):
        raise ValueError("it is not base64") from None
    if not data:
        raise ValueError("it is empty")
    return text


class Picture(BaseModel):
    """A picture that goes with a message."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    mime_type: Literal["image/png", "image/jpeg", "image/gif", "image/webp"] = Field(description="its type")
    data: Annotated[str, AfterValidator(_base64)] = Field(description="its bytes in base64")


class Request(BaseModel):
    """What all requests have in common. Fields that a command does not know are ignored, and its response says so."""

    # Built when first used: a client sends a few of them.
    model_config = ConfigDict(strict=True, extra="allow", frozen=True, defer_build=True)

    acts: ClassVar[Acts] = "in order"
    answer: ClassVar[str] = ""
    """The data of the response, in words for the reference page."""

    type: str
    id: Id | None = Field(default=None, description="echoed in the response")

    @property
    def ignored(self) -> list[str]:
        """Names of fields that the request has and its command does not know."""
        return list(self.model_extra or ())


class Hello(Request):
    """Introduces the client; has to be the first request where a token is asked for."""

    answer = "`protocol_version` 1, `version`, `provider`, `model`; the last two are null while no model is chosen"
    type: Literal["hello"]
    token: str = Field(default="", description="the value of `ZOTCORE_RPC_TOKEN`", repr=False)
    capabilities: list[str] = Field(default=[], description="`extension_events` asks for plugins' own events")


class _Said(Request):
    message: str = Field(description="the text; it may be empty if there are pictures")
    images: list[Picture] = Field(default=[], description="pictures, each with `mime_type` and `data` in base64")

    @model_validator(mode="after")
    def _says_something(self) -> _Said:
        if not self.message.strip() and not self.images:
            raise ValueError("the message is empty")
        return self

    def pictures(self) -> tuple[Image, ...]:
        """The pictures as the core takes them."""
        return tuple(Image(mime_type=one.mime_type, data=one.data) for one in self.images)


class Prompt(_Said):
    """Runs a prompt, or the slash command, skill or template that it begins with. While a run goes on it waits."""

    answer = "`started` true, when it starts; `queued` true with a `mode`, while a run goes on"
    type: Literal["prompt"]
    mode: Literal["queue", "steer", "follow_up"] = Field(
        default="queue", description="`steer` and `follow_up`: as those commands while a run goes on"
    )


class Steer(_Said):
    """Lets a message join the run after its present tools; without a run it is a prompt."""

    acts = "at once"
    answer = "`queued` true"
    type: Literal["steer"]


class FollowUp(_Said):
    """Lets a message follow when the run has nothing left to do; without a run it is a prompt."""

    acts = "at once"
    answer = "`queued` true"
    type: Literal["follow_up"]


class Abort(Request):
    """Ends the run. What had come of the answer stays, open calls get a result, then come `turn_end` and `done`."""

    acts = "at once"
    answer = (
        "`aborted`: whether something ran; `returned`: what had not been run and will not be, each with `kind` "
        "(`prompt`, `steer`, `follow_up`), `message`, and `id` and `images` if it had them"
    )

    type: Literal["abort"]


class Compact(Request):
    """Puts a summary in the place of the older part of the conversation."""

    acts = "in order, when idle"
    answer = "`started` true; then comes `compact_done`, or `compact_failed`"
    type: Literal["compact"]
    instructions: str = Field(default="", description="what the summary has to look at")


class GetState(Request):
    """How things are."""

    acts = "at once"
    answer = (
        "`provider`, `model`, `reasoning`, `cwd`, `session` (null while none is kept), `message_count`, `busy`, "
        "`queue` (texts that wait, as `prompts`, `steer`, `follow_up`), `usage` since the start"
    )

    type: Literal["get_state"]


class GetMessages(Request):
    """The conversation as people see it and as far as models see it."""

    acts = "at once"
    answer = "`messages`, each with `role` (`user`, `assistant`, `tool`, `custom`), `content`, `time`, `message_id`"
    type: Literal["get_messages"]


class GetModels(Request):
    """The models of the catalog; asks no server."""

    acts = "at once"
    answer = (
        "`models`, each with `id`, `provider`, `context_window`, `max_output`, `reasoning`, `usable` (a key is there)"
    )

    type: Literal["get_models"]


class GetCommands(Request):
    """The slash commands of plugins and extensions, then prompt templates and skills."""

    acts = "at once"
    answer = (
        "`commands`, each with `name`, `description`, `argument_hint`, `source` (`command` or `prompt`), "
        "`plugin`, `aliases`"
    )
    type: Literal["get_commands"]


class GetTools(Request):
    """The tools, those that are not offered included."""

    acts = "at once"
    answer = "`tools`, each with `name`, `description`, `parameters`, `active`, `plugin`"
    type: Literal["get_tools"]


class Clear(Request):
    """Starts a new session as `/new` does; the old file stays."""

    acts = "in order, when idle"
    answer = "the session: `id`, `path` (null while none is kept), `name`"
    type: Literal["clear"]


class SetModel(Request):
    """Chooses the model; during a run from its next model call on."""

    answer = "`provider`, `model`, `reasoning`"
    type: Literal["set_model"]
    model: str = Field(min_length=1, description="as after `--model`: id, `provider/id`, or `id:LEVEL`")
    provider: str = Field(default="", description="whose model it is")


class SetReasoning(Request):
    """Chooses how much the model thinks; during a run from its next model call on."""

    answer = "`reasoning`: the level that the model allows"
    type: Literal["set_reasoning"]
    level: ThinkingLevel = Field(description=" ".join(THINKING_LEVELS))


class Command(Request):
    """Runs a slash command of a plugin or an extension, also while a run goes on."""

    acts = "at once"
    answer = "nothing, when the command is over; a text that it returned comes as `ext_display`"
    type: Literal["command"]
    name: str = Field(pattern=r"^/?[^\s/]\S*$", description="with or without its `/`")
    args: str = Field(default="", description="what follows the name")


class NewSession(Request):
    """Starts a new session, which is kept in a file unless `--no-session` was given."""

    acts = "in order, when idle"
    answer = Clear.answer
    type: Literal["new_session"]


class SwitchSession(Request):
    """Goes on in another session."""

    acts = "in order, when idle"
    answer = Clear.answer
    type: Literal["switch_session"]
    path: str = Field(min_length=1, description="its file, or its id")


class Fork(Request):
    """Goes on in a copy of the session up to an entry. Before a prompt, the answer has its text as `editor_text`."""

    acts = "in order, when idle"
    answer = Clear.answer
    type: Literal["fork"]
    entry_id: str = Field(min_length=1, description="a `message_id`, say")
    position: Literal["before", "at"] = Field(default="before", description="whether the copy has the entry")


class GetTree(Request):
    """The session's tree. Not there yet: answered with success false."""

    acts = "at once"
    answer = "not there yet"
    type: Literal["get_tree"]


class Navigate(Request):
    """Makes another entry of the tree the place where the session goes on. Not there yet."""

    acts = "in order, when idle"
    answer = "not there yet"
    type: Literal["navigate"]
    entry_id: str = Field(min_length=1)


class SetSessionName(Request):
    """Names the session."""

    acts = "in order, when idle"
    answer = Clear.answer
    type: Literal["set_session_name"]
    name: str | None = Field(description="null takes the name away")


class Reload(Request):
    """Loads settings and plugins anew, or only extensions and their processes, and goes on with the same session."""

    acts = "in order, when idle"
    answer = "`loaded`: names; `failed`: `name` and `reason` of those that could not be loaded"
    type: Literal["reload"]
    what: Literal["all", "extensions"] = Field(default="all", description="`all` or `extensions`")


class ExtensionRequest(Request):
    """Asks the plugin that answers requests of this name."""

    answer = "what the plugin answers"
    type: Literal["extension_request"]
    name: str = Field(min_length=1, description="the name under which a plugin answers")
    data: Any = Field(default=None, description="JSON for the plugin")


class UiResponse(Request):
    """Answers a `ui_request`, with exactly one of `value`, `confirmed` and `cancelled`."""

    acts = "at once"
    answer = "nothing"
    type: Literal["ui_response"]
    request_id: str = Field(description="of the `ui_request`")
    value: Any = Field(default=None, description="what was chosen or typed")
    confirmed: bool | None = Field(default=None, description="yes or no, to `confirm` and `approve`")
    cancelled: Literal[True] | None = Field(default=None, description="true: the person dismissed it")
    reason: str = Field(default="", description="with a refused `approve`: why, for the model")

    @model_validator(mode="after")
    def _one_answer(self) -> UiResponse:
        given = self.model_fields_set & {"value", "confirmed", "cancelled"}
        if len(given) != 1 or any(getattr(self, name) is None for name in given):
            raise ValueError("exactly one of value, confirmed and cancelled is needed")
        return self


class PanelKey(Request):
    """A key for an open panel."""

    acts = "at once"
    answer = "nothing"
    type: Literal["panel_key"]
    panel_id: str = Field(description="of `panel_open`")
    key: str = Field(description=" ".join(KEYS))
    text: str = Field(default="", max_length=64, description="the character, with the key `rune`")

    @model_validator(mode="after")
    def _is_a_key(self) -> PanelKey:
        if self.key not in KEYS:
            raise ValueError(f"key is none of {', '.join(KEYS)}")
        if self.key == "rune" and not self.text:
            raise ValueError("the key rune needs the character as text")
        return self


class PanelClose(Request):
    """Closes a panel in the person's name."""

    acts = "at once"
    answer = "nothing"
    type: Literal["panel_close"]
    panel_id: str = Field(description="of `panel_open`")


class Ping(Request):
    """Asks whether zot is there."""

    acts = "at once"
    answer = "`pong` true"
    type: Literal["ping"]


REQUESTS: tuple[type[Request], ...] = (
    Hello,
    Prompt,
    Steer,
    FollowUp,
    Abort,
    Compact,
    GetState,
    GetMessages,
    GetModels,
    GetCommands,
    GetTools,
    Clear,
    SetModel,
    SetReasoning,
    Command,
    NewSession,
    SwitchSession,
    Fork,
    GetTree,
    Navigate,
    SetSessionName,
    Reload,
    ExtensionRequest,
    UiResponse,
    PanelKey,
    PanelClose,
    Ping,
)


def command_name(request: type[Request]) -> str:
    """The word in `type` that asks for it."""
    return str(request.model_fields["type"].annotation.__args__[0])  # type: ignore[union-attr]


COMMANDS: Mapping[str, type[Request]] = {command_name(one): one for one in REQUESTS}
