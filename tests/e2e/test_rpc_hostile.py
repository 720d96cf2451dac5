"""`zot rpc` with clients that send anything, read nothing, or die; and the token."""

from __future__ import annotations

import fcntl
import json
import random
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.rpc_client import ZOT, RpcClient

Start = Callable[..., RpcClient]
BAD_VALUES: tuple[Any, ...] = (None, 1, 1.5, "", "x\u0000y", True, [], {}, [[]], {"a": 1}, "x" * 3000)

FIELDS: dict[str, list[dict[str, Any]]] = {
    "hello": [{"token": 5}, {"capabilities": "extension_events"}, {"capabilities": [1]}],
    "prompt": [
        {},
        {"message": 5},
        {"message": None},
        {"message": "  "},
        {"message": "x", "mode": "now"},
        {"message": "x", "images": {}},
        {"message": "x", "images": [{}]},
        {"message": "x", "images": ["iVBORw0KGgo="]},
        {"message": "x", "images": [{"mime_type": "text/html", "data": "aGk="}]},
        {"message": "x", "images": [{"mime_type": "image/png", "data": "not base64!"}]},
        {"message": "x", "images": [{"mime_type": "image/png", "data": ""}]},
        {"message": "x", "images": [{"mime_type": "image/png", "data": 7}]},
    ],
    "steer": [{}, {"message": []}, {"message": ""}],
    "follow_up": [{}, {"message": {}}, {"message": "\n"}],
    "compact": [{"instructions": 5}],
    "set_model": [{}, {"model": ""}, {"model": 4}, {"model": "scripted", "provider": 1}, {"model": "no such model"}],
    "set_reasoning": [{}, {"level": "most"}, {"level": 3}],
    "command": [{}, {"name": ""}, {"name": "a b"}, {"name": "/"}, {"name": 1}, {"name": "x", "args": []}],
    "switch_session": [{}, {"path": ""}, {"path": 1}, {"path": "/no/such/file.jsonl"}],
    "fork": [{}, {"entry_id": 1}, {"entry_id": "nothing"}, {"entry_id": "x", "position": "after"}],
    "navigate": [{}, {"entry_id": None}],
    "set_session_name": [{}, {"name": 4}],
    "reload": [{"what": "everything"}, {"what": None}],
    "extension_request": [{}, {"name": ""}, {"name": 1}, {"name": "nobody"}],
    "ui_response": [{}, {"request_id": 1, "value": "x"}, {"request_id": "x"}, {"request_id": "x", "value": "y"}],
    "panel_key": [{}, {"panel_id": "x", "key": "up"}, {"panel_id": "x", "key": "F1"}, {"panel_id": 1, "key": "up"}],
    "panel_close": [{}, {"panel_id": "x"}, {"panel_id": []}],
    "shutdown": [{}],
    "": [{}],
}


def test_wrong_fields_of_every_command_are_refused_one_by_one(rpc: Start) -> None:
    client = rpc()
    for command, rows in FIELDS.items():
        for fields in rows:
            error = client.refused(command, **fields)
            assert error and client.seen[-1]["command"] == command, (command, fields)
    assert client.ok("ping") == {"pong": True}
    assert client.close() == 0


LINES: tuple[bytes, ...] = (
    b"",
    b"   ",
    b"null",
    b"[]",
    b"42",
    b'"prompt"',
    b"true",
    b"{",
    b"}",
    b'{"type":"ping"',
    b'{"type":}',
    b"{'type':'ping'}",
    b"\xff\xfe\x00",
    b"\x00" * 100,
    b'{"type":"ping","id":NaN}',
    b'{"type":"ping","id":1e999}',
    b'{"type":"ping","id":' + b"9" * 5000 + b"}",
    b'{"type":"ping","id":[1]}',
    b'{"type":"ping","id":true}',
    b'{"type":5}',
    b'{"type":null}',
    b'{"id":1}',
    b"[" * 200_000,
    b'{"a":' * 200_000,
    b'{"type":"' + b"x" * 100_000 + b'"}',
)


def test_lines_that_are_no_request_get_a_response_each(rpc: Start) -> None:
    client = rpc()
    for line in LINES:
        client.write(line + b"\n")
        answer = client.next()
        assert answer["type"] == "response" and answer["success"] is False and answer["error"], line[:40]
    client.write(b'{"type":"ping","id":"crlf"}\r\n')
    assert client.next()["id"] == "crlf"
    assert client.close() == 0 and "Traceback" not in "".join(client.errors)


