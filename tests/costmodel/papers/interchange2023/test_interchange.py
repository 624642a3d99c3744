"""Models of interchanges: classes, features, accuracy, training, answers in a search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from loopwright.cli import main
from loopwright.costmodel.dataset.rows import rows_of
from loopwright.costmodel.dataset.store import Writer
from loopwright.costmodel.find import find_loop_pairs, find_model
from loopwright.costmodel.labels import Label, LabelledProgram
from loopwright.costmodel.learning.errors import LearningError
from loopwright.costmodel.learning.examples import ProgramExamples, Unsupported
from loopwright.costmodel.model_names import INTERCHANGE_MODEL
from loopwright.costmodel.models.learned_model import TrainingOptions
from loopwright.costmodel.models.model_files import load_model
from loopwright.costmodel.models.registry import model_class
from loopwright.costmodel.original import original_schedule
from loopwright.costmodel.papers.interchange2023.access_conflicts import CONFLICTS
from loopwright.costmodel.papers.interchange2023.accuracy import accuracies
from loopwright.costmodel.papers.interchange2023.benchmarks import benchmarks
from loopwright.costmodel.papers.interchange2023.classes import (
    CLASSES,
    NONE,
    SHOTS,
    answers,
    class_of,
)
from loopwright.costmodel.papers.interchange2023.interchange_model import (
    Interchanged,
    InterchangeFeaturiser,
)
from loopwright.costmodel.papers.interchange2023.nest_rows import NAMES, RowDescription
from loopwright.costmodel.papers.interchange2023.nest_vectors import VectorDescription
from loopwright.costmodel.papers.interchange2023.workload import (
    InterchangeWorkload,
    every_interchange,
)
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.polyhedral.schedule_tree import Tree
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.search.space.affine import interchanges, predicted_interchanges
from loopwright.passes.search.space.loop_pairs import Levels
from loopwright.passes.search.space.stages import FULL, with_loop_pairs
from loopwright.passes.syntax.pipeline import parse_pipeline

SMALL = {
    "interchange": ("statement_layers=32,24", "loop_layer=16", "class_layers=24,16", "dropout=0"),
    "interchange-network": ("members=1", "dropout=0"),
    "interchange-trees": ("members=1", "depth=4"),
}
EPOCHS = {"interchange": "40", "interchange-network": "60", "interchange-trees": "30"}
LEAST = {"interchange": 0.6, "interchange-network": 0.5, "interchange-trees": 0.6}
"""Accuracy in training. Labels are made up of names, which no rows tell: a network that stops where
it is best on other programs learns less of them by heart."""

STRIDED = """
func.func @program(%n: index, %A: memref<?x?xf32>, %B: memref<?x?xf32>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      %0 = affine.load %A[%j, %i] : memref<?x?xf32>
      affine.store %0, %B[%j, %i] : memref<?x?xf32>
    }
  }
  return
}
"""


def strided(size: int = 512) -> tuple[Schedule, SchedulingContext]:
    original = original_schedule(STRIDED)
    return original, SchedulingContext(infer_extents(original.scop, {"n": size}), 1)


def seconds(schedule: Schedule) -> float:
    """Made up: loops with the name `k`, `j`, `i` inside are slower and slower."""
    inner = str(schedule.transformations[0]).rstrip("}").rpartition(",")[2]
    return {"i": 4e-3, "j": 2e-3}.get(inner.rpartition(".")[2], 1e-3)


def label(schedule: Schedule, origin: str, time: float) -> Label:
    return Label(str(schedule), origin, "measured", time, 0.0, time, 3, 1, 2e-3, 0.0, 0.0, 0.0)


@pytest.fixture(scope="module")
def labels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("labels")
    workload = InterchangeWorkload(seed=1)
    with Writer(directory) as writer:
        for item in range(60):
            instance = workload.instance(item)
            original = original_schedule(instance.text)
            sizes = infer_extents(original.scop, instance.sizes)
            found = [
                label(schedule, origin, seconds(schedule))
                for schedule, origin in workload.schedules(item, original, sizes)
            ]
            baseline = Label("", "", "measured", 2e-3, 0.0, 2e-3, 3, 1, 2e-3, 0.0, 0.0, 0.0)
            program = LabelledProgram(item, instance, sizes, baseline, "{}", "{}", tuple(found))
            writer.append(rows_of(program))
    return directory


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOPWRIGHT_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


def test_classes() -> None:
    assert len(CLASSES) == 22 and CLASSES[NONE] is None
    assert CLASSES[class_of((2, 5))] == (2, 5)


def test_answers_are_legal_and_different() -> None:
    ratings = np.zeros((SHOTS, len(CLASSES)))
    ratings[:, 7], ratings[:, 3], ratings[1, NONE] = 3.0, 2.0, 9.0
    assert answers(ratings, [NONE, 3, 9]) == [3, NONE, 9]
    assert answers(ratings, [NONE]) == [NONE]


def examples(times: Mapping[int, float]) -> ProgramExamples:
    return ProgramExamples(
        "key",
        "text",
        "interchange",
        tuple(map(str, times)),
        1.0 / np.array(list(times.values())),
        np.array([time > 8 for time in times.values()]),
        tuple(Interchanged(None, number) for number in times),
    )


def test_accuracy_with_and_without_ties() -> None:
    program = examples({NONE: 1.0, 1: 0.98, 2: 0.5, 3: 0.51, 4: 9.0})
    ratings = np.zeros((1, SHOTS, len(CLASSES)))
    ratings[..., [3, 4, 1, 2, NONE]] = [5.0, 4.0, 3.0, 2.0, 1.0]
    found = accuracies([program], ratings)
    assert [found[f"strict {name}"] for name in ("1-shot", "2-shot", "any-shot")] == [0, 0, 1]
    assert [found[f"ties {name}"] for name in ("1-shot", "2-shot", "any-shot")] == [1, 1, 1]
    assert found["loss"] == pytest.approx(0.02)


@pytest.mark.parametrize("name", ["interchange-network", "interchange-trees"])
def test_a_program_of_which_all_was_cut_off_spoils_nothing(name: str) -> None:
    original, context = strided()
    featuriser = InterchangeFeaturiser(RowDescription())
    schedules = [schedule for schedule, _ in every_interchange(original)]
    features = tuple(featuriser.featurise(context, schedules))
    speedups, cut = np.array([0.125, 0.5]), np.ones(2, bool)
    texts = tuple(map(str, schedules))
    programs = [
        ProgramExamples("0", STRIDED, "test", texts, np.array([1.0, 2.0]), ~cut, features),
        ProgramExamples("1", STRIDED, "test", texts, speedups, cut, features),
    ]
    model = model_class(name)({"members": 1})
    model.fit(programs, programs, TrainingOptions(epochs=2))
    assert np.isfinite(model.score(features)).all()
    assert accuracies(programs[1:], model.ratings([features[0].nest]))["strict 1-shot"] == 1.0


def test_the_class_of_each_schedule() -> None:
    original = original_schedule(benchmarks()["matmul-MINI"].text)
    context = SchedulingContext(infer_extents(original.scop, benchmarks()["matmul-MINI"].sizes), 1)
    featuriser = InterchangeFeaturiser(RowDescription())
    schedules = [schedule for schedule, _ in every_interchange(original)]
    found = featuriser.featurise(context, schedules)
    assert [CLASSES[each.number] for each in found] == [None, (0, 1), (0, 2), (1, 2)]
    tiled = original.apply_all(parse_pipeline("tile{loops=i,j sizes=8,8}"))
    with pytest.raises(Unsupported):
        featuriser.featurise(context, [tiled])


def test_rows_tell_strides_and_trips() -> None:
    original, context = strided(100)
    found = RowDescription().describe(context, original, original.tree)
    assert found.classes == (NONE, class_of((0, 1)))
    column = {name: number for number, name in enumerate(NAMES)}
    written, swapped = found.rows[:, 0]
    assert (written[column["load.far0"]], written[column["load.next1"]]) == (1.0, 1.0)
    assert (swapped[column["load.next0"]], swapped[column["load.far1"]]) == (1.0, 1.0)
    assert swapped[column["seconds"]] < written[column["seconds"]]
    assert written[column["trips0"]] == 100.0 and written[column["instances"]] == 1e4


def test_rows_are_those_of_the_interchanged_nest() -> None:
    instance = benchmarks()["heat3d-MINI"]
    original = original_schedule(instance.text)
    context = SchedulingContext(infer_extents(original.scop, instance.sizes), 1)
    found = RowDescription().describe(context, original, original.tree)
    column = NAMES.index("affected")
    for schedule, origin in every_interchange(original):
        if origin == "I()":
            continue
        number = class_of((int(origin[3]), int(origin[6])))
        ours = found.rows[found.classes.index(number)].copy()
        ours[:, column] = 0.0
        again = RowDescription().describe(context, schedule, schedule.tree).rows[NONE]
        np.testing.assert_allclose(ours, again, rtol=1e-5)


CONFLICTING = """
func.func @conflicting(%A: memref<40x50xf64>, %B: memref<40x50xf64>, %C: memref<50xf64>) {{
  affine.for %i = 1 to 40 {{
    affine.for %j = 2 to 50 {{
      %a = affine.load {first} : memref<40x50xf64>
      affine.store %a, %B[%i, %j] : memref<40x50xf64>
      %b = affine.load {second} : memref<40x50xf64>
      affine.store %b, %A[%i, %j] : memref<40x50xf64>
    }}
  }}
  return
}}
"""


@pytest.mark.parametrize(
    ("first", "second", "written", "swapped"),
    [
        ("%A[%i, %j]", "%B[%i, %j]", (0, 0, 0, 0), (0, 0, 0, 0)),
        # A later statement has been, two iterations before, where an earlier one is now.
        ("%A[%i, %j - 2]", "%B[%i, %j]", (0, 0.5, 0, 0), (0, 0, 0, 0)),
        ("%A[%i, %j]", "%B[%i - 1, %j]", (0, 0, 0, 0), (1, 0, 0, 0)),
        ("%A[%j - 2, %j]", "%B[%i, %j]", (0, 0, 0, 1), (0, 0, 0, 1)),
        ("%A[%j - 2, %i]", "%B[%i, 3]", (0, 0, 0, 2), (0, 0, 1, 1)),
    ],
)
def test_rows_tell_what_keeps_loops_from_vectors(
    first: str, second: str, written: Sequence[float], swapped: Sequence[float]
) -> None:
    original = original_schedule(CONFLICTING.format(first=first, second=second))
    context = SchedulingContext(infer_extents(original.scop, {}), 1)
    found = RowDescription().describe(context, original, original.tree)
    columns = [NAMES.index(f"around.{name}") for name in CONFLICTS]
    for statement in (0, 1):
        assert found.rows[:, statement, columns].tolist() == [list(written), list(swapped)]


def test_vectors_have_a_row_per_statement_and_loop() -> None:
    instance = benchmarks()["jacobi2d-MINI"]
    original = original_schedule(instance.text)
    context = SchedulingContext(infer_extents(original.scop, instance.sizes), 1)
    found = VectorDescription().describe(context, original, original.tree)
    assert len(found.statements) == 2 and len(found.loops) == 5


@pytest.mark.parametrize("name", list(SMALL))
def test_training(
    name: str, labels: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "model.npz"
    options = [part for option in SMALL[name] for part in ("--option", option)]
    command = ["train", str(labels), "--model", name, "-o", str(output), *options]
    assert main([*command, "--epochs", EPOCHS[name], "--learning-rate", "0.01"]) == 0
    printed = capsys.readouterr().out
    assert "strict 1-shot" in printed and "ties any-shot" in printed and "MAPE" not in printed
    figures = load_model(output).card["figures"]
    assert figures["training"]["strict 1-shot"] > LEAST[name]
    assert figures["training"]["strict 1-shot"] <= figures["training"]["strict 2-shot"]
    original, context = strided()
    model = find_loop_pairs(str(output))
    (first, *_) = model.rate(context, original, original.tree)
    assert set(first) == set(CLASSES)
    with pytest.raises(LearningError, match="--interchange"):
        find_model(str(output))


class Fixed:
    """Rates in the same way whatever the nest."""

    def __init__(self, *order: Levels | None) -> None:
        self.order = order

    def rate(
        self, context: SchedulingContext, schedule: Schedule, nest: Tree
    ) -> Sequence[Mapping[Levels | None, float]]:
        rated = dict.fromkeys(CLASSES, -100.0)
        rated.update({levels: -float(place) for place, levels in enumerate(self.order)})
        return [rated] * SHOTS if self.order else []


def proposed(model: Fixed, text: str, shots: int = 2) -> Iterator[str]:
    original = original_schedule(text)
    propose = predicted_interchanges(model, shots)
    for move in propose(original, original.tree, SchedulingContext({}, 1)):
        (step,) = move.steps
        yield ",".join(name.rpartition(".")[2] for name in step.loops)


def test_a_search_asks_for_the_first_answers() -> None:
    product = benchmarks()["matmul-MINI"].text
    assert list(proposed(Fixed((1, 2), None, (0, 1)), product)) == ["k,j"]
    assert list(proposed(Fixed((1, 2), (0, 1), None), product)) == ["k,j", "j,i"]
    # Without features for the nest, all pairs are looked at.
    assert len(list(proposed(Fixed(), product))) == 3


def test_illegal_answers_are_passed_over() -> None:
    seidel = benchmarks()["seidel2d-MINI"].text
    assert list(proposed(Fixed((0, 1), (1, 2), (0, 2)), seidel, SHOTS)) == []


def test_a_model_takes_the_place_of_all_interchanges() -> None:
    stages = with_loop_pairs(FULL, Fixed())
    before = {stage.name: stage.proposers for stage in FULL}
    for stage in stages:
        assert interchanges not in stage.proposers
        assert len(stage.proposers) == len(before[stage.name])


def test_the_shipped_model_knows_the_matrix_product() -> None:
    instance = benchmarks()["matmul-MEDIUM"]
    original = original_schedule(instance.text)
    context = SchedulingContext(infer_extents(original.scop, instance.sizes), 1)
    propose = predicted_interchanges(find_loop_pairs(INTERCHANGE_MODEL), 1)
    (move,) = propose(original, original.tree, context)
    assert [name.rpartition(".")[2] for step in move.steps for name in step.loops] == ["k", "j"]


def test_an_unknown_name() -> None:
    with pytest.raises(LearningError, match="trees"):
        find_loop_pairs("forest")
