"""Extensions that misbehave in every way we know, as real processes under the installed command.

A row is a program and what must come of it: the turn ends well and within its limit, nothing is left running, and the
log, the person and, where it called a tool, the model know why.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.chaos import (
    ANSWER,
    FINE,
    GREETED,
    NO_COMPACTION,
    SHORT,
    SLEEPER,
    TOOL,
    Chaos,
    finish,
    needs_proc,
    on_ask,
    on_call,
    one_call,
    start,
)

from zot_core.testing import Script

pytestmark = needs_proc

# --- starting ---------------------------------------------------------------------------------------------------------

NOTHING = ["There is no tool named 'weather'"]
LATE = f"""
hello()
emit("register_tool", name="first", description="f", schema={{"type": "object"}}); emit("ready")
for frame in frames():
    if frame["name"] == "first": {TOOL}
    {ANSWER}
"""
UNTIL_MISSED = """
log = os.path.join(os.path.dirname(HERE), "home", "logs", "ext-wild.log")
while b"is not ready" not in open(log, "rb").read(): time.sleep(0.01)
"""
STARTING = [
    Chaos(
        "never says hello",
        "time.sleep(600)",
        log=["is not ready 3 s after its start"],
        err=["is not ready 3 s after its start; requests go without it", "{log}"],
        result=NOTHING,
        clocks=3.0,
    ),
    Chaos(
        "says hello and nothing more",
        "hello(); time.sleep(600)",
        log=["3 s after its"],  # which of the two clocks is first, is luck
        err=["3 s after its", "{log}"],
        result=NOTHING,
        clocks=3.0,
    ),
    Chaos(
        "starts slowly: the first request goes without its tool, the next has it",
        f"{UNTIL_MISSED}{FINE}",
        replies=Script().delay(1.5).tool_call("ls", path=".").then().tool_call("weather").then().text("Done."),
        log=["is not ready 3 s after its start", "ready after 3.", "1 tools"],
        err=["is not ready 3 s after its start; requests go without it", "{log}"],
        clocks=4.0,
    ),
    Chaos(
        "exits before its hello",
        "sys.stderr.write('I cannot\\n'); sys.exit(3)",
        log=["I cannot", "it exited with status 3 before its hello"],
        err=["it exited with status 3 before its hello", "{log}"],
        result=NOTHING,
    ),
    Chaos(
        "is killed before its hello",
        "os.kill(os.getpid(), signal.SIGKILL)",
        log=["it was ended by SIGKILL before its hello"],
        err=["it was ended by SIGKILL before its hello", "{log}"],
        result=NOTHING,
    ),
    Chaos(
        "says hello by another name",
        "hello(name='tame'); time.sleep(600)",
        log=["it says hello as 'tame', and its manifest names it 'wild'"],
        err=["it says hello as 'tame'", "{log}"],
        result=NOTHING,
    ),
    Chaos(
        "is refused, and ignores SIGTERM",
        f"signal.signal(15, signal.SIG_IGN); subprocess.Popen({SLEEPER})\nhello(name='tame')\n"
        "while True: time.sleep(600)",
        log=["it says hello as 'tame'", "it was ended by SIGKILL"],
        err=["it says hello as 'tame'", "{log}"],
        result=NOTHING,
    ),
    Chaos(
        "says a hello that is none, and exits",
        'raw(b\'{"type":"hello","name":7}\\n\'); sys.exit(0)',
        log=["a malformed `hello`", "it exited with status 0 before its hello"],
        err=["it exited with status 0 before its hello", "{log}"],
        result=NOTHING,
    ),
    Chaos(
        "exits between hello and ready",
        f"hello(); {TOOL}; sys.exit(0)",
        log=["it exited with status 0 before it was ready"],
        err=["it exited with status 0 before it was ready", "{log}"],
        result=["The extension wild could not be started: it exited with status 0 before it was ready (log: {log})"],
    ),
    Chaos(
        "cannot be started at all",
        "",
        manifest={"exec": "./nothing"},
        log=["there is no file"],
        err=["there is no file", "{log}"],
        result=NOTHING,
    ),
    Chaos(
        "registers and never says ready",
        FINE.replace("emit('ready')", "pass"),
        log=["auto-ready", "1 tools"],
    ),
    Chaos(
        "registers one more tool in a call: the next request has it",
        LATE,
        replies=Script().tool_call("first").then().tool_call("weather").then().text("Done."),
    ),
]

# --- noise ------------------------------------------------------------------------------------------------------------

NOISE = r"""
def noise():
    raw(b"banner\n\n   \nnull\n[]\n42\n\"text\"\n\xff\xfe\x00\x01\n\x80half\n")
    raw(b'{"no":"type"}\n{"type":7}\n{"type":"dance","id":"1"}\n{"type":"tool_call","id":"1","name":"weather"}\n')
    raw(b"[" * 200000 + b"\n" + b'{"type":' + b"9" * 6000 + b"}\n")
    raw(b'{"type":"notify","message":NaN}\n{"type":"notify","message":{}}\n{"type":"panel_render","panel_id":[]}\n')
    raw(b'{"type":"tool_result"}\n{"type":"tool_result","id":null}\n{"type":"command_response","id":"77"}\n')
    for number in range(300): raw(b"debug %d\n" % number)
