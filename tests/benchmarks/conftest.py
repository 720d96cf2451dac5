"""Benchmarks as ratios: what is measured and its floor run in turns, in one process and one minute.

`pytest tests/benchmarks --benchmark-only` prints the table at the end. A row over its budget fails.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROWS: list[Row] = []
ZOT = str(Path(sys.executable).with_name("zot"))
"""The installed command, as people start it."""


@dataclass(frozen=True, slots=True)
class Row:
    """One result. Values are in `unit`; `budget` says what was allowed, empty for a row that is only watched."""

    name: str
    value: float
    floor: float
    unit: str
    budget: str
    within: bool

    def __str__(self) -> str:
        ratio = f"{self.value / self.floor:6.2f} x" if self.floor else "       –"
        state = ("ok" if self.within else "OVER") if self.budget else ""
        return f"{self.name:<60} {self.value:9.2f} {self.floor:9.2f} {self.unit:<4} {ratio}  {self.budget:<18} {state}"


def pytest_configure(config: pytest.Config) -> None:
    config.option.benchmark_quiet = True  # the table below is the one that says something


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if ROWS:
        terminalreporter.section("ratios to the floor")
        terminalreporter.write_line(f"{'':<60} {'value':>9} {'floor':>9}      {'ratio':>8}  budget")
        for row in ROWS:
            terminalreporter.write_line(str(row))


@dataclass(frozen=True, slots=True)
class Compare:
    """Runs a subject and its floor in turns and keeps the row."""

    benchmark: Any

    def __call__(
        self,
        name: str,
        subject: Callable[[], float | None],
        floor: Callable[[], float | None],
        *,
        rounds: int = 10,
        unit: str = "ms",
        ratio: float | None = None,
        at_most: float | None = None,
    ) -> Row:
        """Best of `rounds` each. A callable answers its own number, or None to have its seconds taken.

        `ratio` is the most that subject may be of floor, `at_most` the most in `unit`; both None only watches.
        """
        pairs = [(_value(floor), _value(subject)) for _ in range(rounds)]
        low, value = min(pair[0] for pair in pairs), min(pair[1] for pair in pairs)
        return self.keep(name, value, low, unit=unit, ratio=ratio, at_most=at_most)

    def keep(
        self,
        name: str,
        value: float,
        floor: float = 0.0,
        *,
        unit: str = "ms",
        ratio: float | None = None,
        at_most: float | None = None,
    ) -> Row:
        """Keeps a row that was measured elsewhere. Fails when it is over its budget."""
        within = (ratio is None or value <= ratio * floor) and (at_most is None or value <= at_most)
        limits = [f"{ratio:g} x"] if ratio is not None else []
        limits += [f"{at_most:g} {unit}"] if at_most is not None else []
        row = Row(name, value, floor, unit, " and ".join(limits), within)
        ROWS.append(row)
        if not self.benchmark.extra_info:
            # Its own clock cannot run two things in turns; it is here to select, skip and store these tests.
            self.benchmark.pedantic(lambda: None, rounds=1)
        self.benchmark.extra_info[name] = {"value": value, "floor": floor, "unit": unit}
        assert within, str(row)
        return row


def _value(run: Callable[[], float | None]) -> float:
    start = time.perf_counter()
    given = run()
    return (time.perf_counter() - start) * 1000 if given is None else given


@pytest.fixture
def compare(benchmark: Any) -> Compare:
    """Subject against floor; see `Compare`."""
    return Compare(benchmark)


@dataclass(frozen=True, slots=True)
class Ran:
    """A finished child: wall and CPU in ms, what it wrote."""

    wall: float
    cpu: float
    stdout: bytes


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """The environment in which a command starts as an installed one does: from bytecode, which a second start finds.

    Without, a checkout under PYTHONDONTWRITEBYTECODE compiles itself anew each time, and that would be measured.
    """
    return {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(tmp_path_factory.mktemp("bytecode"))}


@pytest.fixture
def child(installed: Mapping[str, str]) -> Callable[..., Ran]:
    """Runs a command to its end and measures it alone."""

    def run(command: Sequence[str], **env: str) -> Ran:
        start = time.perf_counter()
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **installed, **env},
        )
        assert process.stdout and process.stderr
        out, err = process.stdout.read(), process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        wall = (time.perf_counter() - start) * 1000
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stdout.close()
        process.stderr.close()
        assert process.returncode == 0, err[-2000:]
        return Ran(wall, (usage.ru_utime + usage.ru_stime) * 1000, out)

    return run


# A process inherits the peak of whoever forked it, so a small one stands between this big one and what is measured.
PEAK = """
import os, sys
silent = (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[silent])
_, status, usage = os.wait4(pid, 0)
assert status == 0
print(usage.ru_maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024))
"""


@pytest.fixture
def peak_memory(installed: Mapping[str, str]) -> Callable[..., float]:
    """Runs a command to its end and gives its peak of resident memory in MB."""

    def run(command: Sequence[str], **env: str) -> float:
        watcher = [sys.executable, "-S", "-c", PEAK, *command]
        done = subprocess.run(
            watcher,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env={**os.environ, **installed, **env},
            check=True,
        )
        return float(done.stdout)

    return run


@pytest.fixture
def zot() -> str:
    """The path of the installed command."""
    if not Path(ZOT).exists():
        pytest.skip("zot is not installed beside this interpreter")
    return ZOT
