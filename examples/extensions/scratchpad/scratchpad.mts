// Notes that outlive a session: commands for the person, a tool for the model. Types only, nothing that needs a build.

import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

type Frame = { type: string; id?: string; name?: string; args?: unknown; data_dir?: string };
type Reply = { action: "display" | "insert" | "noop"; display?: string; insert?: string; error?: string };

let file = "notes.txt";
const emit = (frame: object): boolean => process.stdout.write(JSON.stringify(frame) + "\n");
const notes = (): string => (existsSync(file) ? readFileSync(file, "utf8") : "");

function keep(text: string): void {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file); // a crash leaves the old file or the new one
}

function note(text: string): string {
  keep(`${notes()}- ${text.replace(/\s+/g, " ").trim()}\n`);
  return "Noted.";
}

const commands: Record<string, { description: string; run: (args: string) => Reply }> = {
  note: {
    description: "write a line on the scratchpad",
    run: (args) => (args ? { action: "display", display: note(args) } : { action: "noop", error: "what shall be noted?" }),
  },
  notes: {
    description: "show the scratchpad",
    run: () => ({ action: "display", display: notes() || "The scratchpad is empty." }),
  },
  "notes-clear": {
    description: "empty the scratchpad",
    run: () => (keep(""), { action: "display", display: "The scratchpad is empty." }),
  },
};

const tool = {
  type: "register_tool",
  name: "scratchpad",
  description: "Reads the person's scratchpad; with `text`, writes a line on it first.",
  schema: { type: "object", properties: { text: { type: "string" } } },
};

function called(args: { text?: unknown }): { content: object[]; is_error?: boolean } {
  const said = (text: string) => [{ type: "text", text }];
  if (args.text !== undefined && typeof args.text !== "string") return { content: said("text is a string"), is_error: true };
  if (args.text) note(args.text);
  return { content: said(notes() || "The scratchpad is empty.") };
}

const handlers: Record<string, (frame: Frame) => void> = {
  hello_ack(frame) {
    file = join(frame.data_dir || ".", "notes.txt");
    for (const [name, { description }] of Object.entries(commands)) emit({ type: "register_command", name, description });
    emit(tool);
    emit({ type: "ready" });
  },
  command_invoked({ id, name, args }) {
    emit({ type: "command_response", id, ...commands[name as string].run(args as string) });
  },
  tool_call({ id, args }) {
    emit({ type: "tool_result", id, ...called(args as { text?: unknown }) });
  },
  shutdown() {
    emit({ type: "shutdown_ack" });
    process.stdin.destroy();
  },
};

emit({ type: "hello", name: "scratchpad", version: "1.0.0", capabilities: ["commands", "tools"] });

let rest = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk: string) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop() as string;
  for (const line of lines) {
    const frame = JSON.parse(line) as Frame;
    handlers[frame.type]?.(frame);
  }
});
