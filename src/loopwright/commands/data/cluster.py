"""`--cluster`: labelling that job arrays share through a folder."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from ...costmodel.dataset.errors import DatasetError
from ...costmodel.dataset.rows import Row
from ...costmodel.labelled_data import SeededWorkload
from ...runtime.labelling.local import label_here
from ...runtime.labelling.messages import Policy
from ...runtime.labelling.shared_folder import label_in_share, shared_rows
from ...support.shared_work import ATTEMPTS, SharedWork, SharedWorkError, progress
from .. import UsageError
from .labelling import label_and_store

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


def add_cluster_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of shared folders."""
    parser.add_argument(
        "--cluster",
        metavar="DIR",
        type=Path,
        help="share the work with all who run the same command, on any machine that sees the "
        "folder DIR; killed workers are replaced by others",
    )
    parser.add_argument(
        "--job-script",
        choices=tuple(SCRIPTS),
        help="print a script of a job array that runs this command, and do nothing else",
    )
    parser.add_argument(
        "--jobs", type=int, default=8, metavar="N", help="jobs of the array (default: 8)"
    )


class _NoWriter:
    """Labels are in the shared folder already."""

    def __enter__(self) -> _NoWriter:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def append(self, rows: Iterable[Row]) -> None:
        pass


def work_in_cluster(arguments: argparse.Namespace, workload: SeededWorkload, policy: Policy) -> int:
    """Labels a share of the programs, and puts together those of all when they are done."""
    if arguments.scheduler is not None:
        raise UsageError("--cluster takes no --scheduler: it works without one")
    if arguments.jobs < 1:
        raise UsageError(f"--jobs must be positive, got {arguments.jobs}")
    if arguments.job_script is not None:
        print(job_script(arguments.job_script, arguments.jobs, sys.argv[1:]), end="")
        return 0
    folder: Path = arguments.cluster
    try:
        work = SharedWork(folder, repr((workload, policy)), arguments.programs)
    except SharedWorkError as error:
        raise UsageError(f"--cluster: {error}") from error
    label = partial(label_here, workload, policy, compilers=arguments.workers)
    code = label_and_store(
        label_in_share(work, label, fast_math=policy.fast_math),
        None,
        folder,
        fast_math=policy.fast_math,
        open_writer=lambda _: _NoWriter(),
    )
    if code:
        return code
    found = progress(folder)
    if found.given_up:
        print(
            f"{found.given_up} batches were given up: {ATTEMPTS} workers were lost with each",
            file=sys.stderr,
        )
    try:
        added = put_together(folder, arguments.output)
    except DatasetError:
        print(f"another worker puts the labels into {arguments.output}")
        return 0
    print(f"{found.done} programs are labelled; {added} of them are new in {arguments.output}")
    return 0


def put_together(folder: Path, output: Path) -> int:
    """Adds the labels of a shared folder to a directory; how many programs were not there.

    Raises DatasetError where another process adds to it, OSError.
    """
    from ...costmodel.dataset.shards import list_shards, read_table
    from ...costmodel.dataset.store import Writer

    added = 0
    with Writer(output) as writer:
        column = read_table(list_shards(output).shards, ["key"]).column("key")
        known = set(column.to_pylist())
        for rows in shared_rows(folder):
            new = [row for row in rows if row["key"] not in known]
            writer.append(new)
            added += bool(new)
    return added


def job_script(kind: str, jobs: int, command: list[str]) -> str:
    """The script of a job array; `command` are the arguments of the command line."""
    words: list[str] = []
    skipped = False
    for word in command:
        if skipped:
            skipped = False
        elif word in ("--job-script", "--jobs"):
            skipped = True
        elif not word.startswith(("--job-script=", "--jobs=")):
            words.append(word)
    return SCRIPTS[kind].format(last=jobs - 1, command=shlex.join(["loopwright", *words]))
