"""What the published models see of programs and schedules."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.labels import PRODUCT, TWO_NESTS

from loopwright.costmodel.learning.errors import LearningError
from loopwright.costmodel.learning.examples import Unsupported
from loopwright.costmodel.original import original_schedule
from loopwright.costmodel.papers.common import computation_vectors as tiramisu
from loopwright.costmodel.papers.common.computation_vectors import TiramisuFeaturiser
from loopwright.costmodel.papers.common.loop_structure import anchor, structure_of
from loopwright.costmodel.papers.common.statement_view import StatementView
from loopwright.costmodel.papers.common.step_events import KINDS, Event, event_lists
from loopwright.costmodel.papers.common.tree_features import TreeFeatures
from loopwright.costmodel.papers.common.vector_schema import Field, Schema
from loopwright.costmodel.papers.looper2024 import features as looper
from loopwright.costmodel.papers.looper2024.features import STEP, LooperFeaturiser
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.pipeline import parse_pipeline

REQUEST = SchedulingContext(
    {"A_dim0": 64, "A_dim1": 32, "B_dim0": 32, "B_dim1": 48, "C_dim0": 64, "C_dim1": 48}, 2
)
TRIANGLE = SchedulingContext({"A_dim0": 64, "B_dim0": 64, "B_dim1": 64}, 2)


def scheduled(template: str, pipeline: str = "") -> Schedule:
    original = original_schedule(template.format(constant="1.5"))
    return original.apply_all(parse_pipeline(pipeline))


def log1p(*values: float) -> list[float]:
    return [math.copysign(math.log1p(abs(value)), value) for value in values]


def events(template: str, pipeline: str, statement: str) -> list[Event]:
    schedule = scheduled(template, pipeline)
    context = REQUEST if template is PRODUCT else TRIANGLE
    return event_lists(context, schedule, anchor(schedule).scop)[statement]


def features(featuriser: TiramisuFeaturiser | LooperFeaturiser, pipeline: str) -> TreeFeatures:
    (found,) = featuriser.featurise(REQUEST, [scheduled(PRODUCT, pipeline)])
    return found


class TestSchema:
    SCHEMA = Schema((Field("a", 2), Field("tag", is_tag=True), Field("b")))

    def test_slices_are_computed_and_values_are_log_transformed(self) -> None:
        assert self.SCHEMA.width == 4
        assert self.SCHEMA.slices["b"] == slice(3, 4)
        vector = self.SCHEMA.vector({"a": [math.e - 1], "tag": 1.0, "b": -(math.e - 1)})
        assert vector == pytest.approx([1, 0, 1, -1])

    def test_other_fields_are_another_version(self) -> None:
        assert self.SCHEMA.version != Schema(self.SCHEMA.fields[:2]).version


class TestStructure:
    def test_the_tree_is_that_of_the_program(self) -> None:
        structure = structure_of(REQUEST, scheduled(PRODUCT))
        assert structure.shape == ((0, ((1, (0, (2, (1,)))),)),)
        assert [c.levels for c in structure.computations] == [(0, 1), (0, 1, 2)]
        assert [c.loops for c in structure.computations] == [(0, 1), (0, 1, 2)]

    def test_structural_steps_change_it_and_others_do_not(self) -> None:
        shapes = {
            pipeline: structure_of(REQUEST, anchor(scheduled(PRODUCT, pipeline))).shape
            for pipeline in ("", "tile{loops=i,j sizes=8,8}", "distribute{loops=j}")
        }
        assert shapes["tile{loops=i,j sizes=8,8}"] == shapes[""]
        assert shapes["distribute{loops=j}"] == ((0, ((1, (0,)), (2, ((3, (1,)),)))),)

    def test_tile_loops_are_left_out(self) -> None:
        schedule = scheduled(PRODUCT, "tile{loops=i,j sizes=8,8},distribute{loops=j}")
        assert structure_of(REQUEST, anchor(schedule)).shape == (
            (0, ((1, (0,)), (2, ((3, (1,)),)))),
        )

    def test_more_loops_than_a_vector_has_room_for_are_refused(self) -> None:
        loops = "".join(f"affine.for %i{n} = 0 to %n {{\n" for n in range(8))
        text = f"""func.func @program(%n: index, %A: memref<?xf32>, %x: f32) {{
            {loops} affine.store %x, %A[%i7] : memref<?xf32> {"}" * 8}
            return }}"""
        with pytest.raises(Unsupported, match="more than 7 loops"):
            TiramisuFeaturiser().featurise(
                SchedulingContext({"n": 4, "A_dim0": 4}, 1), [original_schedule(text)]
            )


class TestEvents:
    def test_steps_concern_the_iterators_of_their_loops(self) -> None:
        assert events(PRODUCT, "distribute{loops=j},interchange{loops=k,S1.j}", "S1") == [
            Event("distribute", ((1, 1.0),)),
            Event("interchange", ((2, 1.0), (1, 2.0))),
        ]

    def test_loops_are_followed_through_tiles_and_interchanges(self) -> None:
        pipeline = (
            "distribute{loops=i,j},interchange{loops=k,S1.i,S1.j},"
            "tile{loops=k,S1.i sizes=4,16},parallel{loops=S1.it},vectorize{loops=S1.j width=8}"
        )
        assert events(PRODUCT, pipeline, "S1")[2:] == [
            Event("tile", ((2, 4.0), (0, 16.0))),
            Event("parallel", ((0, 1.0),)),
            Event("vectorize", ((1, 8.0),)),
        ]

    def test_a_step_of_one_nest_does_not_concern_the_other(self) -> None:
        assert events(TWO_NESTS, "parallel{loops=S1.i}", "S0") == []
        assert events(TWO_NESTS, "parallel{loops=S1.i}", "S1") == [Event("parallel", ((0, 1.0),))]

    def test_the_order_of_steps_is_kept(self) -> None:
        there = "interchange{loops=j,S1.i},tile{loops=j,S1.i sizes=8,16}"
        assert [event.kind for event in events(TWO_NESTS, there, "S1")] == ["interchange", "tile"]

    def test_an_affine_schedule_is_a_row_per_loop(self) -> None:
        found = events(PRODUCT, "affine-schedule{fusion=minimal}", "S1")
        assert [event.kind for event in found] == ["affine-schedule"] * 3
        assert {event.parameters for event in found} == {((d, 1.0),) for d in range(3)}

    def test_parts_of_a_split_statement_have_its_steps_before(self) -> None:
        schedule = scheduled(TWO_NESTS, "shift{loops=S0.i offset=2},split{loops=S0.i at=9}")
        found = event_lists(TRIANGLE, schedule, anchor(schedule).scop)
        parts = [name for name in found if name.startswith("S0")]
        assert len(parts) == 2
        assert all(found[name][0] == Event("shift", ((0, 2.0),)) for name in parts)


class TestStatements:
    def test_the_access_matrix_of_the_paper(self) -> None:
        text = """func.func @program(%n: index, %A: memref<?x?x?xf32>, %x: f32) {
            affine.for %i = 0 to %n { affine.for %j = 2 to %n {
                affine.store %x, %A[%i, %i + %j, %j - 2] : memref<?x?x?xf32> } }
            return }"""
        schedule = original_schedule(text)
        context = SchedulingContext({"n": 8, "A_dim0": 8, "A_dim1": 16, "A_dim2": 8}, 1)
        statistics = context.statistics(schedule.scop)
        view = StatementView(statistics, statistics.statements["S0"], (0, 1))
        (access,) = view.accesses
        assert view.access_matrix(access) == [[1, 0, 0], [1, 1, 0], [0, 1, -2]]
        swapped = StatementView(statistics, statistics.statements["S0"], (1, 0))
        assert swapped.access_matrix(access) == [[0, 1, 0], [1, 1, 0], [1, 0, -2]]
        assert swapped.bounds == [(2, 8), (0, 8)]

    def test_the_domain_of_a_triangle_is_exact_and_its_bounds_are_the_box(self) -> None:
        schedule = scheduled(TWO_NESTS)
        statistics = TRIANGLE.statistics(schedule.scop)
        view = StatementView(statistics, statistics.statements["S1"], (0, 1))
        assert view.bounds == [(0, 64), (0, 64)]
        assert sorted(view.constraints) == [[-1, 0, 63], [0, 1, 0], [1, -1, 0]]

    def test_reductions_and_expressions(self) -> None:
        schedule = scheduled(PRODUCT)
        statistics = REQUEST.statistics(schedule.scop)
        view = StatementView(statistics, statistics.statements["S1"], (0, 1, 2))
        assert view.reduction_levels == [False, False, True]
        assert view.expression == [("multiply", "f64"), ("add", "f64")]


class TestTiramisu:
    def test_bounds_tags_and_counts_are_where_their_names_say(self) -> None:
        found = features(TiramisuFeaturiser(), "tile{loops=i,j sizes=8,16},parallel{loops=it}")
        statement = found.structure.statements[1]
        places = tiramisu.statement_schema().slices
        assert statement[places["loop2.upper"]] == pytest.approx(log1p(32))
        assert statement[places["loop2.reduction"]] == 1
        assert statement[places["operations"]] == pytest.approx(log1p(1, 1, 0, 0))
        assert statement[places["written.shape"]][:2] == pytest.approx(log1p(64, 48))
        tags, places = found.tags[1], tiramisu.tag_schema("all").slices
        assert tags[places["loop0.tile"]] == 1 and tags[places["loop2.tile"]] == 0
        assert tags[places["loop1.tile.parameter"]] == pytest.approx(log1p(16), rel=1e-3)
        assert tags[places["loop0.parallel"]] == 1 and tags[places["loop1.parallel"]] == 0

    def test_the_published_tags_are_blind_to_other_steps(self) -> None:
        published = TiramisuFeaturiser("published")
        assert np.array_equal(
            features(published, "parallel{loops=i}").tags, features(published, "").tags
        )
        assert not np.array_equal(
            features(published, "unroll{loops=k factor=4}").tags, features(published, "").tags
        )

    def test_two_levels_of_tiles_differ_from_one(self) -> None:
        twice = "tile{loops=i,j sizes=32,32},tile{loops=i,j sizes=4,8}"
        tags = features(TiramisuFeaturiser(), twice).tags[1]
        places = tiramisu.tag_schema("all").slices
        assert tags[places["loop1.tile.parameter"]] == pytest.approx(log1p(32), rel=1e-3)
        assert tags[places["loop1.tile.inner"]] == pytest.approx(log1p(8), rel=1e-3)


class TestLooper:
    def test_a_vector_per_step_in_order(self) -> None:
        found = features(LooperFeaturiser(), "distribute{loops=j},interchange{loops=k,S1.j}")
        first, second = found.steps[1]
        kinds = STEP.slices["kind"]
        assert KINDS[int(first[kinds].argmax())] == "distribute"
        assert KINDS[int(second[kinds].argmax())] == "interchange"
        assert list(second[STEP.slices["touched"]][:4]) == [0, 1, 1, 0]
        assert second[STEP.slices["parameters"]][1:3] == pytest.approx(log1p(2, 1), rel=1e-3)
        assert len(found.steps[0]) == 1, "the interchange is of the other statement"

    @pytest.mark.parametrize("name", looper.CHOICES)
    def test_every_choice_of_the_ablation_changes_the_features(self, name: str) -> None:
        own, other = looper.CHOICES[name]
        assert getattr(LooperFeaturiser(), name) == own
        one, two = LooperFeaturiser(), LooperFeaturiser(**{name: other})
        assert one.schema != two.schema
        pipeline = "distribute{loops=j},interchange{loops=k,S1.j}"
        found = [features(featuriser, pipeline) for featuriser in (one, two)]
        shapes = [
            (
                each.structure.statements.shape,
                each.structure.expressions[1].shape,
                each.tags.shape,
                each.steps[1].shape,
            )
            for each in found
        ]
        assert shapes[0] != shapes[1]

    def test_unknown_choices_are_refused(self) -> None:
        with pytest.raises(LearningError, match="domain is matrix or box, not 'sphere'"):
            LooperFeaturiser(domain="sphere")

    def test_schedules_of_one_structure_share_what_is_known_of_it(self) -> None:
        original = scheduled(PRODUCT)
        texts = ("parallel{loops=i}", "unroll{loops=k factor=4}", "distribute{loops=j}")
        one, two, other = LooperFeaturiser().featurise(
            REQUEST, [original.apply_all(parse_pipeline(text)) for text in texts]
        )
        assert one.structure is two.structure
        assert one.structure is not other.structure
