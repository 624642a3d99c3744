"""Job arrays of Slurm and PBS on this machine: jobs are killed -9 at random and started again."""

from __future__ import annotations

import re
import shlex
import signal
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random

from loopwright.support.shared_work import progress, results

from .processes import COMMAND, Home, Running, run

JOBS, ITEMS = 8, 160
"""Workers at once, and what they share."""

LEASE = 15.0
"""Seconds: eight workers that start on two cores are silent for some of them."""

MOST_TWICE = 0.01

GENERATE = [
    *("data", "generate", "--seed", "11", "--schedules", "1,2", "--workers", "1"),
    *("--programs", str(ITEMS), "-o", "labels"),
]
TUNE = [
    *("tune", "polybench/gemm", "--size", "MINI", "--threads", "1", "--budget", "1s"),
    *("--searches", str(ITEMS // 2)),
]

ARRAYS = {
    "data generate, an array of Slurm": ("slurm", GENERATE, ITEMS),
    "tune, an array of PBS": ("pbs", TUNE, ITEMS // 2),
}

SUBMITTED = {
    "slurm": re.compile(r"#SBATCH --array=(\d+)-(\d+)\n(?:.*\n)*#SBATCH --requeue\n"),
    "pbs": re.compile(r"#PBS -J (\d+)-(\d+)\n(?:.*\n)*#PBS -r y\n"),
}
"""What these schedulers read in a script of jobs that may be started again."""


def job_array(kind: str, command: Sequence[str], items: int) -> Callable[..., Iterator[str]]:
    """A command's array under a scheduler of a kind: nothing is lost, hardly anything twice."""

    def check(home: Home, random: Random, times: int) -> Iterator[str]:
        shared = home.folder / kind
        options = ["--cluster-folder", str(shared), "--lease", str(LEASE), "--jobs", str(JOBS)]
        printed = run(home, [*command, *options, "--cluster", kind])
        yield from printed.problems([0])
        script = home.folder / f"{kind}.sh"
        script.write_text(printed.out)
        array = SUBMITTED[kind].search(printed.out)
        if array is None:
            yield f"{kind} does not read an array of jobs that may be started again"
            return
        first, last = map(int, array.groups())
        if last - first + 1 != JOBS:
            yield f"an array of {last - first + 1} jobs"
        _offer_command(home)
        recorded: set[int] = set()
        jobs = [_start(home, script) for _ in range(first, last + 1)]
        for _ in range(times):
            time.sleep(random.uniform(1.0, 5.0))
            recorded |= {item for item, _ in results(shared)} if shared.exists() else set()
            place = random.randrange(len(jobs))
            jobs[place].send(signal.SIGKILL)
            yield from jobs[place].finished().problems([-signal.SIGKILL, 0])
            jobs[place] = _start(home, script)
        for job in jobs:
            yield from job.finished().problems([0])
        found, kept = progress(shared), {item for item, _ in results(shared)}
        print(f"{kind}: {found.done} of {items} done, {found.twice} of them twice", flush=True)
        if recorded - kept:
            yield f"{len(recorded - kept)} results are lost"
        if found.given_up or found.done < items:
            yield f"{items - found.done} of {items} are not done, {found.given_up} batches given up"
        if found.twice > MOST_TWICE * items:
            yield f"{found.twice} of {items} are done twice"

    return check


def _offer_command(home: Home) -> None:
    """`loopwright` in the path of the jobs."""
    command = home.folder / "bin" / "loopwright"
    command.parent.mkdir(exist_ok=True)
    command.write_text(f'#!/bin/sh\nexec {shlex.join(COMMAND)} "$@"\n')
    command.chmod(command.stat().st_mode | stat.S_IXUSR)


def _start(home: Home, script: Path) -> Running:
    path = f"{home.folder / 'bin'}:/usr/bin:/bin"
    own = Home(home.folder, {**home.variables, "PATH": path, "PBS_O_WORKDIR": str(home.folder)})
    return Running(own, ["sh", str(script)])
