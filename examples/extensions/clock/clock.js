#!/usr/bin/env node
// Slash commands in plain Node, without an SDK.
"use strict";

const emit = (frame) => process.stdout.write(JSON.stringify(frame) + "\n");

function clock(zone) {
  const options = { dateStyle: "full", timeStyle: "short", timeZone: zone || undefined };
  try {
    return { action: "display", display: new Intl.DateTimeFormat("en-GB", options).format(new Date()) };
  } catch {
    return { action: "noop", error: `there is no time zone ${zone}; try Europe/Berlin` };
  }
}

const commands = {
  clock: ["show the time, here or in a zone such as Asia/Tokyo", clock],
  now: ["write the time at the cursor", () => ({ action: "insert", insert: new Date().toISOString() })],
};

const handlers = {
  hello_ack() {
    for (const [name, [description]] of Object.entries(commands)) emit({ type: "register_command", name, description });
    emit({ type: "ready" });
  },
  command_invoked({ id, name, args }) {
    emit({ type: "command_response", id, ...commands[name][1](args) });
  },
  shutdown() {
    emit({ type: "shutdown_ack" });
    process.stdin.destroy(); // nothing else keeps the process alive
  },
};

// Not `readline`: it ends lines at U+2028 and at a lone CR too, and only LF ends a frame.
let rest = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop();
  for (const line of lines) {
    const frame = JSON.parse(line);
    handlers[frame.type]?.(frame);
  }
});

emit({ type: "hello", name: "clock", version: "1.0.0", capabilities: ["commands"] });
