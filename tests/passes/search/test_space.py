"""The tree of schedules: legal, different, the same every time; and neighbours of schedules."""

from __future__ import annotations

import pytest
from support.searching import Wishes, task

from loopwright.dialects.parse import parse_module
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.raising.raise_function import raise_module
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.search.space.neighbours import neighbours
from loopwright.passes.search.space.stages import SPACES, Node, Space
from loopwright.passes.syntax.pipeline import parse_pipeline

PROGRAM = """
func.func @f(%n: index, %A: memref<?x?xf64>, %B: memref<?x?xf64>) {
  affine.for %i = 1 to %n {
    affine.for %j = 0 to %n {
      %a = affine.load %A[%i - 1, %j] : memref<?x?xf64>
      affine.store %a, %A[%i, %j] : memref<?x?xf64>
    }
  }
  affine.for %k = 1 to %n {
    affine.for %l = 0 to %n {
      %a = affine.load %A[%k, %l] : memref<?x?xf64>
      affine.store %a, %B[%k, %l] : memref<?x?xf64>
    }
  }
  return
}
"""

REQUEST = SchedulingContext({"n": 64, "A_dim0": 64, "A_dim1": 64, "B_dim0": 64, "B_dim1": 64}, 2)


def original() -> Schedule:
    return Schedule.original(raise_module(parse_module(PROGRAM))["f"])


def children(space: str, schedule: Schedule, stage: str, nest: int = 0) -> list[str]:
    stages = SPACES[space]
    (number,) = [n for n, each in enumerate(stages) if each.name == stage]
    node = Node(schedule, stage=number, nest=nest)
    sizes = {parameter.name: 64 for parameter in schedule.scop.sizes}
    return [
        str(child.schedule) for child in Space(SchedulingContext(sizes, 2), stages).children(node)
    ]


def test_a_level_begins_with_no_change() -> None:
    for name, stages in SPACES.items():
        for stage in stages:
            assert children(name, original(), stage.name)[0] == ""


def test_only_legal_moves_are_made() -> None:
    found = children("looper", original(), "parallelism")
    assert "parallel{loops=j}" in found
    assert "parallel{loops=i}" not in found
    assert "parallel{loops=l}" in children("looper", original(), "parallelism", nest=1)


def test_neighbours_are_joined_one_loop_or_two_deep() -> None:
    found = children("looper", original(), "fusion")
    assert "fuse{loops=i,k}" in found
    assert any(text.count("fuse") == 2 for text in found)


def test_bodies_are_distributed_in_the_full_space_only() -> None:
    fused = original().apply_all(parse_pipeline("fuse{loops=i,k}"))
    text = "fuse{loops=i,k},distribute{loops=i}"
    assert text in children("full", fused, "fusion")
    assert text not in children("looper", fused, "fusion")


@pytest.mark.parametrize("loops", ["interchange{loops=j,i}", "reverse{loops=j}", "skew{loops=i,j"])
def test_unimodular_steps_are_there(loops: str) -> None:
    assert any(text.startswith(loops) for text in children("looper", original(), "affine"))


def test_register_tiles_are_one_move() -> None:
    found = children("full", original(), "register tiling", nest=1)
    blocks = [text for text in found if "tile{" in text and "vectorize{" in text]
    assert blocks
    assert all("unroll{loops=" in text for text in blocks)


def test_what_is_read_several_times_is_packed() -> None:
    schedule = task(Wishes()).original.apply_all(parse_pipeline("tile{loops=i,j,k sizes=8,8,8}"))
    found = children("full", schedule, "packing")
    assert any("pack{loops=it array=B order=1,0}" in text for text in found)
    assert any("pack{loops=jt array=A}" in text for text in found)
    assert not any("array=C" in text for text in found)


def test_what_is_read_once_is_not_packed() -> None:
    tiled = original().apply_all(parse_pipeline("tile{loops=k,l sizes=8,8}"))
    assert children("full", tiled, "packing", nest=1) == [str(tiled)]


@pytest.mark.parametrize("name", SPACES)
def test_every_way_down_ends(name: str) -> None:
    """Levels are passed one by one, nest by nest, and in the same order every time."""

    def walk() -> list[str]:
        space = Space(REQUEST, SPACES[name])
        node, seen = Node(original()), list[str]()
        while not space.is_leaf(node):
            found = list(space.children(node))
            node = found[len(seen) % len(found)]
            seen.append(str(node.schedule))
        assert len(seen) >= len(SPACES[name])
        return seen

    assert walk() == walk()


def near(text: str) -> list[str]:
    start = original()
    schedule = start.apply_all(parse_pipeline(text))
    return [str(each) for each in neighbours(start, schedule, REQUEST)]


def test_neighbours_differ_in_one_thing() -> None:
    text = "tile{loops=k,l sizes=8,32},unroll{loops=l factor=4}"
    found = near(text)
    assert "tile{loops=k,l sizes=16,32},unroll{loops=l factor=4}" in found
    assert "tile{loops=k,l sizes=8,64},unroll{loops=l factor=4}" in found
    assert "tile{loops=k,l sizes=8,32},unroll{loops=l factor=2}" in found
    assert "tile{loops=k,l sizes=8,32}" in found
    assert "unroll{loops=l factor=4}" in found
    assert text not in found
    assert len(set(found)) == len(found)


def test_equal_sizes_are_changed_together_and_alone() -> None:
    text = "tile{loops=k,l sizes=32,32}"
    found = near(text)
    assert "tile{loops=k,l sizes=64,64}" in found
    assert "tile{loops=k,l sizes=64,32}" in found


def test_threads_are_left_out_and_moved() -> None:
    text = "tile{loops=k,l sizes=8,8},parallel{loops=kt},reverse{loops=j},parallel{loops=j}"
    found = near(text)
    assert "tile{loops=k,l sizes=8,8},reverse{loops=j}" in found
    assert text.replace("loops=kt", "loops=lt") in found
    assert any(each.startswith(text) and "unroll{" in each for each in found)
