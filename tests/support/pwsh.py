"""A stand-in for PowerShell where there is none: it is as strict as the documentation of the real one about how it is
called, and does to output and exit code what that one does. The script itself it hands to `sh`.

    python pwsh.py REPORT ARGUMENT...

What it emulates: parameters without regard to case and nothing unknown; `-EncodedCommand` last, Base64 of UTF-16LE; a
progress record as CLIXML on stderr unless the preference is off; errors as CLIXML unless the output format is text;
output in the code page unless the script asks for UTF-8; 1 for a script that cannot be parsed.
"""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
from pathlib import Path

FLAGS = {"-nologo", "-noprofile", "-noninteractive", "-noexit", "-sta", "-mta"}
VALUES = {
    "-executionpolicy": {"bypass", "unrestricted", "remotesigned", "allsigned", "restricted", "default", "undefined"},
    "-outputformat": {"text", "xml"},
    "-inputformat": {"text", "xml"},
    "-encodedcommand": None,
}
CLIXML = b'#< CLIXML\r\n<Objs Version="1.1.0.1"><Obj S="progress"/></Objs>\n'


def options(arguments: list[str]) -> dict[str, str]:
    """The parameters, checked. Exits as PowerShell does for wrong ones."""
    found: dict[str, str] = {}
    rest = list(arguments)
    while rest:
        name = rest.pop(0).lower()
        if name in FLAGS:
            found[name] = ""
        elif name in VALUES and rest:
            found[name] = rest.pop(0)
            allowed = VALUES[name]
            if allowed is not None and found[name].lower() not in allowed:
                sys.exit(f"Cannot process the value of {name}")
        else:
            sys.stderr.write(f"The argument '{name}' is not recognized as the name of a script file.\n")
            sys.exit(64)
    return found


def main() -> int:
    report, *arguments = sys.argv[1:]
    given = options(arguments)
    if arguments[-2].lower() != "-encodedcommand":
        return 64
    if sum(map(len, arguments)) + len(arguments) > 32_767:
        return 206  # what Windows itself says of such a command line
    script = base64.b64decode(given["-encodedcommand"], validate=True).decode("utf-16-le")
    facts = {"arguments": arguments, "script": script, "env": dict(os.environ), "cwd": str(Path.cwd())}
    facts |= {"stdin": sys.stdin.read(), "session": os.getsid(0) == os.getpid()}
    Path(report).write_text(json.dumps(facts), encoding="utf-8")
    before, _, rest = script.partition("\n")
    body, _, after = rest.rpartition("\nif (-not $?)")
    assert "$global:LASTEXITCODE=0" in before
    assert after.endswith("exit $LASTEXITCODE\n")
    if "$ProgressPreference='SilentlyContinue'" not in before:
        sys.stderr.buffer.write(CLIXML)
    if "parse error" in body:
        if given.get("-outputformat", "xml").lower() != "text":
            sys.stderr.buffer.write(CLIXML)
        sys.stderr.write("ParserError: Missing closing '}'\n")
        return 1
    utf8 = re.search(r"try\{\[Console\]::OutputEncoding=\$OutputEncoding\}catch\{\}", before) is not None
    if utf8:
        sys.stderr.flush()
        return subprocess.run(["sh", "-c", body], stdin=subprocess.DEVNULL, check=False).returncode
    done = subprocess.run(["sh", "-c", body], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)
    sys.stdout.buffer.write(done.stdout.decode().encode("cp1252", "replace"))
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
