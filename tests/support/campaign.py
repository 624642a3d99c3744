"""A campaign of random programs: counts verdicts, prints progress, writes down findings."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from .pairs import ERROR, INEXACT, PAIR, REFUSED, SAME, SCHEDULES, WRONG, check_pairs
from .random_programs import seeded_program
from .supervision import ENDED, HANG, Check, Verdict, supervise

FINDINGS = (WRONG, ERROR, ENDED, HANG)

# Seconds between lines of progress.
PAUSE = 30

BATCH = 250
"""Seeds of a child process, which takes a second or two to start."""


@dataclass
class Campaign:
    """The checks of some seeds; `program` is the text of a seed's program, for findings.

    Verdicts on what is the same count where their name begins with `counted`, the others always.
    """

    seeds: range
    jobs: int
    limit: int
    folder: Path
    check: Check
    program: Callable[[int], str]
    what: str
    counted: str = ""
    batch: int = BATCH
    counts: Counter[str] = field(default_factory=Counter[str])
    refusals: Counter[str] = field(default_factory=Counter[str])
    findings: list[Verdict] = field(default_factory=list[Verdict])
    start: float = field(default_factory=time.monotonic)

    @classmethod
    def of_pairs(
        cls, pairs: int, seed: int, jobs: int, limit: int, folder: Path, check: Check = check_pairs
    ) -> Campaign:
        """As many pairs of a program and a schedule as are asked for, from a first seed on."""
        seeds = range(seed, seed + max(1, pairs // SCHEDULES))
        return cls(seeds, jobs, limit, folder, check, _program, "pairs", PAIR)

    def run(self) -> list[Verdict]:
        """The findings."""
        seeds = self.seeds
        open_seeds = set(seeds)
        told = time.monotonic()
        events = supervise(self.check, seeds, jobs=self.jobs, batch=self.batch, limit=self.limit)
        for event in events:
            if isinstance(event, int):
                open_seeds.discard(event)
            elif event is not None:
                self._count(event)
            if time.monotonic() - told > PAUSE:
                told = time.monotonic()
                self._print(f"{self}; all seeds below {min(open_seeds, default=seeds.stop)} done")
        self._print(f"{self}; all seeds below {seeds.stop} done")
        for reason, count in self.refusals.most_common():
            self._print(f"  {count} x refused: {reason}")
        return self.findings

    def _count(self, verdict: Verdict) -> None:
        if verdict.name.startswith(self.counted) or verdict.verdict != SAME:
            self.counts[verdict.verdict] += 1
        if verdict.verdict == REFUSED:
            self.refusals[verdict.detail.splitlines()[0]] += 1
        if verdict.verdict in FINDINGS:
            self.findings.append(verdict)
            self._write(verdict)

    def _write(self, verdict: Verdict) -> None:
        """Prints a finding, and writes it down with its program."""
        name = f"{verdict.seed}-{verdict.name or 'end'}-{verdict.verdict}".replace(" ", "-")
        file = self.folder / f"{name}.txt"
        self.folder.mkdir(parents=True, exist_ok=True)
        comment = "".join(f"// {line}\n" for line in verdict.detail.splitlines())
        program = self.program(verdict.seed)
        title = f"// seed {verdict.seed}, {verdict.name}: {verdict.verdict}"
        file.write_text(f"{title}\n{comment}{program}")
        first = next(iter(verdict.detail.splitlines()), "")
        self._print(f"seed {verdict.seed} {verdict.name}: {verdict.verdict} ({first}); see {file}")

    def _print(self, line: str) -> None:
        print(line, flush=True)

    def __str__(self) -> str:
        compared = self.counts[SAME] + self.counts[WRONG]
        seconds = time.monotonic() - self.start
        others = [f"{self.counts[kind]} {kind}" for kind in (REFUSED, INEXACT, *FINDINGS)]
        return f"{compared} {self.what}, {compared / seconds:.2f} a second; {', '.join(others)}"


def _program(seed: int) -> str:
    return seeded_program(seed, calls=True).text
