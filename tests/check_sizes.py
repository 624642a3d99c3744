"""Runs shipped kernels at a size with several schedules, and compares with the loops as written.

    python tests/check_sizes.py EXTRALARGE
    python tests/check_sizes.py MEDIUM polybench/lu polybench/gemm --schedules all,tile --limit 60

Each kernel runs in a process of its own, and prints one line. The schedules are those of
`support/standard_schedules.py` and `default`. One that takes longer than the limit (to compile, run
and compare) is `too slow`, which is no mistake: a schedule may be legal and bad. Verdicts are
appended to a file of JSON lines; what has a verdict there is not run again, except for what was too
slow for a lower limit. The exit code is 1 when a result is wrong or a process ended.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path

from support.reference_runs import agreements, function_of
from support.standard_schedules import STANDARD_SCHEDULES, standard_schedule

from loopwright.kernels.catalogue import catalogue
from loopwright.passes.schedules.schedule import Schedule

OK, TOO_SLOW, WRONG, ENDED, ERROR = "ok", "too slow", "wrong", "process ended", "error"
REFERENCE = "unscheduled"


@dataclass(frozen=True)
class Verdict:
    """What became of a kernel at a size with a schedule; `seconds` is the time of the call."""

    kernel: str
    size: str
    schedule: str
    threads: int
    verdict: str
    seconds: float | None = None
    detail: str = ""
    limit: float = 0.0

    def __str__(self) -> str:
        time_taken = "" if self.seconds is None else f" {self.seconds:.3g} s"
        return f"{self.schedule}: {self.verdict}{time_taken}{self.detail and f' ({self.detail})'}"


def schedule_called(name: str, kernel: str) -> Schedule | str | None:
    """The schedule of a kernel with this name."""
    if name in STANDARD_SCHEDULES:
        return standard_schedule(name, function_of(kernel).schedule())
    return None if name == REFERENCE else name


def work(out: Connection, kernel: str, size: str, threads: int, schedules: Sequence[str]) -> None:
    """Runs a kernel without a schedule, and then with some; sends a verdict for each."""
    entry = catalogue()[kernel]
    expected = None
    for name in (REFERENCE, *schedules):
        try:
            schedule = schedule_called(name, kernel)
            arguments = entry.arguments(size)
            compiled = function_of(kernel).compile(schedule, threads=threads)
            compiled.specialise(*arguments)
            start = time.perf_counter()
            compiled(*arguments)
            seconds = time.perf_counter() - start
            if expected is None:
                expected = entry.output_arrays(arguments)
            found = list(agreements(entry, size, arguments, expected))
            wrong = ", ".join(str(each) for each in found if not each.agrees)
            verdict = WRONG if wrong else OK
            out.send(Verdict(kernel, size, name, threads, verdict, seconds, wrong))
        except Exception as error:
            traceback.print_exc()
            out.send(Verdict(kernel, size, name, threads, ERROR, None, f"{error}"))


def run(
    kernel: str, size: str, threads: int, schedules: Sequence[str], limit: float
) -> Iterator[Verdict]:
    """The verdicts on a kernel; after one that ends its process, a new one does the rest."""
    context = multiprocessing.get_context("spawn")
    left = [*schedules]
    while left:
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=work, args=(sender, kernel, size, threads, left))
        process.start()
        sender.close()
        for name in (REFERENCE, *left):
            verdict = _next_verdict(receiver, Verdict(kernel, size, name, threads, "", limit=limit))
            if verdict.verdict == ENDED:
                process.join()
                verdict = replace(verdict, detail=f"exit code {process.exitcode}")
            if name != REFERENCE:
                yield verdict
                left.remove(name)
            elif verdict.verdict != OK:
                # Without the reference there is nothing to compare with.
                yield from (replace(verdict, schedule=e, detail=str(verdict)) for e in left)
                left = []
            if verdict.verdict in (TOO_SLOW, ENDED) or not left:
                break
        process.kill()
        process.join()


def _next_verdict(receiver: Connection, expected: Verdict) -> Verdict:
    if not receiver.poll(expected.limit):
        return replace(expected, verdict=TOO_SLOW, detail=f"over {expected.limit:g} s")
    try:
        return replace(receiver.recv(), limit=expected.limit)
    except EOFError:
        return replace(expected, verdict=ENDED)


def known_verdicts(file: Path) -> dict[tuple[str, str, str, int], Verdict]:
    """The last verdict of each run that is in the file."""
    lines = file.read_text().splitlines() if file.exists() else []
    verdicts = [Verdict(**json.loads(line)) for line in lines]
    return {(v.kernel, v.size, v.schedule, v.threads): v for v in verdicts}


def main() -> int:
    """Runs what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("size", help="a size class, such as EXTRALARGE")
    parser.add_argument("kernels", nargs="*", help="names or suites (default: polybench)")
    parser.add_argument("--schedules", default="as written,all,default")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=float, default=600, help="seconds per schedule")
    parser.add_argument("--verdicts", type=Path, default=Path("build/verdicts.jsonl"))
    options = parser.parse_args()
    chosen = options.kernels or ["polybench"]
    names = [
        name
        for name, entry in catalogue().items()
        if options.size in entry.sizes and (name in chosen or name.split("/")[0] in chosen)
    ]
    if not names:
        parser.error(f"no kernel of {', '.join(chosen)} has the size {options.size}")
    options.verdicts.parent.mkdir(parents=True, exist_ok=True)
    known = known_verdicts(options.verdicts)
    failures = 0
    for name in names:
        schedules = options.schedules.split(",")
        keys = {each: (name, options.size, each, options.threads) for each in schedules}
        found = {each: known[key] for each, key in keys.items() if key in known}
        slow = [e for e, v in found.items() if v.verdict == TOO_SLOW and v.limit < options.limit]
        left = [each for each in schedules if each not in found or each in slow]
        with options.verdicts.open("a") as file:
            for verdict in run(name, options.size, options.threads, left, options.limit):
                found[verdict.schedule] = verdict
                file.write(f"{json.dumps(asdict(verdict))}\n")
                file.flush()
        print(f"{name} {options.size}  " + "; ".join(str(found[e]) for e in schedules), flush=True)
        failures += sum(verdict.verdict not in (OK, TOO_SLOW) for verdict in found.values())
    print(f"{len(names)} kernels, {failures} failures; verdicts in {options.verdicts}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
