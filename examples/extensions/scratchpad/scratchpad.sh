#!/bin/sh
# Runs scratchpad.mts from source: no build, and nothing is downloaded.
# Node 22.6 and newer leave out the types themselves; with an older one, tsx does it if it is installed.
cd "$(dirname "$0")" || exit 1
if node --experimental-strip-types -e '' 2>/dev/null; then
  exec node --no-warnings --experimental-strip-types scratchpad.mts
elif [ -x node_modules/.bin/tsx ]; then
  exec node_modules/.bin/tsx scratchpad.mts
elif command -v tsx >/dev/null 2>&1; then
  exec tsx scratchpad.mts
elif [ -n "$(node -p 'process.features.typescript || ""' 2>/dev/null)" ]; then
  exec node scratchpad.mts
fi
echo "scratchpad needs Node 22.6 or newer, or tsx (npm install tsx); this is Node $(node --version 2>&1)" >&2
exit 1
