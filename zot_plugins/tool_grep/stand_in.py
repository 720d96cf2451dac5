"""Does the work of `rg` where there is none: a program of its own, so that a hard pattern can be ended from outside.

Run by path with an isolated interpreter, so it imports the standard library only. Takes a query as JSON, file names
separated by NUL on its standard input, and prints what `rg` would; patterns are Python's.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

_MARKS = ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"), (b"\xef\xbb\xbf", "utf-8"))


def pattern_of(query: Mapping[str, Any]) -> re.Pattern[str]:
    """The query's pattern; spellings that only `rg` knows are changed to Python's. Raises re.error."""
    text: str = query["pattern"]
    if query["literal"]:
        text = re.escape(text)
    else:
        text = re.sub(r"\(\?<(?![=!])", "(?P<", text)
        text = re.sub(r"(?<!\\)((?:\\\\)*)\\z", r"\1\\Z", text)
    flags = re.MULTILINE | (re.IGNORECASE if query["ignore_case"] else 0) | (re.DOTALL if query["dotall"] else 0)
    return re.compile(text, flags)


def decoded(data: bytes, encoding: str = "") -> str:
    """A file's text without its mark; stray bytes stay. `encoding` is that of a file without a mark, UTF-8 if empty."""
    for mark, name in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(name, "surrogateescape" if name == "utf-8" else "replace")
    return data.decode(encoding or "utf-8", "replace" if encoding else "surrogateescape")


def columns(pattern: re.Pattern[str], lines: list[str], multiline: bool) -> dict[int, int]:
    """The matching lines by index, with the column (bytes, from 1) of the first match in each."""
    found: dict[int, int] = {}
    if not multiline:
        for at, line in enumerate(lines):
            if match := pattern.search(line):
                found[at] = _bytes(line[: match.start()]) + 1
        return found
    text = "\n".join(lines)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    at = 0
    for match in pattern.finditer(text):
        while starts[at + 1] <= match.start():
            at += 1
        here = at
        end = max(match.end(), match.start() + 1)
        while here < len(lines) and starts[here] < end:
            offset = max(0, match.start() - starts[here])
            found.setdefault(here, _bytes(lines[here][:offset]) + 1)
            here += 1
    return found


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogateescape"))


def report(name: bytes, data: bytes, pattern: re.Pattern[str], query: Mapping[str, Any]) -> Iterator[bytes]:
    """The lines to print for one file."""
    text = decoded(data, query["encoding"])
    if not text:
        return
    lines = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
    found = columns(pattern, lines, query["multiline"])
    if not found:
        return
    nul = text.find("\0")
    if nul >= 0 and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        yield b'%s: binary file matches (found "\\0" byte around offset %d)\n' % (name, nul)
        return
    around = query["context"]
    wanted = sorted({near for at in found for near in range(max(0, at - around), min(len(lines), at + around + 1))})
    for at in wanted[:1] if query["not_utf8"] else wanted:
        numbers = f"{at + 1}:{found[at]}:" if at in found else f"{at + 1}-"
        yield name + b"\0" + numbers.encode() + lines[at].encode("utf-8", "surrogateescape") + b"\n"


def search(names: list[bytes], pattern: re.Pattern[str], query: Mapping[str, Any], out: BinaryIO) -> int:
    """Prints the matches of all files; the exit code, as `rg` gives it."""
    code = 1
    for name in names:
        try:
            with open(name, "rb") as file:  # noqa: PTH123 - a name that may be no valid text
                data = file.read()
        except OSError as error:
            message = f"rg: {os.fsdecode(name)}: {error.strerror} (os error {error.errno})\n"
            sys.stderr.buffer.write(message.encode("utf-8", "surrogateescape"))
            continue
        for piece in report(name, data, pattern, query):
            code = 0
            out.write(piece)
    return code


def main() -> int:
    """Reads query and names, searches, and answers the exit code."""
    query = json.loads(sys.argv[1])
    try:
        pattern = pattern_of(query)
    except (re.error, OverflowError, RecursionError) as error:
        sys.stderr.write(f"rg: regex parse error: {error}\n")
        return 2
    names = [name for name in sys.stdin.buffer.read().split(b"\0") if name]
    try:
        return search(names, pattern, query, sys.stdout.buffer)
    except BrokenPipeError:
        return 0


if __name__ == "__main__":
    sys.exit(main())
