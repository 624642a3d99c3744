"""AST of a schedule tree: isl's if it is faithful, else a scan of the tree.

isl 0.28 makes wrong code of some schedules with strides and quotients. It leaves out instances
where a loop runs over the sum of a dimension with a stride and a quotient, since the elimination of
integer divisions (`isl_basic_map_remove_divs_involving_dims`) takes a modulus for another one. So
what it makes of such schedules is read back, and is made in another way where it is wrong.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping
from dataclasses import replace

import islpy as isl

from ...passes.polyhedral.isl_context import is_exhausted
from ...passes.polyhedral.schedule_tree import Tree, leaves
from .ast_to_nest import ast_to_nest
from .faithfulness import is_faithful
from .full_tiles import outer_schedule
from .index_expression import Index
from .isl_ast import AstBuilder, MarkedAst, TileLoop, UnknownLoopValueError, depths
from .quotients import has_sums_of_quotients, linear_program
from .run_time_tiles import collapse, tile_inside
from .scanning import Scan

_SET, _DIV, _PARAM = isl.dim_type.set, isl.dim_type.div, isl.dim_type.param


def build_ast(
    tree: Tree, domains: Mapping[str, isl.Set], context: isl.Set, asked: Collection[str] = ()
) -> MarkedAst:
    """The AST of `tree` over `domains` (statement -> instances), for parameters in `context`.

    Iterators may differ from the values of loops where strided loops are fused: isl has statements
    of values 0, 2, 4 and 1, 3, 5 in the same iterations. Not if somebody has `asked` for values of
    loops, by name.
    """
    collapsed = collapse(tree, domains)
    result = _build(collapsed.tree, collapsed.domains, context, asked)
    result.loops = {
        mark: collapsed.originals.get(id(loop), loop) for mark, loop in result.loops.items()
    }
    if isinstance(result.root, Scan):
        result.root = replace(result.root, originals=collapsed.originals)
    for name, tiles in collapsed.tiles.items():
        if collapsed.domains[name].intersect_params(context).is_empty():
            continue
        inside = tile_inside(tiles, domains, context)
        ast = build_ast(tiles.loop.body, inside.domains, inside.context, asked)
        result.tiles[name] = TileLoop(tiles.loop, inside, ast)
    return result


def _build(
    tree: Tree, domains: Mapping[str, isl.Set], context: isl.Set, asked: Collection[str]
) -> MarkedAst:
    """The AST of a tree without run-time tile loops."""
    is_trusted = not has_sums_of_quotients(tree) and not _has_strides(tree, domains)
    for make in _MAKERS:
        try:
            ast = make(tree, domains, context, asked)
            if ast and (is_trusted or _is_right(ast, tree, domains, context, exact=bool(asked))):
                return ast
        except UnknownLoopValueError:
            continue
        except isl.Error:
            if is_exhausted():
                raise
    return MarkedAst(Scan(tree, domains, context), depths(domains))


def _of_tree(
    tree: Tree, domains: Mapping[str, isl.Set], context: isl.Set, asked: Collection[str]
) -> MarkedAst:
    return AstBuilder(domains, context, asked).build(tree)


def _with_quotients_as_dimensions(
    tree: Tree, domains: Mapping[str, isl.Set], context: isl.Set, asked: Collection[str]
) -> MarkedAst | None:
    if not has_sums_of_quotients(tree):
        return None
    program = linear_program(tree, domains)
    result = AstBuilder(program.domains, context, asked).build(program.tree)
    result.depths = depths(domains)
    result.loops = {mark: program.originals[id(loop)] for mark, loop in result.loops.items()}
    return result


_MAKERS = (_of_tree, _with_quotients_as_dimensions)


def _has_strides(tree: Tree, domains: Mapping[str, isl.Set]) -> bool:
    """Whether the values of the loops are not all those in a polyhedron."""
    return any(
        part.dim(_DIV) > 0 or any(map(_is_stride, part.get_constraints()))
        for leaf, outer in leaves(tree)
        for part in outer_schedule(outer, leaf.statement, domains[leaf.statement])
        .range()
        .get_basic_sets()
    )


def _is_stride(constraint: isl.Constraint) -> bool:
    """Whether an equality restricts dimensions to multiples, as in 2 i = 3 j."""
    if not constraint.is_equality():
        return False
    factors = (constraint.get_coefficient_val(_SET, k) for k in range(constraint.dim(_SET)))
    sizes = [factor.abs() for factor in factors if not factor.is_zero()]
    return bool(sizes) and not any(size.is_one() for size in sizes)


def _is_right(
    ast: MarkedAst,
    tree: Tree,
    domains: Mapping[str, isl.Set],
    context: isl.Set,
    *,
    exact: bool,
) -> bool:
    """Whether the AST runs the instances, as the tree has them in loops."""
    variables = itertools.count()
    space = context.get_space()
    for domain in domains.values():
        space = space.align_params(domain.get_space().params())
    names = (space.get_dim_name(_PARAM, position) for position in range(space.dim(_PARAM)))
    parameters = {str(name): Index.variable(next(variables)) for name in names}
    nest = ast_to_nest(ast, parameters, lambda: next(variables))
    context = context.align_params(space)
    return is_faithful(nest, tree, domains, context, parameters, exact=exact)