def test_random_bytes_never_end_the_process(rpc: Start) -> None:
    client, chance = rpc(), random.Random(7)
    for _ in range(30):
        client.write(chance.randbytes(3000).replace(b"\n", b"\r") + b"\n")
        assert client.next()["success"] is False
    words = [b'{"type":"', b"prompt", b'","message":', b"ping", b"[", b"1e5", b'"', b"}", b"\\ud800", b"{", b":", b","]
    for _ in range(300):
        client.write(b"".join(chance.choice(words) for _ in range(chance.randrange(1, 12))) + b"\n")
        assert client.next()["success"] is False
    for name in ("set_reasoning", "ui_response", "panel_key", "command", "extension_request", "switch_session"):
        for value in BAD_VALUES:
            fields = dict.fromkeys(("level", "request_id", "panel_id", "name", "path", "key", "value", "data"), value)
            assert client.call(name, **fields)["success"] is False
    assert client.ok("ping") == {"pong": True}


def test_unknown_fields_are_ignored_and_said(rpc: Start) -> None:
    client = rpc()
    assert client.call("ping", image=1, later=2)["ignored"] == ["image", "later"]
    assert "did you mean 'prompt'" in client.refused("promt", message="x")


def test_halves_of_characters_do_no_harm(zot: Any, rpc: Start) -> None:
    zot.script(["ok"])
    client = rpc()
    client.write(b'{"type":"prompt","message":"a\\ud83d b \\ud83d\\ude00"}\n')
    assert client.wait("user_message")["content"][0]["text"] == "a\ufffd b \U0001f600"
    client.wait("done")


@pytest.mark.time_limit(90)
def test_a_line_beyond_the_limit_is_skipped_and_the_next_one_counts(rpc: Start) -> None:
    client = rpc()
    client.write(b'{"type":"prompt","message":"')
    piece = b"x" * (1 << 20)
    for _ in range(65):
        client.write(piece)
    client.write(b'"}\n{"type":"ping","id":1}\n')
    refused = client.next()
    assert refused["success"] is False and "64 MiB" in refused["error"]
    assert client.response(1)["success"] is True


def test_a_picture_of_several_megabytes_goes_through(zot: Any, rpc: Start) -> None:
    zot.script(["seen"])
    client = rpc()
    data = "iVBORw0KGgoA" + "A" * (4 << 20)
    client.ok("prompt", message="look", images=[{"mime_type": "image/png", "data": data}])
    blocks = client.wait("user_message")["content"]
    assert blocks[1] == {"type": "image", "mime_type": "image/png", "bytes": len(data) * 3 // 4}
    client.wait("done")


# --- the token --------------------------------------------------------------------------------------------------------

TOKEN = {"ZOTCORE_RPC_TOKEN": "sesame-4711"}


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"hello","id":1}',
        b'{"type":"hello","id":1,"token":"sesame"}',
        b'{"type":"hello","id":1,"token":5}',
        b'{"type":"ping","id":1}',
        b'{"type":"prompt","id":1,"message":"x","token":"sesame-4711"}',
        b"garbage",
        b"",
    ],
)
def test_without_the_token_nothing_happens(rpc: Start, line: bytes, project: Path, plugin: Callable[..., str]) -> None:
    path = plugin("import pathlib\npathlib.Path('loaded').write_text('x')\n")
    client = rpc("--plugin", path, env=TOKEN)
    client.write(line + b'\n{"type":"ping","id":2}\n')
    assert client.ended() == 1
    assert len(client.seen) == 1 and client.seen[0]["success"] is False and "hello" in client.seen[0]["error"]
    assert not (project / "loaded").exists() and "sesame" not in "".join(client.errors) + json.dumps(client.seen)


def test_with_the_token_it_goes_on_and_no_child_sees_it(zot: Any, rpc: Start, zot_home: Path) -> None:
    zot.script([{"tool_call": {"id": "c1", "name": "bash", "args": {"command": "env"}}}], ["ok"])
    client = rpc(env=TOKEN)
    assert client.ok("hello", token="sesame-4711")["protocol_version"] == 1
    assert client.ok("hello")["protocol_version"] == 1
    client.ok("prompt", message="x")
    client.wait("done")
    environment = str(client.of("tool_result")[0]["content"])
    assert "PATH=" in environment and "ZOTCORE_RPC_TOKEN" not in environment
    assert client.close() == 0
    for file in zot_home.rglob("*"):
        assert not file.is_file() or b"sesame-4711" not in file.read_bytes()


# --- readers ----------------------------------------------------------------------------------------------------------


def waiting_bytes(client: RpcClient) -> int:
    """Bytes in the pipe that the client has not read."""
    assert client.process.stdout
    return int(struct.unpack("i", fcntl.ioctl(client.process.stdout, termios.FIONREAD, b"\0" * 4))[0])


