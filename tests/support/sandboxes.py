"""The ways to confine commands that a test may use. Many machines have bubblewrap and forbid what it needs."""

from __future__ import annotations

import asyncio
from functools import cache

import pytest

from zot_core.toolkit import confine, landlock


@cache
def found() -> confine.Sandbox:
    """What this machine really has."""
    confine._found.clear()
    return asyncio.run(confine.sandbox())


def only(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """Lets zot find `bwrap`, `landlock` or `nothing`; skips the test where that does not work here."""
    if kind == "bwrap":
        if not found().bwrap:
            pytest.skip(f"bubblewrap cannot confine anything here: {found().why}")
        has = confine.Sandbox(found().bwrap, False)
    elif kind == "landlock":
        if landlock.abi() < landlock.NEEDED_ABI:
            pytest.skip(f"Landlock of version {landlock.abi()} is too old")
        has = confine.Sandbox("", True, "bubblewrap is not installed")
    else:
        has = confine.Sandbox("", False, "bubblewrap is not installed; Landlock is missing")
    monkeypatch.setattr(confine, "_found", [has])
