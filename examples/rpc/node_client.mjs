#!/usr/bin/env node
// Drives `zot rpc` from Node: one prompt, its answer as it comes, and questions on the way.
// Usage: node_client.mjs PROMPT [ZOT-ARGUMENT ...]

import { spawn } from "node:child_process";

const [prompt, ...args] = process.argv.slice(2);
if (prompt === undefined) {
  console.error("Usage: node_client.mjs PROMPT [ZOT-ARGUMENT ...]");
  process.exit(2);
}

const zot = spawn(process.env.ZOT ?? "zot", ["rpc", ...args], { stdio: ["pipe", "pipe", "inherit"] });
const waiting = new Map();
let lastId = 0;

// Sends a request; the promise has the data of its response, or fails with its error.
function request(type, fields = {}) {
  const id = ++lastId;
  zot.stdin.write(JSON.stringify({ id, type, ...fields }) + "\n");
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
}

// This program says yes to what it is asked; a real one would ask a person.
function answerTo(event) {
  if (event.method === "confirm" || event.method === "approve") return { confirmed: true };
  if (event.method === "select") return { value: event.options[0] };
  if (event.method === "input") return { value: event.placeholder ?? "" };
  return { cancelled: true };
}

let failed = false;

function onEvent(event) {
  switch (event.type) {
    case "text_delta":
      process.stdout.write(event.delta);
      break;
    case "tool_call":
      console.error(`[${event.name} ${JSON.stringify(event.args)}]`);
      break;
    case "ui_request":
      request("ui_response", { request_id: event.request_id, ...answerTo(event) }).catch((error) => console.error(error));
      break;
    case "error":
      failed = true;
      console.error(`error: ${event.message}`);
      break;
    case "done":
      process.stdout.write("\n");
      zot.stdin.end(); // zot finishes and exits
  }
}

// readline also ends lines at U+2028 and U+2029, which JSON text may hold; zot's lines end with LF alone.
let rest = "";
zot.stdout.setEncoding("utf8");
zot.stdout.on("data", (text) => {
  const lines = (rest + text).split("\n");
  rest = lines.pop();
  for (const raw of lines) {
    const line = JSON.parse(raw);
    const asked = line.type === "response" ? waiting.get(line.id) : undefined;
    if (asked === undefined) {
      onEvent(line);
    } else {
      waiting.delete(line.id);
      if (line.success) asked.resolve(line.data);
      else asked.reject(new Error(line.error));
    }
  }
});

zot.on("close", (code) => process.exit(code || (failed ? 1 : 0)));

const hello = await request("hello", { token: process.env.ZOTCORE_RPC_TOKEN ?? "" });
console.error(`zot ${hello.version}, ${hello.provider}/${hello.model}`);
await request("prompt", { message: prompt });
