#!/bin/sh
# Drives `zot rpc` from a shell: sends a prompt, prints its text when jq is there, else its events as they are.
# Usage: shell_client.sh PROMPT [ZOT-ARGUMENT ...]
set -eu

[ $# -ge 1 ] || { echo "Usage: shell_client.sh PROMPT [ZOT-ARGUMENT ...]" >&2; exit 2; }
prompt=$1
shift

# The prompt as a JSON string: backslashes, quotes, tabs and line breaks escaped.
tab=$(printf '\t')
quoted=$(printf '%s\n' "$prompt" | tr -d '\000-\010\013-\037' |
  sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e "s/$tab/\\\\t/g" | awk '{ printf "%s%s", (NR > 1 ? "\\n" : ""), $0 }')

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkfifo "$folder/requests" "$folder/events"
"${ZOT:-zot}" rpc "$@" <"$folder/requests" >"$folder/events" &
zot=$!
exec 3>"$folder/requests" 4<"$folder/events"

printf '{"id":1,"type":"hello","token":"%s"}\n' "${ZOTCORE_RPC_TOKEN:-}" >&3
printf '{"id":2,"type":"prompt","message":"%s"}\n' "$quoted" >&3

failed=0
while IFS= read -r line <&4; do
  case $line in
    '{"type":"text_delta"'*)
      if command -v jq >/dev/null 2>&1; then printf '%s' "$line" | jq -j .delta; else printf '%s\n' "$line"; fi ;;
    '{"type":"response"'*'"success":false'*) printf '%s\n' "$line" >&2; failed=1; break ;;
    '{"type":"ui_request"'*)
      # Nobody is asked here: every question is dismissed.
      id=$(printf '%s' "$line" | sed 's/.*"request_id":"\([^"]*\)".*/\1/')
      printf '{"type":"ui_response","request_id":"%s","cancelled":true}\n' "$id" >&3 ;;
    '{"type":"error"'*) printf '%s\n' "$line" >&2; failed=1 ;;
    '{"type":"done"}') break ;;
  esac
done
echo

exec 3>&-             # the end of requests: zot finishes
cat <&4 >/dev/null    # what it still says
wait "$zot" || failed=$?
exit "$failed"
