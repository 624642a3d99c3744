"""The additive cost model and its trees."""

from __future__ import annotations

import numpy as np
import pytest
from support.scaled_rows import SCHEDULES, TEXT, errors, examples, sizes

from loopwright.costmodel.features.extract import rows_of
from loopwright.costmodel.features.row_columns import column
from loopwright.costmodel.find import find_model
from loopwright.costmodel.learning.errors import LearningError
from loopwright.costmodel.learning.examples import ProgramExamples
from loopwright.costmodel.models.additive import Additive
from loopwright.costmodel.models.forest import Forest, Growth, digitise, grow, quantiles
from loopwright.costmodel.models.learned_model import TrainingOptions
from loopwright.costmodel.original import original_schedule
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.syntax.pipeline import parse_pipeline

SMALL = {"members": 2, "trees": 60, "depth": 3, "rate": 0.2, "share": 1.0}


def test_a_tree_finds_the_question_that_separates():
    random = np.random.default_rng(0)
    rows = random.normal(size=(500, 4)).astype(np.float32)
    wanted = np.where(rows[:, 2] > 0.3, 2.0, -1.0)
    thresholds = quantiles(rows)
    tree = grow(
        digitise(rows, thresholds),
        thresholds,
        -wanted,
        np.ones(len(rows)),
        Growth(depth=1, share=1.0, smoothing=1e-6),
        random,
    )
    assert tree.features.tolist() == [2]
    assert tree.thresholds[0] == pytest.approx(0.3, abs=0.1)
    predicted = Forest.of([tree], 1).predict(rows)
    assert np.mean(np.abs(predicted - wanted) < 0.2) > 0.95


def test_digits_agree_with_comparisons():
    rows = np.array([[0.0], [1.0], [1.0], [2.0], [5.0]], dtype=np.float32)
    (edges,) = quantiles(rows)
    assert edges.tolist() == [0.5, 1.5, 3.5]
    assert digitise(rows, [edges]).tolist() == [[0, 1, 1, 2, 3]]


def test_without_trees_the_program_as_written_is_as_fast_as_itself():
    original = original_schedule(TEXT)
    (speedup,) = Additive({}).predict(SchedulingContext(sizes(100, 100), 2), [original])
    assert speedup == pytest.approx(1.0)


def test_it_learns_by_which_factors_estimates_are_wrong():
    programs = examples(24)
    model = Additive(SMALL)
    before = errors(model, programs[20:])
    model.fit(programs[:20], programs[20:22], TrainingOptions())
    assert before > 0.3
    assert errors(model, programs[20:]) < before / 4


def test_the_same_seed_gives_the_same_model():
    programs = examples(6)
    models = [Additive(SMALL) for _ in range(3)]
    for model, seed in zip(models, (1, 1, 2), strict=True):
        model.fit(programs[:5], programs[5:], TrainingOptions(epochs=5, seed=seed))
    first, same, other = (model.score(programs[5].features) for model in models)
    np.testing.assert_array_equal(first, same)
    assert not np.array_equal(first, other)


def test_below_the_bound_of_a_censored_pair_nothing_is_learned():
    (program,) = examples(1)
    censored = np.ones(len(SCHEDULES), dtype=bool)
    bounds = Additive({}).score(program.features) * 2
    bounded = ProgramExamples("0", TEXT, "test", SCHEDULES, bounds, censored, program.features)
    model = Additive(SMALL)
    before = model.score(program.features)
    model.fit([bounded], [], TrainingOptions(epochs=5))
    np.testing.assert_allclose(model.score(program.features), before)


def test_a_stored_model_predicts_the_same():
    programs = examples(6)
    model = Additive(SMALL)
    model.fit(programs, [], TrainingOptions(epochs=5))
    restored = Additive.restored(model.configuration, model.state())
    np.testing.assert_array_equal(
        restored.score(programs[0].features), model.score(programs[0].features)
    )


def test_what_is_different_elsewhere_is_learned_on_top():
    programs = examples(24)
    model = Additive(SMALL)
    model.fit(programs[:20], [], TrainingOptions())
    slow = SCHEDULES.index("interchange{loops=j,i}")
    for program in programs:
        program.speedups[slow] /= 2
    before, trees = errors(model, programs[20:]), len(model.forest.features)
    model.adapt(programs[:20], TrainingOptions(epochs=60))
    assert len(model.forest.features) == trees + 60
    assert errors(model, programs[20:]) < before / 2


def test_forks_cost_what_the_model_says():
    model = Additive({})
    parallel = original_schedule(TEXT).apply_all(parse_pipeline("parallel{loops=j}"))
    context = SchedulingContext(sizes(50, 64), 2)
    rows = rows_of([parallel], context)[0]
    assert rows[:, column("threads.forks")].sum() == 50
    model.fork_seconds = 1.0
    slow = model.predict(context, [parallel])[0]
    model.fork_seconds = 1e-9
    assert slow < 0.01 * model.predict(context, [parallel])[0]


@pytest.mark.parametrize("name", ["additive", "ensemble"])
def test_the_shipped_weights_fit_the_features(name: str):
    model = find_model(name)
    original = original_schedule(TEXT)
    by_columns = original.apply_all(parse_pipeline("interchange{loops=j,i}"))
    written, slow = model.predict(SchedulingContext(sizes(2000, 2048), 1), [original, by_columns])
    assert written == pytest.approx(1.0)
    assert slow < 0.7


def test_nothing_to_learn_from_is_an_error():
    with pytest.raises(LearningError, match="too few programs"):
        Additive({}).fit([], [], TrainingOptions())


def test_unknown_options_are_errors():
    with pytest.raises(LearningError, match="did you mean trees"):
        Additive({"tree": 3})
