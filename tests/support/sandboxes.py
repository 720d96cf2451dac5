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


@cache
def secludes() -> bool:
    """Whether programs can have mounts and a network of their own here, without bubblewrap."""
    return asyncio.run(confine._can_seclude())


def only(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """Lets zot find `bwrap`, `landlock`, `bare landlock` (without mounts of its own) or `nothing`.

    Skips the test where that does not work here.
    """
    if kind == "bwrap":
        if not found().bwrap:
            pytest.skip(f"bubblewrap cannot confine anything here: {found().why}")
        has = confine.Sandbox(found().bwrap, False)
    elif kind in ("landlock", "bare landlock"):
        if landlock.abi() < landlock.NEEDED_ABI:
            pytest.skip(f"Landlock of version {landlock.abi()} is too old")
        if kind == "landlock" and not secludes():
            pytest.skip("programs cannot have mounts of their own here")
        tcp = landlock.abi() >= landlock.TCP_ABI
        has = confine.Sandbox("", True, "bubblewrap is not installed", kind == "landlock", tcp)
    else:
        has = confine.Sandbox("", False, "bubblewrap is not installed; Landlock is missing")
    monkeypatch.setattr(confine, "_found", [has])
