"""One network of `additive-network`, and the batches that it sees. Inference, in NumPy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..features.row_columns import NAMES, column
from .row_network import Matrix, RowBatch, RowNetwork
from .statement_rows import ScheduleRows

SECONDS = column("estimate.seconds")
INSTANCES = column("work.instances")
FORKS = column("threads.forks")

INSTANCE_SECONDS = 1e-9
"""Where networks start from, whatever the statement; from the estimate they get less far.

What LLVM leaves out of repetitions is for them to find out, too, up to the largest correction.
"""

FORK_SECONDS = 5e-6
LEAST_SECONDS = 1e-10


@dataclass(frozen=True)
class AdditiveNetworkOptions:
    """How many networks are averaged, the width of all layers, and how they are trained.

    Errors larger than `tolerance` (of the logarithm) count linearly. Schedules that are predicted e
    times too fast count `exp(caution)` times as much: MAPE is mostly about these. It is added
    itself, `percentages` times; so is, `ranking` times, the cross-entropy of the softmax over the
    schedules of a program (ListNet, Cao et al. 2007), in which a factor of `exp(sharpness)` in
    speed makes one e times as likely.
    """

    members: int = 1
    width: int = 192
    dropout: float = 0.2
    tolerance: float = 0.5
    caution: float = 0.8
    percentages: float = 0.3
    ranking: float = 0.0
    sharpness: float = 0.2


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows of schedules, and of their programs as written after these, each once.

    `originals` is the number of each schedule's program as written among all of them.
    """

    rows: RowBatch
    originals: NDArray[np.int64]

    @classmethod
    def of(cls, features: Sequence[ScheduleRows]) -> Batch:
        """The rows of some schedules."""
        groups, originals = with_originals(features)
        return cls(RowBatch.of(groups), np.array(originals))


def with_originals(features: Sequence[ScheduleRows]) -> tuple[list[Matrix], list[int]]:
    """Rows of the schedules, then those of each program as written, once; its number for each."""
    numbers: dict[int, int] = {}
    groups: list[Matrix] = [each.scheduled for each in features]
    originals: list[int] = []
    for each in features:
        key = id(each.original)
        if key not in numbers:
            numbers[key] = len(groups)
            groups.append(each.original)
        originals.append(numbers[key])
    return groups, originals


class AdditiveSum:
    """One network: rows of statements -> the speed-up of each schedule."""

    def __init__(self, width: int) -> None:
        """A network that takes all instances to be alike."""
        self.rows = RowNetwork(len(NAMES), SECONDS, width)
        self.fork_seconds = math.log(FORK_SECONDS)
        """The logarithm of what it takes to start a parallel loop."""

    def speedups(self, batch: Batch) -> Matrix:
        """The predicted speed-ups."""
        times = self.times(batch, self.rows.factors(batch.rows))
        return times[batch.originals] / times[: len(batch.originals)]

    def times(self, batch: Batch, factors: Matrix) -> Matrix:
        """Seconds of schedules, then of programs as written, by the factors of their rows."""
        rows = batch.rows.rows
        forks = np.float32(math.exp(self.fork_seconds)) * rows[:, FORKS]
        each = np.float32(INSTANCE_SECONDS) * rows[:, INSTANCES]
        return batch.rows.sums(each * factors + forks) + np.float32(LEAST_SECONDS)

    def state(self) -> Mapping[str, Any]:
        """What was learned, by the names of the network in torch."""
        fork_seconds = np.array(self.fork_seconds, np.float32)
        weights = {f"rows.{name}": value for name, value in self.rows.weights.items()}
        return {"fork_seconds": fork_seconds, **weights}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Takes over what `state` has given; raises KeyError, TypeError, ValueError."""
        self.rows.restore({name.removeprefix("rows."): value for name, value in state.items()})
        self.fork_seconds = float(state["fork_seconds"])
