"""Steps and names of loops of other types are refused, whatever transformation they are for."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

import loopwright
from loopwright.passes.schedules.schedule import Schedule, Transformation
from loopwright.passes.transformations.registry import all_transformations
from loopwright.passes.transformations.tile import Tile

PROGRAM = """
func.func @f(%n: index, %A: memref<?xf64>) {
  affine.for %i = 0 to %n {
    %a = affine.load %A[%i] : memref<?xf64>
    affine.store %a, %A[%i] : memref<?xf64>
  }
  return
}
"""


@pytest.fixture
def schedule() -> Schedule:
    return loopwright.load(PROGRAM)["f"].schedule()


OPTIONS = [
    (kind, field) for kind in all_transformations().values() for field in dataclasses.fields(kind)
]


@pytest.mark.parametrize(("kind", "field"), OPTIONS)
def test_options_have_their_types(
    schedule: Schedule, kind: type[Transformation], field: dataclasses.Field[Any]
) -> None:
    values: list[Any] = [2.5, object(), (2.5,), b"i"]
    for wrong in values:
        given: dict[str, Any] = {
            each.name: () for each in dataclasses.fields(kind) if each.name != field.name
        }
        with pytest.raises(TypeError, match=rf"^{kind.name}: ") as caught:
            schedule.apply(kind(**given, **{field.name: wrong}))
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("size", [2.5, True, None])
def test_a_tile_size_is_an_integer_or_a_name(schedule: Schedule, size: Any) -> None:
    with pytest.raises(TypeError, match="tile: sizes"):
        schedule.apply(Tile(("i",), (size,)))


@pytest.mark.parametrize("step", [None, 5, "tile{loops=i sizes=4}", Tile])
def test_a_step_is_a_transformation(schedule: Schedule, step: Any) -> None:
    with pytest.raises(TypeError, match="a Transformation"):
        schedule.apply(step)
    with pytest.raises(TypeError, match="a Transformation"):
        schedule.legal(step)
    with pytest.raises(TypeError, match="a Transformation"):
        schedule.apply_all([step])
    with pytest.raises(TypeError, match="transformations"):
        schedule.apply_all(5)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("names", ["i", 5, None, (5,)])
def test_names_of_loops_are_texts(schedule: Schedule, names: Any) -> None:
    for use in (schedule.find_loops, schedule.chain):
        with pytest.raises(TypeError, match="text"):
            use(names)
    with pytest.raises(TypeError, match="part of the tree"):
        schedule.outer(names)


@pytest.mark.parametrize("name", [5, None, ("i",)])
def test_the_name_of_a_loop_is_a_text(schedule: Schedule, name: Any) -> None:
    with pytest.raises(TypeError, match="a text"):
        schedule.loop(name)
