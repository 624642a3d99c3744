"""Figures over several programs, by hand, and the pictures."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from loopwright.costmodel.learning.evaluation_report import (
    ProgramPredictions,
    as_plain_data,
    best_constant,
    evaluate,
    table,
)
from loopwright.costmodel.learning.examples import ProgramExamples
from loopwright.costmodel.learning.prediction_plots import write_plots


def program(predicted: list[float], measured: list[float], censored: int = 0) -> ProgramPredictions:
    cut = np.zeros(len(measured), np.bool_)
    cut[:censored] = True
    return ProgramPredictions("00", np.array(predicted), np.array(measured), cut)


def test_errors_are_of_all_measured_pairs_and_rankings_of_each_program() -> None:
    found = evaluate(
        [
            program([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]),
            program([4.0, 3.0, 2.0, 2.0, 1.0], [0.1, 2.0, 4.0, 4.0, 8.0], censored=1),
            program([5.0], [1.0]),
        ]
    )
    assert (found.programs, found.pairs, found.censored) == (3, 10, 1)
    assert found.mape == pytest.approx((0.5 + 0.5 + 0.5 + 0.875 + 4) / 9)
    assert found.median_error == pytest.approx(0.5)
    assert found.spearman_within == pytest.approx(0)
    assert found.ndcg_1 == pytest.approx((1 + 0.1 / 8) / 2)
    assert found.regret == pytest.approx((8 / 0.1) ** (1 / 2) - 1)
    assert found.misjudged == 1


def test_a_constant_ranks_nothing() -> None:
    found = evaluate([program([2.0] * 4, [1.0, 2.0, 3.0, 4.0])])
    assert found.spearman_within == 0
    assert math.isnan(found.pearson)
    assert "pearson" not in as_plain_data(found)
    assert any(row[0] == "Spearman within program" for row in table({"constant": found}))


def test_choices_that_are_predicted_alike_share_their_regret() -> None:
    found = evaluate([program([3.0, 3.0, 1.0, 2.0], [1.0, 4.0, 2.0, 2.0])])
    assert found.regret == pytest.approx(4 ** (1 / 2) - 1)


def test_the_best_constant_has_the_smallest_error() -> None:
    random = np.random.default_rng(3)
    speedups = random.lognormal(0, 1, 101)
    examples = ProgramExamples("", "", "", (), speedups, np.zeros(101, np.bool_), ())
    value = best_constant([examples])
    errors = [np.mean(np.abs(c - speedups) / speedups) for c in (value, *speedups)]
    assert errors[0] == pytest.approx(min(errors))


def test_pictures_are_written(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    programs = [
        program(list(random.lognormal(0, 1, 5)), list(random.lognormal(0, 1, 5))) for _ in range(3)
    ]
    paths = write_plots(tmp_path, programs, "a model")
    assert len(paths) == 4
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in paths)
