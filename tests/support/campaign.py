"""A campaign of random pairs: counts verdicts, prints progress, writes down findings."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from .pairs import ERROR, INEXACT, PAIR, REFUSED, SAME, SCHEDULES, WRONG, check_pairs
from .random_programs import seeded_program
from .supervision import ENDED, HANG, Check, Verdict, supervise

FINDINGS = (WRONG, ERROR, ENDED, HANG)

# Seconds between lines of progress.
PAUSE = 30


@dataclass
class Campaign:
    """As many pairs as are asked for, from a first seed on."""

    pairs: int
    seed: int
    jobs: int
    limit: int
    folder: Path
    check: Check = check_pairs
    counts: Counter[str] = field(default_factory=Counter[str])
    refusals: Counter[str] = field(default_factory=Counter[str])
    findings: list[Verdict] = field(default_factory=list[Verdict])
    start: float = field(default_factory=time.monotonic)

    def run(self) -> list[Verdict]:
        """The findings."""
        seeds = range(self.seed, self.seed + max(1, self.pairs // SCHEDULES))
        open_seeds = set(seeds)
        told = time.monotonic()
        for event in supervise(self.check, seeds, jobs=self.jobs, limit=self.limit):
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
        if verdict.name.startswith(PAIR) or verdict.verdict != SAME:
            self.counts[verdict.verdict] += 1
        if verdict.verdict == REFUSED:
            self.refusals[verdict.detail.splitlines()[0]] += 1
        if verdict.verdict in FINDINGS:
            self.findings.append(verdict)
            self._write(verdict)

    def _write(self, verdict: Verdict) -> None:
        """Prints a finding, and writes it down with its program."""
        name = f"{verdict.seed}-{verdict.name or 'end'}-{verdict.verdict}".replace(" ", "-")
        file = self.folder / f"{name}.mlir"
        self.folder.mkdir(parents=True, exist_ok=True)
        comment = "".join(f"// {line}\n" for line in verdict.detail.splitlines())
        program = seeded_program(verdict.seed, calls=True).text
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
        return f"{compared} pairs, {compared / seconds:.2f} a second; {', '.join(others)}"
