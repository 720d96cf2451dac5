"""Extensions written in a test and started as zot starts them."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from support.extension_host import ExtensionHost

import zot_plugins.extension_bridge.sdk as sdk

SDK = Path(sdk.__file__).with_name("zot_ext.py")


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Callable[..., ExtensionHost]]:
    """`begin(code)` starts an extension whose module already has `ext` and all names of the SDK; no hand is shaken."""
    with ExitStack() as stack:

        def begin(code: str, *, run: bool = True, **options: Any) -> ExtensionHost:
            folder = tmp_path / "probe"
            folder.mkdir()
            (folder / "zot_ext.py").write_bytes(SDK.read_bytes())
            (folder / "extension.json").write_text(json.dumps({"name": "probe", "exec": "./probe.py"}))
            lines = [
                f"#!{sys.executable} -E",
                "from zot_ext import *",
                'ext = Extension("probe", "1.0.0")',
                textwrap.dedent(code),
                *(["ext.run()"] if run else []),
            ]
            script = folder / "probe.py"
            script.write_text("\n".join(lines), encoding="utf-8")
            script.chmod(0o755)
            return stack.enter_context(ExtensionHost(folder, **options))

        yield begin


@pytest.fixture
def extension(begin: Callable[..., ExtensionHost]) -> Callable[..., ExtensionHost]:
    """`extension(code)`: as `begin`, up to `ready`."""
    return lambda code, **options: begin(code, **options).start()
