"""Labels some pairs again, and says how far the speed-ups are from those that are stored."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from ...costmodel.labels import LabelledProgram
from ...support.json_records import Document
from .. import UsageError
from ..common import check_seed, warn_of_damage
from ..json_output import emit
from .common import add_directory, add_measuring_arguments, measuring_policy
from .labelling_progress import LabellingProgress

THRESHOLDS = (0.03, 0.1, 0.3)


@dataclass(frozen=True)
class RetestDocument(Document):
    """Result of `loopwright data retest`."""

    document: ClassVar[str] = "data-retest"

    pairs: Annotated[int, "pairs that were measured again"]
    median_difference: Annotated[float, "of the logarithms of the speed-ups, absolute"]
    within: Annotated[Mapping[str, float], "shares of the pairs, by the difference"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The directory, how many pairs, and how to measure."""
    add_directory(parser)
    parser.add_argument(
        "--pairs", type=int, default=500, metavar="N", help="number of pairs (default: 500)"
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="seed of the choice of pairs (default: 0)"
    )
    add_measuring_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Measures and prints; nothing is stored."""
    from ...costmodel.dataset.shards import list_shards, read_table
    from ...costmodel.replay import choose_pairs, differences, median_difference
    from ...runtime.labelling.local import label_here
    from ...runtime.machine.machine_fingerprint import machine_fingerprint

    if arguments.pairs < 1:
        raise UsageError(f"--pairs must be positive, got {arguments.pairs}")
    check_seed(arguments.seed)
    # Another machine is not another measurement.
    here, policy = machine_fingerprint(), measuring_policy(arguments)
    warn_of_damage(arguments.directory)
    stored = read_table(list_shards(arguments.directory).shards).to_pylist()
    rows = [
        row for row in stored if row["machine"] == here and row["fast_math"] == policy.fast_math
    ]
    workload = choose_pairs(rows, arguments.pairs, arguments.seed)
    if not workload.programs:
        raise UsageError(f"{arguments.directory} has no measured pairs of this machine: {here}")
    again: list[LabelledProgram] = []
    items = range(len(workload.programs))
    with LabellingProgress(len(items)) as progress:
        for labelled in label_here(workload, policy, items, arguments.workers):
            again.append(labelled)
            progress.advance(len(labelled.labels), len(labelled.incidents))
    found = differences(workload, again, rows)
    if not found:
        raise UsageError("none of the pairs could be measured again")
    print(f"{len(found)} pairs were measured again")
    middle = median_difference(found)
    print(f"median absolute difference of the logarithm of the speed-up: {middle:.4f}")
    within = {
        f"{threshold:.0%}": sum(abs(value) <= math.log1p(threshold) for value in found) / len(found)
        for threshold in THRESHOLDS
    }
    for threshold, share in within.items():
        print(f"within {threshold}: {share:.0%}")
    emit(RetestDocument(len(found), middle, within))
    return 0
