"""isl's AST has all instances, or there is none."""

from __future__ import annotations

import itertools

import islpy as isl
import pytest

from loopwright.lowering.nest import isl_ast
from loopwright.lowering.nest.ast_to_nest import ast_to_nest
from loopwright.lowering.nest.isl_ast import IncompleteCodeError, build_ast
from loopwright.lowering.nest.nest import Call, walk
from loopwright.lowering.nest.quotients import LinearProgram, linear_program
from loopwright.passes.polyhedral.schedule_tree import Leaf, Loop, Tree, loops

STRIDED = isl.Set("{ S0[i] : i mod 5 = 0 and 0 <= i <= 15 }")


def nest(*functions: str) -> Tree:
    """Loops around S0, outermost first, with functions of `i`."""
    tree: Tree = Leaf("S0")
    for number, function in reversed(list(enumerate(functions))):
        schedule = {"S0": isl.Aff(f"{{ S0[i] -> [({function})] }}")}
        tree = Loop(f"l{number}", schedule, tree)
    return tree


def test_an_ordinary_tree() -> None:
    assert build_ast(nest("floor(i / 3)", "i"), {"S0": STRIDED}, isl.Set("{ : }"))


SUMS = ("i - i mod 2 - i mod 3", "i + 2 * floor(i / 3)")


def test_quotients_become_dimensions_where_isl_leaves_out_instances() -> None:
    ast = build_ast(nest(*SUMS), {"S0": STRIDED}, isl.Set("{ : }"))
    variables = itertools.count()
    calls = [n for n in walk(ast_to_nest(ast, {}, lambda: next(variables))) if isinstance(n, Call)]
    assert calls
    assert all(len(call.arguments) == 1 for call in calls)
    assert {loop.name for loop in ast.loops.values()} == {"l0", "l1"}


def test_an_ast_that_leaves_out_instances_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    same = {id(loop): loop for loop in loops(nest(*SUMS))}
    monkeypatch.setattr(
        isl_ast, "linear_program", lambda tree, domains: LinearProgram(tree, domains, same)
    )
    with pytest.raises(IncompleteCodeError, match="isl leaves out instances of S0"):
        build_ast(nest(*SUMS), {"S0": STRIDED}, isl.Set("{ : }"))


def test_quotients_of_quotients() -> None:
    tree = nest("floor((floor(i / 2) + floor(i / 3)) / 2)", "i")
    program = linear_program(tree, {"S0": STRIDED})
    domain = program.domains["S0"]
    values = {
        loop.name: isl.Map.from_aff(loop.schedule["S0"]).intersect_domain(domain)
        for loop in loops(program.tree)
    }
    found = values["l1"].reverse().apply_range(values["l0"])
    assert found.is_equal(isl.Map("{ [0] -> [0]; [5] -> [1]; [10] -> [4]; [15] -> [6] }"))
    assert all(
        aff.dim(isl.dim_type.div) == 0 for n in loops(program.tree) for aff in n.schedule.values()
    )
