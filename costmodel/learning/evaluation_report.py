"""Evaluation report of a model: metrics over programs, and their table."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from . import metrics
from .examples import ProgramExamples

FEWEST = 4
"""A program with fewer pairs says nothing about ranking."""


class Scorer(Protocol):
    """Anything that predicts speed-ups from features, such as a `LearnedModel`."""

    def score(self, features: Sequence[Any]) -> NDArray[np.float64]:
        """The predicted speed-ups of schedules, from their features."""
        ...


@dataclass(frozen=True, eq=False)
class ProgramPredictions:
    """Predicted and measured speed-ups of the schedules of one program."""

    key: str
    predicted: NDArray[np.float64]
    measured: NDArray[np.float64]
    censored: NDArray[np.bool_]


@dataclass(frozen=True)
class Metrics:
    """Metrics over all pairs, and means of per-program metrics (`within`).

    Errors and R^2 are of measured pairs only; censored ones take part, with their bound, in the
    ranking within programs. `misjudged` is the share of censored pairs that are predicted to be
    faster than twice their bound. `regret` is by how much the choices are slower than the best
    candidates, in the geometric mean. Shares, not percentages; NaN where there is nothing to count.
    """

    programs: int
    pairs: int
    censored: int
    mape: float
    median_error: float
    pearson: float
    spearman: float
    r_squared: float
    pearson_within: float
    spearman_within: float
    ndcg: float
    ndcg_1: float
    ndcg_5: float
    regret: float
    misjudged: float


def predictions(
    model: Scorer, programs: Iterable[ProgramExamples], lowest: float = 1e-3
) -> list[ProgramPredictions]:
    """What a model says of programs; not less than `lowest`, as in a search."""
    return [
        ProgramPredictions(
            program.key,
            np.maximum(model.score(program.features), lowest),
            program.speedups,
            program.censored,
        )
        for program in programs
    ]


def constant_predictions(
    programs: Iterable[ProgramExamples], value: float
) -> list[ProgramPredictions]:
    """The same speed-up for everything: what a model has to be compared with."""
    return [
        ProgramPredictions(
            program.key,
            np.full_like(program.speedups, value),
            program.speedups,
            program.censored,
        )
        for program in programs
    ]


def best_constant(programs: Sequence[ProgramExamples]) -> float:
    """The constant with the smallest MAPE on measured pairs: a median weighted by 1 / speed-up."""
    values = np.sort(np.concatenate([each.speedups[~each.censored] for each in programs]))
    weights = np.cumsum(1 / values)
    return float(values[np.searchsorted(weights, weights[-1] / 2)])


def evaluate(programs: Sequence[ProgramPredictions]) -> Metrics:
    """All figures; raises ValueError without programs."""
    predicted = np.concatenate([each.predicted for each in programs])
    measured = np.concatenate([each.measured for each in programs])
    censored = np.concatenate([each.censored for each in programs])
    certain = ~censored
    errors = metrics.absolute_percentage_errors(predicted[certain], measured[certain])
    ranked = [each for each in programs if len(each.measured) >= FEWEST]
    return Metrics(
        len(programs),
        len(measured),
        int(censored.sum()),
        float(errors.mean()) if len(errors) else math.nan,
        float(np.median(errors)) if len(errors) else math.nan,
        metrics.pearson(predicted[certain], measured[certain]),
        metrics.spearman(predicted[certain], measured[certain]),
        metrics.r_squared(predicted[certain], measured[certain]) if len(errors) else math.nan,
        _mean(metrics.pearson(each.predicted, each.measured) for each in ranked),
        _mean(_rank_correlation(each) for each in ranked),
        _mean(metrics.ndcg(each.predicted, each.measured) for each in ranked),
        _mean(metrics.ndcg(each.predicted, each.measured, 1) for each in ranked),
        _mean(metrics.ndcg(each.predicted, each.measured, 5) for each in ranked),
        math.expm1(_mean(metrics.regret(each.predicted, each.measured) for each in ranked)),
        float((predicted[censored] > 2 * measured[censored]).mean()) if censored.any() else 0.0,
    )


def _rank_correlation(program: ProgramPredictions) -> float:
    """Spearman's; 0 where the predictions are all the same, as nothing is ranked then."""
    found = metrics.spearman(program.predicted, program.measured)
    return 0.0 if math.isnan(found) and np.ptp(program.measured) > 0 else found


def _mean(values: Iterable[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return float(np.mean(known)) if known else math.nan


_ROWS: Sequence[tuple[str, Callable[[Metrics], str]]] = (
    ("programs", lambda m: f"{m.programs}"),
    ("pairs", lambda m: f"{m.pairs}"),
    ("censored", lambda m: f"{m.censored}"),
    ("MAPE", lambda m: f"{m.mape:.1%}"),
    ("median error", lambda m: f"{m.median_error:.1%}"),
    ("Pearson", lambda m: f"{m.pearson:.3f}"),
    ("Spearman", lambda m: f"{m.spearman:.3f}"),
    ("R^2", lambda m: f"{m.r_squared:.3f}"),
    ("Pearson within program", lambda m: f"{m.pearson_within:.3f}"),
    ("Spearman within program", lambda m: f"{m.spearman_within:.3f}"),
    ("nDCG", lambda m: f"{m.ndcg:.3f}"),
    ("nDCG@1", lambda m: f"{m.ndcg_1:.3f}"),
    ("nDCG@5", lambda m: f"{m.ndcg_5:.3f}"),
    ("regret of the choice", lambda m: f"{m.regret:.1%}"),
    ("censored misjudged", lambda m: f"{m.misjudged:.1%}"),
)


def table(columns: Mapping[str, Metrics]) -> list[list[str]]:
    """Rows of cells, with a heading: a line per figure, a column per set of predictions."""
    return [
        ["", *columns],
        *([name, *(show(found) for found in columns.values())] for name, show in _ROWS),
    ]


def as_plain_data(found: Metrics) -> dict[str, float]:
    """For JSON: numbers by name, without those that are NaN."""
    return {name: value for name, value in asdict(found).items() if not math.isnan(value)}
