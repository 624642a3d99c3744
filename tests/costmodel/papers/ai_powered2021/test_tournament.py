"""Working sets as features, and the tournament that ranks by them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.scops import schedule_of

from loopwright.costmodel.find import find_ranker
from loopwright.costmodel.learning.errors import LearningError
from loopwright.costmodel.learning.examples import ProgramExamples
from loopwright.costmodel.learning.metrics import spearman
from loopwright.costmodel.model_names import DEFAULT_RANKER
from loopwright.costmodel.models.learned_model import TrainingOptions, TrainingProgress
from loopwright.costmodel.models.model_files import load_model, save_model
from loopwright.costmodel.papers.ai_powered2021.duel_network import scaled
from loopwright.costmodel.papers.ai_powered2021.tournament import FEATURES, Tournament
from loopwright.costmodel.papers.ai_powered2021.two_level_tiles import two_level_tiles
from loopwright.costmodel.papers.ai_powered2021.working_set_features import (
    PUBLISHED,
    SPLIT,
    per_level,
    published,
    reuses_of,
    split,
)
from loopwright.costmodel.papers.ai_powered2021.working_sets import WorkingSet
from loopwright.kernels.catalogue import catalogue
from loopwright.passes.estimate.scheduling_context import SchedulingContext

SMALL = {"layers": "32,16", "members": "1", "pairs": "1000"}
SIZES = {"M": 100, "N": 200, "K": 300}


def test_a_working_set_is_in_the_fastest_cache_that_holds_it() -> None:
    found = [WorkingSet(1, 10), WorkingSet(1, 100), WorkingSet(1, 101), WorkingSet(1, 5000)]
    assert per_level(found, {1: 100, 2: 1000, 3: 2000}) == ((110, 2), (101, 1), (0, 0), (5000, 1))
    # Without a cache of the second level, the third one has what the first does not hold.
    assert per_level(found, {1: 100, 3: 2000})[1:] == ((0, 0), (101, 1), (5000, 1))


def test_features_have_their_names() -> None:
    schedule = schedule_of(catalogue()["gemm/gemm"].text)
    reuses = reuses_of(schedule, SchedulingContext(SIZES, 1))
    assert len(published(reuses, schedule.target.caches)) == len(PUBLISHED)
    assert len(split(reuses, schedule.target.caches)) == len(SPLIT)
    for kind, names in FEATURES.items():
        (row,) = Tournament({"features": kind}).featuriser.featurise(
            SchedulingContext(SIZES, 1), [schedule]
        )
        assert len(row) == len(names) and np.isfinite(row).all()


def examples(seed: int, count: int = 40) -> ProgramExamples:
    """The fewer bytes there are in the memory, the faster; in units that differ by program."""
    random = np.random.default_rng(seed)
    rows = random.random((count, len(PUBLISHED))).astype(np.float32)
    return ProgramExamples(
        str(seed),
        str(seed),
        "random",
        ("",) * count,
        np.exp(-3.0 * rows[:, -1].astype(np.float64)),
        np.zeros(count, np.bool_),
        tuple(row * 2.0**seed for row in rows),
    )


def test_the_tournament_learns_an_order(tmp_path: Path) -> None:
    model = Tournament({"features": "published", **SMALL})
    model.fit([examples(n) for n in range(6)], [examples(9)], TrainingOptions(epochs=20))
    test = examples(8)
    wins = model.score(test.features)
    assert spearman(wins, test.speedups) > 0.9
    assert wins.min() >= 0 and wins.max() < 1.2
    save_model(tmp_path / "t.npz", model, {})
    again = load_model(tmp_path / "t.npz").model
    assert again.score(test.features).tolist() == wins.tolist()


def test_finished_networks_vote_for_those_that_were_interrupted() -> None:
    epochs = 3
    parts = [examples(n) for n in range(4)], [examples(9)]
    options = {"features": "published", **SMALL, "members": "3"}
    errors: list[float] = []

    def interrupt(progress: TrainingProgress) -> None:
        errors.append(progress.validation_error)
        if progress.epoch == epochs + 1:
            raise KeyboardInterrupt

    model = Tournament(options)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*parts, TrainingOptions(epochs=epochs, report=interrupt))
    first = Tournament({**options, "members": "1"})
    whole = Tournament(options)
    whole.fit(*parts, TrainingOptions(epochs=epochs))
    first.networks = whole.networks[:1]
    test = examples(8).features
    # The last state of the first network, in the place of all.
    np.testing.assert_allclose(model.score(test), first.score(test))
    assert len(errors) == epochs + 1 and len(model.state()) == 3


def test_the_order_of_the_candidates_does_not_matter() -> None:
    model = Tournament({"features": "published", **SMALL})
    rows = examples(3).features
    turned = model.score(rows[::-1])[::-1]
    assert np.allclose(model.score(rows), turned)


def test_scaling_is_among_those_that_compete() -> None:
    rows = np.array([[1.0, 5.0], [3.0, 5.0], [2.0, 5.0]], np.float32)
    assert scaled(rows).tolist() == [[0.0, 0.0], [1.0, 0.0], [0.5, 0.0]]


def test_a_tournament_has_no_speedups() -> None:
    schedule = schedule_of(catalogue()["gemm/gemm"].text)
    with pytest.raises(LearningError, match="--rank"):
        Tournament({}).predict(SchedulingContext(SIZES, 1), [schedule])
    with pytest.raises(LearningError, match="features"):
        Tournament({"features": "few"})


def test_two_levels_of_tiles_are_different_and_legal() -> None:
    schedule = schedule_of(catalogue()["gemm/gemm"].text)
    found = list(two_level_tiles(schedule, 0, SchedulingContext(SIZES, 1), 20))
    assert len({str(each) for each in found}) == 20
    for each in found:
        assert sum(step.name == "tile" for step in each.transformations) >= 2
    again = list(two_level_tiles(schedule, 0, SchedulingContext(SIZES, 1), 20))
    assert [str(each) for each in again] == [str(each) for each in found]


def test_the_shipped_weights_fit_the_features() -> None:
    schedule = schedule_of(catalogue()["gemm/gemm"].text)
    context = SchedulingContext(SIZES, 1)
    found = list(two_level_tiles(schedule, 0, context, 12))
    assert sorted(find_ranker(DEFAULT_RANKER).rank(context, found)) == list(range(12))
