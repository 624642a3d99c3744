"""isl's AST has all instances, or there is none."""

from __future__ import annotations

import islpy as isl
import pytest

from loopwright.lowering.isl_ast import IncompleteCodeError, build_ast
from loopwright.passes.schedule_tree import Leaf, Loop, Tree

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


def test_an_ast_that_leaves_out_instances_is_refused() -> None:
    tree = nest("i - i mod 2 - i mod 3", "i + 2 * floor(i / 3)")
    with pytest.raises(IncompleteCodeError, match="isl leaves out instances of S0"):
        build_ast(tree, {"S0": STRIDED}, isl.Set("{ : }"))
