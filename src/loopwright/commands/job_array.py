"""Job arrays of the cluster schedulers Slurm and PBS, whose jobs share work through a folder."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from ..support.json_records import Document
from . import UsageError
from .json_output import emit

SCRIPTS = {
    "slurm": """\
#!/bin/sh
#SBATCH --job-name=loopwright
#SBATCH --array=0-{last}
#SBATCH --nodes=1
#SBATCH --exclusive
#SBATCH --requeue
exec {command}
""",
    "pbs": """\
#!/bin/sh
#PBS -N loopwright
#PBS -J 0-{last}
#PBS -l select=1
#PBS -l place=excl
#PBS -r y
cd "$PBS_O_WORKDIR" && exec {command}
""",
}
"""Job arrays: each job has a machine of its own, as times need, and may be started again."""


@dataclass(frozen=True)
class JobScriptDocument(Document):
    """Result of `--cluster slurm` and `--cluster pbs`."""

    document: ClassVar[str] = "job-script"

    script: Annotated[str, "the script of a job array"]


SHORTEST_LEASE, LONGEST_LEASE = 2.0, 86_400.0
"""Seconds: heartbeats come six times in a lease, and folders on networks are slow."""


def add_cluster_arguments(
    parser: argparse.ArgumentParser, lease: float, engines: Sequence[str] = ()
) -> None:
    """The arguments of clusters; `lease` is the default in seconds.

    `engines` are what `--cluster` may name besides the schedulers of job arrays.
    """
    parser.add_argument(
        "--cluster-folder",
        metavar="DIR",
        type=Path,
        help="share the work with all who run the same command, on any machine that sees the "
        "folder DIR; killed workers are replaced by others",
    )
    parser.add_argument(
        "--cluster",
        choices=(*SCRIPTS, *engines),
        help=f"{', '.join(SCRIPTS)}: print a script of a job array that runs this command, and do "
        f"nothing else{''.join(f'; {each}: the engine of --scheduler' for each in engines)}",
    )
    parser.add_argument(
        "--jobs", type=int, default=8, metavar="N", help="jobs of the array (default: 8)"
    )
    parser.add_argument(
        "--lease",
        type=float,
        default=lease,
        metavar="SECONDS",
        help="silence after which the work of a lost worker is taken over, the same for all "
        f"workers (default: {lease:g})",
    )


def print_job_script(arguments: argparse.Namespace) -> bool:
    """Prints the script, if that is what the arguments ask for; raises UsageError."""
    if arguments.jobs < 1:
        raise UsageError(f"--jobs must be positive, got {arguments.jobs}")
    if not SHORTEST_LEASE <= arguments.lease <= LONGEST_LEASE:
        raise UsageError(
            f"--lease must be between {SHORTEST_LEASE:g} and {LONGEST_LEASE:g} seconds, "
            f"got {arguments.lease:g}"
        )
    if arguments.cluster not in SCRIPTS:
        return False
    if arguments.cluster_folder is None:
        raise UsageError(
            f"--cluster {arguments.cluster} needs a folder that all jobs see; "
            "add --cluster-folder DIR"
        )
    script = job_script(arguments.cluster, arguments.jobs, sys.argv[1:])
    print(script, end="")
    emit(JobScriptDocument(script))
    return True


def job_script(kind: str, jobs: int, command: list[str]) -> str:
    """The script of a job array; `command` are the arguments of the command line."""
    words: list[str] = []
    skipped = False
    for word in command:
        if skipped:
            skipped = False
        elif word in ("--cluster", "--jobs"):
            skipped = True
        elif not word.startswith(("--cluster=", "--jobs=")):
            words.append(word)
    return SCRIPTS[kind].format(last=jobs - 1, command=shlex.join(["loopwright", *words]))
