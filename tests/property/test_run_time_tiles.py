"""Tiles whose sizes are given with each call, against the program as written and constant tiles."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.choice import Chooser, DrawnChooser, SeededChooser, choose
from support.differential import assert_same, describe, function_of, interpreted
from support.random_programs import programs, seeded_program, seeded_sizes, sizes_of
from support.random_schedules import random_schedule

from loopwright.dialects.errors import SourceError
from loopwright.passes.polyhedral.schedule_tree import chain, loops
from loopwright.passes.schedules.errors import TransformationError
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.transformations.tile import Tile
from loopwright.runtime.program import load

SIZES = (1, 2, 3, 4, 5, 7, 8, 16, 100, 2**62)


def tiled(chooser: Chooser, schedule: Schedule, marker: str) -> Schedule:
    """The schedule with a chain of loops in tiles of run-time sizes, where one can be."""
    for _ in range(4):
        existing = [loop for loop in loops(schedule.tree) if loop.run_time_size is None]
        if not existing:
            break
        members = chain(choose(chooser, existing))
        members = members[: chooser.integer(1, min(3, len(members)))]
        names = tuple(schedule.short_name(loop) for loop in members)
        sizes = tuple(f"{marker}{chooser.integer(0, k)}" for k in range(len(names)))
        try:
            return schedule.apply(Tile(names, sizes))
        except TransformationError:
            continue
    return schedule


def random_tiled(chooser: Chooser, original: Schedule) -> Schedule:
    """Some steps, tiles, some steps, perhaps other tiles."""
    schedule = random_schedule(chooser, original, chooser.integer(0, 4))
    schedule = tiled(chooser, schedule, "T")
    schedule = random_schedule(chooser, schedule, chooser.integer(0, 4))
    if chooser.integer(0, 2) == 0:
        schedule = tiled(chooser, schedule, "U")
    return schedule


@given(st.data())
def test_all_sizes_give_the_results_of_the_program(data: st.DataObject) -> None:
    run(data)


@pytest.mark.campaign
@given(st.data())
@settings(max_examples=3000, derandomize=False)
def test_all_sizes_campaign(data: st.DataObject) -> None:
    run(data)


def run(data: st.DataObject) -> None:
    """Draws a program, a schedule, and several sizes and tile sizes."""
    program = data.draw(programs(calls=True))
    function = function_of(program)
    schedule = random_tiled(DrawnChooser(data.draw), function.schedule())
    assume(schedule.run_time_sizes)
    kernel = function.compile(schedule, threads=2, verify=True)
    for _ in range(2):
        sizes = data.draw(sizes_of(program))
        expected, exact = interpreted(program, sizes)
        assume(exact)
        for _ in range(3):
            tiles = {name: data.draw(st.sampled_from(SIZES)) for name in schedule.run_time_sizes}
            arguments = program.make_arguments(sizes)
            note = f"{describe(program, sizes, schedule, 2)}\n{tiles}"
            try:
                results = kernel(*arguments, **tiles)
            except SourceError as error:
                error.add_note(note)
                raise
            listed = results if isinstance(results, tuple) else (results,)
            found = [*arguments, *(each for each in listed if each is not None)]
            assert_same(expected, found, note)


@pytest.mark.parametrize("seed", [0, *range(2, 7), *range(8, 22)])
def test_larger_programs(seed: int) -> None:
    program = seeded_program(seed, calls=True)
    function = function_of(program)
    source = random.Random(seed)
    schedule = random_tiled(SeededChooser(source), function.schedule())
    kernel = function.compile(schedule, threads=2, verify=True)
    sizes = seeded_sizes(program, source)
    expected, exact = interpreted(program, sizes)
    assert exact, "choose another seed"
    for _ in range(4):
        tiles = {name: source.choice(SIZES) for name in schedule.run_time_sizes}
        arguments = program.make_arguments(sizes)
        results = kernel(*arguments, **tiles)
        listed = results if isinstance(results, tuple) else (results,)
        found = [*arguments, *(each for each in listed if each is not None)]
        assert_same(expected, found, f"{describe(program, sizes, schedule, 2)}\n{tiles}")


@given(st.data())
def test_legal_exactly_when_every_size_is(data: st.DataObject) -> None:
    """Large tiles and tiles of one value are what can go wrong."""
    program = data.draw(programs())
    chooser = DrawnChooser(data.draw)
    schedule = random_schedule(chooser, function_of(program).schedule(), chooser.integer(0, 2))
    existing = list(loops(schedule.tree))
    assume(existing)
    members = chain(choose(chooser, existing))
    members = members[: chooser.integer(1, min(3, len(members)))]
    names = tuple(schedule.short_name(loop) for loop in members)
    verdict = schedule.legal(Tile(names, tuple(f"T{k}" for k in range(len(names)))))
    constants = [
        schedule.legal(Tile(names, sizes))
        for sizes in itertools.product((1, 2, 10**6), repeat=len(names))
    ]
    assert verdict == all(constants), f"{program.text}{schedule}\n{names}: {constants}"


RETIMED = """
func.func @f(%n: index, %A: memref<?xf64>, %B: memref<?xf64>) {
  affine.for %i = 0 to %n {
    %t = memref.alloca() : memref<f64>
    %a = affine.load %A[%i] : memref<?xf64>
    affine.store %a, %t[] : memref<f64>
    %b = arith.negf %a : f64
    affine.store %b, %A[%i] : memref<?xf64>
    %c = affine.load %t[] : memref<f64>
    affine.store %c, %B[%i] : memref<?xf64>
  }
  return
}
"""


@pytest.mark.parametrize(
    "before",
    [
        "retime{loops=i after=S1}",
        "strip-mine{loops=i size=2},retime{loops=i after=S1}",
        "strip-mine{loops=i size=2},tile{loops=it,i sizes=T,T},retime{loops=i after=S1}",
    ],
)
def test_values_used_in_a_later_tile(before: str) -> None:
    """A local array lives outside of tiles between which a value is handed on."""
    function = load(RETIMED)["f"]
    tiled_loops = "it,i sizes=U,U" if "strip" in before else "i sizes=U"
    kernel = function.compile(f"{before},tile{{loops={tiled_loops}}}", threads=1, verify=True)
    tile_sizes = [name for name in "TU" if f"={name}" in before + tiled_loops]
    for n, *sizes in itertools.product((0, 1, 2, 5, 9), *([(1, 2, 3, 7)] * len(tile_sizes))):
        a, b = np.arange(1.0, n + 1), np.zeros(n)
        kernel(n, a, b, **dict(zip(tile_sizes, sizes, strict=True)))
        assert (a == -np.arange(1.0, n + 1)).all() and (b == np.arange(1.0, n + 1)).all()
