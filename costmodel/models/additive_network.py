"""Model `additive-network`: sum over statements of times predicted by small networks.

The same sum as `additive`, of the same rows: in place of boosted trees, layers tell how long an
instance of each statement takes. The program as written goes through the same layers. Prediction
and adaptation are in NumPy; `additive_network_training` trains with torch.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...support.blas_threads import one_blas_thread
from ...support.extras import extra_for
from ..features.row_columns import NAMES, column
from ..learning.examples import ProgramExamples
from .learned_model import LearnedModel, TrainingOptions
from .options import read_options
from .row_network import Matrix, RowBatch, RowNetwork
from .statement_rows import ScheduleRows, StatementRows

SECONDS = column("estimate.seconds")
INSTANCES = column("work.instances")
FORKS = column("threads.forks")

INSTANCE_SECONDS = 1e-9
"""Where networks start from, whatever the statement; from the estimate they get less far.

What LLVM leaves out of repetitions is for them to find out, too, up to the largest correction.
"""

FORK_SECONDS = 5e-6
LEAST_SECONDS = 1e-10

SCORED_AT_ONCE = 512


@dataclass(frozen=True)
class AdditiveNetworkOptions:
    """How many networks are averaged, the width of all layers, and how they are trained.

    Errors larger than `tolerance` (of the logarithm) count linearly. Schedules that are predicted e
    times too fast count `exp(caution)` times as much: MAPE is mostly about these. It is added
    itself, `percentages` times.
    """

    members: int = 1
    width: int = 192
    dropout: float = 0.2
    tolerance: float = 0.5
    caution: float = 0.8
    percentages: float = 0.3


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


class AdditiveNetwork(LearnedModel):
    """The model `additive-network`."""

    name: ClassVar[str] = "additive-network"
    sees_machine: ClassVar[bool] = True
    sees_fast_math: ClassVar[bool] = True
    trains_with: ClassVar[str | None] = "torch"

    def __init__(self, configuration: Mapping[str, Any]) -> None:
        """Networks that have learned nothing yet; raises LearningError for unknown options."""
        self.options = read_options(AdditiveNetworkOptions, configuration, self.name)
        super().__init__(dataclasses.asdict(self.options))
        self.members = [AdditiveSum(self.options.width) for _ in range(self.options.members)]

    @property
    def featuriser(self) -> StatementRows:
        """Rows of statements, as those of `additive`."""
        return StatementRows()

    def score(self, features: Sequence[Any]) -> NDArray[np.float64]:
        """The predicted speed-ups: the mean of the logarithms of what the networks predict."""
        return np.exp(np.log(self.scores_of_members(features)).mean(axis=0))

    def scores_of_members(self, features: Sequence[Any]) -> NDArray[np.float64]:
        """The speed-ups that each member predicts: members x schedules."""
        with one_blas_thread():
            found = [
                [member.speedups(batch) for member in self.members] for batch in _batches(features)
            ]
        if not found:
            return np.zeros((len(self.members), 0))
        return np.concatenate(found, axis=1).astype(np.float64)

    def fit(
        self,
        training: Sequence[ProgramExamples],
        validation: Sequence[ProgramExamples],
        options: TrainingOptions,
    ) -> None:
        """Trains one network after the other; raises LearningError without programs."""
        with extra_for("training additive-network"):
            from .additive_network_training import train

        train(self.members, training, validation, self.options, options)

    def adapt(self, programs: Sequence[ProgramExamples], options: TrainingOptions) -> None:
        """Trains a little more, on labels of another machine; raises LearningError."""
        from .additive_network_adapting import adapt

        for number, member in enumerate(self.members):
            own = options.of_part(str(number), options.seed + number)
            adapt(member, programs, self.options, own)

    def state(self) -> Mapping[str, Any]:
        """The weights of each network."""
        return {str(number): member.state() for number, member in enumerate(self.members)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Takes over weights."""
        for number, member in enumerate(self.members):
            member.restore(state[str(number)])


def _batches(features: Sequence[ScheduleRows]) -> Iterator[Batch]:
    for start in range(0, len(features), SCORED_AT_ONCE):
        yield Batch.of(features[start : start + SCORED_AT_ONCE])
