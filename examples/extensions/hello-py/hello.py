#!/usr/bin/env python3
"""The protocol by hand: say hello, wait for the answer, register, answer what is asked."""

import json
import sys


def emit(frame):
    sys.stdout.write(json.dumps(frame) + "\n")
    sys.stdout.flush()


emit({"type": "hello", "name": "hello-py", "version": "1.0.0", "capabilities": ["commands"]})

for line in sys.stdin:
    frame = json.loads(line)
    if frame["type"] == "hello_ack":
        emit({"type": "register_command", "name": "hellopy", "description": "say hi (python)"})
        emit({"type": "ready"})
    elif frame["type"] == "command_invoked":
        greeting = "Greet me very briefly in one sentence."
        emit({"type": "command_response", "id": frame["id"], "action": "prompt", "prompt": greeting})
    elif frame["type"] == "shutdown":
        emit({"type": "shutdown_ack"})
        break
