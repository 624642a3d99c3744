"""Scanned loops run what the tree says, whatever strides and quotients there are."""

from __future__ import annotations

import itertools
import random

import islpy as isl
import pytest
from support.choice import SeededChooser
from support.nest_execution import expected, run
from support.strided_programs import strided_program, tiled

from loopwright.lowering.nest.index_expression import Index
from loopwright.lowering.nest.nest import Call, For, walk
from loopwright.lowering.nest.scanning import Scan
from loopwright.passes.polyhedral.schedule_tree import Leaf, Loop
from loopwright.runtime.program import load


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed: int) -> None:
    source = random.Random(seed)
    chooser = SeededChooser(source)
    schedule = tiled(chooser, load(strided_program(chooser).text)["f"].schedule(), 3)
    scop, sizes = schedule.scop, {"n": source.randint(0, 7)}
    numbers = itertools.count()
    parameters = {parameter.name: next(numbers) for parameter in scop.parameters}
    scan = Scan(schedule.tree, {s.name: s.domain for s in scop.statements}, scop.context)
    nest = scan.nest(
        {name: Index.variable(number) for name, number in parameters.items()},
        lambda: next(numbers),
        Call,
    )
    found = list(run(nest, {number: sizes[name] for name, number in parameters.items()}))
    assert found == expected(schedule, sizes), f"{scop.func}{schedule}\n{sizes}"


def test_bounds_are_not_asked_for_again_in_guards() -> None:
    domain = isl.Set("[n] -> { S[i] : 0 <= i < n and i mod 3 = 1 }")
    tree = Loop("i", {"S": isl.Aff("[n] -> { S[i] -> [(i)] }")}, Leaf("S"))
    numbers = itertools.count(1)
    scan = Scan(tree, {"S": domain}, isl.Set("[n] -> { : n >= 0 }"))
    nest = scan.nest({"n": Index.variable(0)}, lambda: next(numbers), Call)
    assert [name for name, _ in run(nest, {0: 8})] == ["S"] * 3
    (loop,) = (node for node in walk(nest) if isinstance(node, For))
    assert loop.loop is tree
    assert loop.lower == (Index(0),)
    assert loop.upper == (Index.variable(0),)


def test_statements_that_never_run_are_left_out() -> None:
    tree = Loop("i", {"S": isl.Aff("{ S[i] -> [(i)] }")}, Leaf("S"))
    scan = Scan(tree, {"S": isl.Set("{ S[i] : false }")}, isl.Set("{ : }"))
    assert not [node for node in walk(scan.nest({}, lambda: 0, Call)) if isinstance(node, Call)]
