"""The first module that runs. `--version` is answered here, with nothing else imported; the rest is `main`'s."""

from __future__ import annotations

import sys


def main() -> int:
    """Runs the command line of this process and returns its exit code."""
    arguments = sys.argv[1:]
    if arguments in (["--version"], ["-v"]):
        from zot_core._version import __version__

        print(f"zot {__version__}")
        return 0
    from zot_cli.main import run

    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())
