"""`loopwright tune --cluster-folder`: searches with several seeds, shared through a folder."""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, ClassVar

from ..passes.search.result import Result
from ..passes.syntax.schedule_ops import to_sequence
from ..runtime.machine.machine_fingerprint import machine_fingerprint
from ..runtime.program import Function
from ..runtime.tuning.shared_search import FoundSchedule, found_in_share, search_in_share
from ..runtime.tuning.trial_messages import Comparison
from ..runtime.tuning.tune import TuningOptions, tune
from ..support.json_records import Document
from ..support.output_files import write_output
from ..support.progress import ProgressLine
from ..support.shared_work import ATTEMPTS, SharedWork, SharedWorkError, progress
from . import UsageError
from .common import format_table
from .json_output import emit


@dataclass(frozen=True)
class TuneClusterDocument(Document):
    """Result of `loopwright tune --cluster-folder`."""

    document: ClassVar[str] = "tune-cluster"

    function: Annotated[str, "the name of the function"]
    found: Annotated[tuple[FoundSchedule, ...], "by the searches of all workers, best first"]
    given_up: Annotated[int, "searches with which too many workers were lost"]


def tune_in_cluster(
    arguments: argparse.Namespace,
    function: Function,
    values: Sequence[object],
    options: TuningOptions,
    compared: Comparison | None,
    line: ProgressLine,
) -> int:
    """Takes a share of the searches; prints what all have found when they are done."""
    folder: Path = arguments.cluster_folder
    count = 8 if arguments.searches is None else arguments.searches
    description = _description(function, values, options)

    def search(seed: int) -> Result:
        with line:
            return tune(function, values, replace(options, seed=seed), compared)

    try:
        work = SharedWork(folder, description, count, batch=1, lease=arguments.lease)
        search_in_share(work, search, options.seed, machine_fingerprint())
        found = found_in_share(folder)
    except SharedWorkError as error:
        raise UsageError(f"--cluster-folder: {error}") from error
    given_up = progress(folder).given_up
    if given_up:
        print(
            f"{given_up} searches were given up: {ATTEMPTS} workers were lost with each",
            file=sys.stderr,
        )
    if found:
        rows = [["seed", "speed-up", "seconds", "machine"]]
        for each in found:
            name = _machine_name(each.machine)
            rows.append([str(each.seed), f"{each.speedup:.2f}x", f"{each.seconds:.1f}", name])
        print(f"{format_table(rows)}\n\n{found[0].schedule or 'as written'}")
    emit(TuneClusterDocument(function.name, tuple(found), given_up))
    if arguments.output is not None and found:
        best = function.schedule(found[0].schedule, fast_math=options.fast_math)
        write_output(arguments.output, f"{to_sequence(best)!s}\n")
    return 0 if found else 1


def _description(function: Function, values: Sequence[object], options: TuningOptions) -> str:
    """What all workers must say: the program, its sizes, and how it is tuned."""
    chosen = {
        field.name: getattr(options, field.name)
        for field in fields(options)
        if field.name not in ("report", "keep")
    }
    terms = (str(function.function), dict(function.checked_sizes(values)), chosen)
    digest = hashlib.sha256(repr(terms).encode()).hexdigest()[:16]
    return f"tune {function.name} for {options.budget:g} s each from seed {options.seed} ({digest})"


def _machine_name(machine: str) -> str:
    """The processor in a fingerprint."""
    try:
        name = json.loads(machine)["cpu"]
    except (ValueError, LookupError, TypeError):
        return machine[:40]
    return str(name)[:40]