"""
NOISY = [
    Chaos(
        "noise before its hello, between all frames and in a call",
        f"{NOISE}\nnoise(); hello(); noise(); {TOOL}; noise(); emit('ready'); noise()\n"
        f"for frame in frames():\n    noise()\n    if frame['type'] == 'tool_call': {ANSWER}\n    noise()\n",
        log=["is not JSON", "is not UTF-8", "but no object", "has no `type`", "'dance'", "malformed `notify`"],
        seen=lambda extension: extension.of("shutdown") != [],
    ),
    Chaos(
        "registrations of wrong types between good ones",
        "hello()\n"
        "for wrong in ({'name': 7}, {'name': 'a', 'schema': 'x'}, {'name': 'b', 'deferred': 'yes'}, {}):\n"
        "    emit('register_tool', **wrong)\n"
        "emit('register_command', name=None); emit('subscribe', events='tool_call', intercept={})\n"
        "emit('subscribe', events=['tool_call', 'lunch'], intercept=['turn_end'])\n"
        f"{TOOL}; emit('ready')\nfor frame in frames():\n    if frame['type'] == 'tool_call': {ANSWER}\n",
        log=["malformed `register_tool`", "malformed `register_command`", "'lunch' in `events`", "'turn_end' in `int"],
        seen=lambda extension: len(extension.of("event")) == 1,
    ),
    Chaos(
        "half a line at its end",
        on_call('raw(b\'{"type":"tool_result","id\'); sys.exit(0)'),
        log=["it exited with status 0"],
        err=["ended unexpectedly: it exited with status 0", "{log}"],
        result=["The extension wild is gone: it exited with status 0"],
    ),
    Chaos(
        "a frame in pieces, CRLF, a BOM, and line separators within strings",
        "raw(b'\\xef\\xbb\\xbf'); emit_ = emit\n"
        "def emit(type, **fields):\n"
        "    line = json.dumps({'type': type, **fields}, ensure_ascii=False).encode() + b'\\r\\n'\n"
        "    for at in range(0, len(line), 7): raw(line[at:at + 7])\n"
        + on_call("emit('tool_result', id=frame['id'], content=[{'type': 'text', 'text': 'a\\u2028b\\u2029c\\x85d'}])"),
        replies=one_call(city="x\u2028y\u2029z\x85\x0b\x1e"),
        seen=lambda extension: extension.of("tool_call")[0]["args"]["city"] == "x\u2028y\u2029z\x85\x0b\x1e",
    ),
    Chaos(
        "floods stdout with noise",
        f"{GREETED}while True: raw(b'x' * 1000 + b'\\n')",
        settings=SHORT,
        log=["is not JSON", "SIGTERM"],
        result=["did not answer within 0.3 s"],
    ),
    Chaos(
        "floods with frames that nobody asked for",
        f"{GREETED}while True: emit('tool_result', id='x', content=[])",
        settings=SHORT,
        log=["which nobody waits for"],
        result=["did not answer within 0.3 s"],
    ),
    Chaos(
        "floods stderr before its hello and in a call, without a line's end",
        "def flood():\n    for _ in range(50): os.write(2, b'e' * 100_000)\n"
        f"flood(); {GREETED}for frame in frames():\n    flood()\n    if frame['type'] == 'tool_call': {ANSWER}\n",
        log=["eeee"],
    ),
]

# --- sizes ------------------------------------------------------------------------------------------------------------

SIZES = [
    Chaos(
        "a frame over 4 MiB",
        on_call("emit('tool_result', id=frame['id'], content=[{'type': 'text', 'text': 'x' * (4 << 20)}])"),
        log=["it sent a frame over 4 MiB"],
        err=["it sent a frame over 4 MiB", "{log}"],
        result=["The extension wild is gone: it sent a frame over 4 MiB (log: {log})"],
    ),
    Chaos(
        "a frame over 4 MiB that never ends",
        on_call("\n        while True: raw(b'x' * 65536)"),
        log=["it sent a frame over 4 MiB"],
        err=["it sent a frame over 4 MiB", "{log}"],
        result=["it sent a frame over 4 MiB"],
    ),
    Chaos(
        "a system prompt over 1 MiB is not used, and the extension goes on",
        on_ask("before_agent_start", "answer(system_prompt='p' * (1 << 20))"),
        log=["its encoded `system_prompt` is over 1 MiB"],
        err=["its encoded `system_prompt` is over 1 MiB", "{log}"],
        seen=lambda extension: extension.of("tool_call") != [],
    ),
    Chaos(
        "is called with more than a frame holds: that call fails, the next one works",
        FINE,
        replies=Script().tool_call("weather", big="x" * (5 << 20)).then().text("Done."),
        settings=NO_COMPACTION,
        log=["bytes are over the limit of 4 MiB"],
        result=["was not asked: ", "over the limit of 4 MiB"],
        seen=lambda extension: extension.of("shutdown") != [],
    ),
]

# --- answers ----------------------------------------------------------------------------------------------------------

BATCH = Script().tool_call("weather").tool_call("weather").tool_call("weather").then().text("Done.")
ANSWERS = [
    Chaos(
        "never answers a call",
        on_call("pass"),
        settings=SHORT,
        log=["did not answer within 0.3 s"],
        result=["The extension wild did not answer within 0.3 s (log: {log})"],
    ),
    Chaos(
        "answers to another id",
        on_call("emit('tool_result', id='not ' + frame['id'], content=[])"),
        settings=SHORT,
        log=["which nobody waits for"],
        result=["did not answer within 0.3 s"],
    ),
    Chaos(
        "answers twice",
        on_call(f"{ANSWER}; {ANSWER}"),
        replies=Script().tool_call("weather").then().tool_call("weather").then().text("Done."),
        log=["which nobody waits for"],
    ),
    Chaos(
        "answers with wrong types",
        on_call("emit('tool_result', id=frame['id'], content='fog')"),
        result=["The extension wild gave an answer that is a malformed `tool_result`: content"],
    ),
    Chaos(
        "answers with a block of a kind that there is not",
        on_call("emit('tool_result', id=frame['id'], content=[{'type': 'sound', 'data': ''}])"),
        result=["malformed `tool_result`: content.0"],
    ),
    Chaos(
        "answers a call as if it were a command",
        on_call("emit('command_response', id=frame['id'], action='noop')"),
        result=["answered with a `command_response`, not a `tool_result`"],
    ),
    Chaos(
        "answers with a picture that is none",
        on_call(
            "emit('tool_result', id=frame['id'], content=[{'type': 'image', 'mime_type': 'image/png', 'data': '!'}])"
        ),
        result=["is not base64"],
    ),
    *(
        Chaos(
            f"answers {event} with {fields}",
            on_ask(event, f"answer({fields})"),
            log=[words],
            err=[words, "{log}"],
        )
        for event, fields, words in (
            ("tool_call", "block='yes'", "malformed `event_intercept_response`: block"),
            ("tool_call", "modified_args=['x']", "`modified_args` is a list, not an object"),
            ("turn_start", "block=1", "malformed `event_intercept_response`: block"),
            ("assistant_message", "replace_text=7", "malformed `event_intercept_response`: replace_text"),
            ("before_agent_start", "system_prompt=42", "`system_prompt` is a number, not text"),
            ("before_agent_start", "system_prompt=None", "`system_prompt` is null, not text"),
            ("before_agent_start", "block=True", "`block` does not stop it"),
        )
    ),
    *(
        Chaos(
            f"says of a command: {fields}",
            "hello(); emit('register_command', name='go'); emit('ready')\n"
            f"for frame in frames(): emit('command_response', id=frame['id'], {fields})\n",
            prompt="/go",
            code=1,
            answer="",
            err=["/go: the extension wild", words],
        )
        for fields, words in (
            ("action='dance'", "'dance', which is no action"),
            ("action=3", "malformed `command_response`"),
            ("action='prompt'", "'prompt' with nothing in it"),
            ("action='noop', error='no luck'", "says: no luck"),
        )
    ),
]

# --- dying ------------------------------------------------------------------------------------------------------------

DEATHS = [
    *(
        Chaos(
            f"dies in a call with others pending: {words}",
            f"{GREETED}for count, frame in enumerate(frames()):\n    if count == 2: {act}\n",
            replies=BATCH,
            log=[words],
            err=[f"ended unexpectedly: {words}", "{log}"],
            result=["\n".join([f"The extension wild is gone: {words} (log: {{log}})"] * 3)],
        )
        for act, words in (
            ("os._exit(7)", "it exited with status 7"),
            ("os.kill(os.getpid(), signal.SIGKILL)", "it was ended by SIGKILL"),
            ("os.kill(os.getpid(), signal.SIGSEGV)", "it was ended by SIGSEGV"),
        )
    ),
    *(
        Chaos(
            f"dies when asked about {event}",
            on_ask(event, "os._exit(1)"),
            replies=Script().tool_call("ls", path=".").then().text("Done."),
            log=[f"{event}: it is gone: it exited with status 1; it goes on unchanged"],
            err=["ended unexpectedly: it exited with status 1", "{log}"],
        )
        for event in ("before_agent_start", "turn_start", "tool_call", "assistant_message")
    ),
    Chaos(
        "dies in a command",
        "hello(); emit('register_command', name='go'); emit('ready')\nfor frame in frames(): os._exit(4)\n",
        prompt="/go",
        code=1,
        answer="",
        log=["it exited with status 4"],
        err=["/go: the extension wild is gone: it exited with status 4", "{log}"],
    ),
    Chaos(
        "closes stdout and lives",
        on_call("os.close(1); time.sleep(600)"),
        log=["it has closed its output"],
        err=["ended unexpectedly: it has closed its output", "{log}"],
        result=["The extension wild is gone: it has closed its output"],
    ),
    Chaos(
        "closes stdin and lives",
        on_call("os.close(0); time.sleep(600)"),
        settings=SHORT,
        log=["did not answer within 0.3 s"],
        err=["is told and asked nothing more, until extensions are reloaded: it has closed its input", "{log}"],
        replies=Script().tool_call("weather").then().tool_call("weather").then().text("Done."),
        result=["did not answer within 0.3 s", "cannot be reached: it has closed its input"],
    ),
    Chaos(
        "stops itself: neither TERM nor anything else reaches it",
        on_call("os.kill(os.getpid(), signal.SIGSTOP)"),
        settings=SHORT,
        log=["did not answer within 0.3 s", "no `shutdown_ack` within 2 s"],
        result=["did not answer within 0.3 s"],
    ),
]

# --- ending -----------------------------------------------------------------------------------------------------------

ENDINGS = [
    Chaos(
        "ignores shutdown and SIGTERM",
        f"signal.signal(15, signal.SIG_IGN); {GREETED}"
        f"for line in sys.stdin.buffer:\n    frame = json.loads(line)\n    if frame['type'] == 'tool_call': {ANSWER}\n"
        "while True: time.sleep(600)",
        log=["no `shutdown_ack` within 2 s of `shutdown`; it gets SIGTERM", "it was ended by SIGKILL"],
        clocks=3.0,
    ),
    Chaos(
        "answers shutdown and stays",
        f"{FINE}time.sleep(600)",
        log=["it did not end within 2 s of `shutdown`; it gets SIGTERM", "it was ended by SIGTERM"],
        clocks=2.0,
    ),
    Chaos(
        "leaves a child of its own behind, which holds its pipes and ignores SIGTERM",
        f"subprocess.Popen({SLEEPER})\n{FINE}",
    ),
    Chaos(
        "leaves one behind in a session of its own",
        f"subprocess.Popen({SLEEPER}, start_new_session=True)\n{FINE}",
    ),
    Chaos(
        "dies and leaves one behind that holds its pipes",
        on_call(f"subprocess.Popen({SLEEPER}, start_new_session=True); os._exit(0)"),
        log=["it exited with status 0"],
        err=["ended unexpectedly: it exited with status 0"],
        result=["The extension wild is gone: it exited with status 0"],
    ),
]
CASES = [*STARTING, *NOISY, *SIZES, *ANSWERS, *DEATHS, *ENDINGS]


@pytest.mark.parametrize("row", CASES, ids=lambda row: row.name)
def test_chaos(zot: Any, row: Chaos, tmp_path: Path) -> None:
    finish(start(zot, row, tmp_path / "row"))
