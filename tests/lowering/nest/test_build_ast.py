"""The AST of a tree runs each instance once, in order, also where isl's own does not."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import islpy as isl
import pytest
from support.nest_execution import run
from support.scop_execution import Instance, points, time_stamp

from loopwright.lowering.nest import build_ast as module
from loopwright.lowering.nest.ast_to_nest import ast_to_nest
from loopwright.lowering.nest.build_ast import build_ast
from loopwright.lowering.nest.isl_ast import AstBuilder, MarkedAst
from loopwright.lowering.nest.nest import Call, For, Nest, walk
from loopwright.lowering.nest.quotients import LinearProgram, linear_program
from loopwright.lowering.nest.scanning import Scan
from loopwright.passes.polyhedral.schedule_tree import Leaf, Loop, Sequence, Tree, loops

STRIDED = isl.Set("{ S0[i] : i mod 5 = 0 and 0 <= i <= 15 }")
ANYWHERE = isl.Set("{ : }")


def loop(name: str, body: Tree, *functions: str) -> Loop:
    """A loop over functions of instances, as in `S0[i] -> i`."""
    affs: dict[str, isl.Aff] = {}
    for function in functions:
        instance, value = function.split(" -> ")
        affs[instance.partition("[")[0]] = isl.Aff(f"{{ {instance} -> [({value})] }}")
    return Loop(name, affs, body)


def nest(*functions: str) -> Tree:
    """Loops around S0, outermost first, with functions of `i`."""
    tree: Tree = Leaf("S0")
    for number, function in reversed(list(enumerate(functions))):
        tree = loop(f"l{number}", tree, f"S0[i] -> {function}")
    return tree


def as_nest(ast: MarkedAst) -> Nest:
    variables = itertools.count()
    return ast_to_nest(ast, {}, lambda: next(variables))


def in_order(tree: Tree, domains: Mapping[str, isl.Set]) -> list[Instance]:
    """The instances in the order of the tree."""
    found = [(name, point) for name, domain in domains.items() for point in points(domain)]
    return sorted(found, key=lambda instance: time_stamp(tree, instance, {}))


def test_an_ordinary_tree() -> None:
    ast = build_ast(nest("floor(i / 3)", "i"), {"S0": STRIDED}, ANYWHERE)
    assert not isinstance(ast.root, Scan)


SUMS = ("i - i mod 2 - i mod 3", "i + 2 * floor(i / 3)")


def test_quotients_become_dimensions_where_isl_leaves_out_instances() -> None:
    tree = nest(*SUMS)
    ast = build_ast(tree, {"S0": STRIDED}, ANYWHERE)
    calls = [node for node in walk(as_nest(ast)) if isinstance(node, Call)]
    assert calls
    assert all(len(call.arguments) == 1 for call in calls)
    assert {loop.name for loop in ast.loops.values()} == {"l0", "l1"}
    assert list(run(as_nest(ast), {})) == in_order(tree, {"S0": STRIDED})


def test_loops_are_scanned_where_isl_leaves_out_instances(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = nest(*SUMS)
    same = {id(loop): loop for loop in loops(tree)}

    def unchanged(tree: Tree, domains: Mapping[str, isl.Set]) -> LinearProgram:
        return LinearProgram(tree, domains, same)

    monkeypatch.setattr(module, "linear_program", unchanged)
    ast = build_ast(tree, {"S0": STRIDED}, ANYWHERE)
    assert isinstance(ast.root, Scan)
    assert list(run(as_nest(ast), {})) == in_order(tree, {"S0": STRIDED})


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


def test_statements_without_instances_beside_quotients() -> None:
    domains = {"S0": STRIDED, "S1": isl.Set("{ S1[i] : false }")}
    functions = [[f"{name}[i] -> {function}" for name in domains] for function in SUMS]
    inner = loop("l1", Sequence((Leaf("S0"), Leaf("S1"))), *functions[1])
    tree = loop("l0", inner, *functions[0])
    ast = build_ast(tree, domains, ANYWHERE)
    assert list(run(as_nest(ast), {})) == in_order(tree, domains)


@pytest.mark.parametrize("modulus", [2, 3, 4])
@pytest.mark.parametrize("size", [2, 5, 12])
def test_sums_of_a_stride_and_a_quotient(modulus: int, size: int) -> None:
    """isl takes `size` for the modulus here, and has `i = 0` only."""
    domain = isl.Set(f"{{ S0[i, j] : i mod {modulus} = 0 and 0 <= i <= 7 and -1 <= j <= 2 }}")
    inner = loop("i", Leaf("S0"), f"S0[i, j] -> i + floor(j / {size})")
    tree = loop("j", inner, "S0[i, j] -> j")
    ast = build_ast(tree, {"S0": domain}, ANYWHERE)
    assert list(run(as_nest(ast), {})) == in_order(tree, {"S0": domain})


def test_what_isl_makes_of_a_stride_and_a_quotient_is_not_used() -> None:
    domains = {"S0": isl.Set("{ S0[i, j] : i mod 3 = 0 and 0 <= i <= 7 and -1 <= j <= 2 }")}
    inner = loop("i", Leaf("S0"), "S0[i, j] -> i + floor(j / 12)")
    tree = loop("j", inner, "S0[i, j] -> j")
    expected = in_order(tree, domains)
    own = as_nest(AstBuilder(domains, ANYWHERE).build(tree))
    assert list(run(own, {})) != expected, "isl is right now: the read-back may be needless"
    assert list(run(as_nest(build_ast(tree, domains, ANYWHERE)), {})) == expected


FUSED = {
    "S0": isl.Set("{ S0[i] : i mod 2 = 1 and 1 <= i <= 5 }"),
    "S1": isl.Set("{ S1[i] : i mod 2 = 0 and 0 <= i <= 5 }"),
}


@pytest.mark.parametrize("exact", [False, True])
def test_fused_loops_over_odd_and_even_values(exact: bool) -> None:
    tree = loop("i", Sequence((Leaf("S0"), Leaf("S1"))), "S0[i] -> i", "S1[i] -> i")
    ast = build_ast(tree, FUSED, ANYWHERE, {"i"} if exact else ())
    assert list(run(as_nest(ast), {})) == in_order(tree, FUSED)
    assert isinstance(ast.root, Scan) == exact, "isl shifts the odd values by one"
    if exact:
        (only,) = (node for node in walk(as_nest(ast)) if isinstance(node, For))
        calls = [node for node in walk(only) if isinstance(node, Call)]
        assert all(call.arguments[0].coefficient(only.variable) == 1 for call in calls)
        assert all(call.arguments[0].constant == 0 for call in calls)


def test_loops_over_multiples() -> None:
    """isl would have an iterator that counts the multiples: it is to be their value."""
    domain = isl.Set("{ S0[i] : 0 <= i <= 4 }")
    tree = loop("i", Leaf("S0"), "S0[i] -> 3i")
    ast = build_ast(tree, {"S0": domain}, ANYWHERE)
    (only,) = (node for node in walk(as_nest(ast)) if isinstance(node, For))
    assert only.step == 3
    assert list(run(only, {})) == in_order(tree, {"S0": domain})