def until(happened: Callable[[], bool]) -> None:
    """Polls for what has no event of its own."""
    end = time.monotonic() + 20
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_reader_that_comes_late_finds_every_delta(zot: Any, rpc: Start) -> None:
    pieces = [f"{number} " + "x" * 400 for number in range(10_000)]
    zot.script([{"text": pieces}])
    client = rpc(reading=False)
    client.send("prompt", message="x")
    until(lambda: waiting_bytes(client) > 60_000)
    client.write(b"".join(b'{"type":"ping","id":"p%d"}\n' % number for number in range(100)))
    client.read()
    client.wait("done")
    assert [line["delta"] for line in client.of("text_delta")] == pieces
    assert client.close() == 0
    assert [line["id"] for line in client.of("response")][1:] == [f"p{number}" for number in range(100)]


def test_a_run_waits_for_its_reader_and_an_abort_does_not(zot: Any, rpc: Start, plugin: Callable[..., str]) -> None:
    zot.script([{"text": ["x" * 1000] * 20_000}], ["after"])
    client = rpc(reading=False)
    client.send("prompt", message="x")
    until(lambda: waiting_bytes(client) > 60_000)
    abort = client.send("abort")
    client.send("get_state")
    client.read()
    client.wait("done")
    assert client.response(abort)["data"]["aborted"] is True
    assert client.of("turn_end")[-1]["stop"] == "aborted"
    assert 0 < len(client.of("text_delta")) < 5000
    client.ok("prompt", message="y")
    client.wait("done")


def test_a_reader_that_closes_its_end_ends_the_run(zot: Any, rpc: Start) -> None:
    zot.script([{"text": ["x" * 1000] * 20_000}])
    client = rpc(reading=False)
    assert client.process.stdout
    client.send("prompt", message="x")
    until(lambda: waiting_bytes(client) > 60_000)
    client.process.stdout.close()
    assert client.process.wait(20) == 1
    assert "Traceback" not in "".join(client.errors)


DIES = """
import json, subprocess, sys
zot = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
zot.stdin.write(b'{"type":"prompt","message":"x"}\\n')
zot.stdin.flush()
for line in zot.stdout:
    if b'"tool_call"' in line[:20]:
        print(zot.pid, flush=True)
"""


@pytest.mark.parametrize("command", ["echo $$ > pid; sleep 300", "echo $$ > pid; while :; do echo x; sleep 0.01; done"])
def test_a_client_that_is_killed_takes_everything_with_it(zot: Any, project: Path, command: str) -> None:
    zot.script([{"tool_call": {"id": "c1", "name": "bash", "args": {"command": command}}}], ["never"])
    client = subprocess.Popen([sys.executable, "-c", DIES, *ZOT, "rpc"], stdout=subprocess.PIPE)
    try:
        assert client.stdout
        server = int(client.stdout.readline())
        until(lambda: (project / "pid").exists() and bool((project / "pid").read_text().strip()))
        tool = int((project / "pid").read_text())
    finally:
        client.send_signal(signal.SIGKILL)
        client.wait()
        assert client.stdout
        client.stdout.close()
    until(lambda: not alive(server) and not alive(tool))


def alive(pid: int) -> bool:
    """Whether the process runs; one that only waits to be collected does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_start_that_fails_is_told_on_both_ways(zot: Any) -> None:
    for argv, code in ((["rpc", "--bogus"], 2), (["rpc", "a", "prompt"], 2), (["rpc", "--json"], 2)):
        done = zot(*argv, text="")
        assert done.code == code and done.err.startswith("zot: ")
        assert all(json.loads(line)["type"] == "error" for line in done.out.splitlines())
    assert zot("-p", "rpc").code != 2  # a prompt


def test_a_signal_ends_a_run_whose_reader_does_not_read(zot: Any, rpc: Start) -> None:
    zot.script([{"text": ["x" * 1000] * 20_000}])
    client = rpc(reading=False)
    client.send("prompt", message="x")
    until(lambda: waiting_bytes(client) > 60_000)
    client.process.send_signal(signal.SIGTERM)
    assert client.process.wait(15) == 143
    assert "Traceback" not in "".join(client.errors)


def test_requests_from_the_docs(zot: Any) -> None:
    path = Path(__file__).parents[2] / "examples" / "rpc" / "requests.jsonl"
    zot.script(["hello"])
    done = zot("rpc", text=path.read_text(encoding="utf-8"))
    assert done.code == 0 and {event["id"] for event in done.events if event["type"] == "response"} == {1, 2, 3}
