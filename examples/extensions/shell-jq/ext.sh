#!/usr/bin/env bash
# A command and a tool in bash. jq reads every frame and writes every answer, so that quoting is its business.
set -u
project=.

reply() { jq -nc "$@"; }

hello_ack() {
  project=$(jq -r .cwd <<<"$1")
  reply '{type: "register_command", name: "disk", description: "show how full the disk of the project is"}'
  reply '{type: "register_tool", name: "count_lines", description: "Counts the lines of a file of the project.",
          schema: {type: "object", properties: {path: {type: "string"}}, required: ["path"]}}'
  reply '{type: "ready"}'
}

command_invoked() {
  reply --arg id "$(jq -r .id <<<"$1")" --arg text "$(df -h -- "$project" | tail -n 1)" \
    '{type: "command_response", id: $id, action: "display", display: $text}'
}

tool_call() {
  local id path said failed=false
  id=$(jq -r .id <<<"$1")
  path=$(jq -r '.args.path // ""' <<<"$1")
  said=$(cd -- "$project" && wc -l 2>&1 <"$path") || failed=true
  reply --arg id "$id" --arg text "${said#"${said%%[![:space:]]*}"}" --argjson failed "$failed" \
    '{type: "tool_result", id: $id, content: [{type: "text", text: $text}], is_error: $failed}'
}

reply '{type: "hello", name: "shell-jq", version: "1.0.0", capabilities: ["commands", "tools"]}'
while IFS= read -r frame; do
  case $(jq -r .type <<<"$frame") in
    hello_ack) hello_ack "$frame" ;;
    command_invoked) command_invoked "$frame" ;;
    tool_call) tool_call "$frame" ;;
    shutdown)
      reply '{type: "shutdown_ack"}'
      break
      ;;
  esac
done
