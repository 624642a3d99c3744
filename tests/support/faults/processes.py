"""Processes of the fault campaign: each with a home of its own, and a mark that its family has."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

ROOT = Path(__file__).parents[3]
COMMAND = (sys.executable, "-m", "loopwright")

MARK = "LOOPWRIGHT_FAULT_CAMPAIGN"

PATIENCE = 10.0
"""Seconds that the family of a killed process may take to end."""

LIMIT = 300.0
"""Seconds after which a process hangs."""


@dataclass
class Home:
    """A home folder, in which a process finds nothing of the user's."""

    folder: Path
    variables: Mapping[str, str] = field(default_factory=dict[str, str])

    def environment(self) -> dict[str, str]:
        """The variables of a process that lives here."""
        kept = {name: value for name, value in os.environ.items() if not _is_ours(name)}
        path = os.pathsep.join((str(ROOT / "src"), str(ROOT / "tests")))
        return {
            **kept,
            "PYTHONPATH": path,
            "HOME": str(self.folder),
            "OMP_WAIT_POLICY": "passive",
            **self.variables,
        }


def _is_ours(name: str) -> bool:
    return name.startswith(("LOOPWRIGHT_", "XDG_")) or name == "PYTHONPATH"


@dataclass
class Finished:
    """What is left of a process and its family."""

    code: int
    out: str
    err: str
    orphans: int = 0
    was_there: bool = True

    def problems(self, codes: Sequence[int]) -> list[str]:
        """What is wrong with it, where it was to end with one of these codes."""
        found: list[str] = []
        if self.code not in codes:
            last = "; ".join(self.err.strip().splitlines()[-2:])
            found.append(f"exit code {self.code} ({last})")
        if "Traceback" in self.err:
            found.append(f"a traceback: {self.err.strip().splitlines()[-1]}")
        if self.orphans:
            found.append(f"{self.orphans} processes left behind")
        return found


class Running:
    """A process; `arguments` are those of loopwright, `-c` and a program, or `sh` and a script."""

    def __init__(self, home: Home, arguments: Sequence[str], most_bytes: int | None = None) -> None:
        self._mark = uuid.uuid4().hex
        self._out, self._err = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115
        interpreter = {"-c": (sys.executable,), "sh": ()}.get(arguments[0], COMMAND)

        def limit() -> None:
            if most_bytes is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))

        self._process = subprocess.Popen(
            [*interpreter, *arguments],
            env={**home.environment(), MARK: self._mark},
            cwd=home.folder if home.folder.is_dir() else None,
            stdout=self._out,
            stderr=self._err,
            preexec_fn=limit,
        )

    def send(self, number: signal.Signals) -> bool:
        """Sends a signal, and says whether the process was still there."""
        is_there = self._process.poll() is None
        self._process.send_signal(number)
        return is_there

    def finished(self) -> Finished:
        """Waits for the process, then for its family; kills who hangs or is left."""
        try:
            code = self._process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            code = 999
        deadline = time.monotonic() + PATIENCE
        while (left := self._family()) and time.monotonic() < deadline:
            time.sleep(0.1)
        for process in left:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        texts: list[str] = []
        for file in (self._out, self._err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
            file.close()
        return Finished(code, *texts, orphans=len(left))

    def _family(self) -> list[int]:
        """The processes that have this one's mark, and are not zombies."""
        wanted = f"{MARK}={self._mark}".encode()
        found: list[int] = []
        for folder in Path("/proc").iterdir():
            if folder.name.isdecimal() and int(folder.name) != self._process.pid:
                with suppress(OSError):
                    if wanted in (folder / "environ").read_bytes().split(b"\0"):
                        found.append(int(folder.name))
        return found


def run(home: Home, arguments: Sequence[str], most_bytes: int | None = None) -> Finished:
    """Runs a process to its end."""
    return Running(home, arguments, most_bytes).finished()


def interrupted(
    home: Home, arguments: Sequence[str], number: signal.Signals, seconds: float
) -> Finished:
    """A process that is sent a signal after some time."""
    running = Running(home, arguments)
    time.sleep(seconds)
    was_there = running.send(number)
    return replace(running.finished(), was_there=was_there)
