"""Loop collapsing of statements that read whole rows: one loop for rows and columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import islpy as isl
from xdsl.ir.affine import AffineExpr, AffineMap

from .scop import Access, Statement


def flatten_rows(statement: Statement, widths: Mapping[str, int]) -> Statement:
    """A statement without writes, with one loop for its two innermost ones if it reads whole rows.

        for i, j: x[i][j]    ->    for k: x[k floordiv 8][k mod 8]

    So there are no short loops, of which LLVM makes no vectors; the address is that of element `k`
    (`lowering.llvm.flattened_subscripts`). `widths` are the last extents of arrays, as far as they
    are known.
    """
    rank = len(statement.loops)
    found = {_width(access, rank, widths) for access in statement.reads}
    width = found.pop() if len(found) == 1 else None
    if width is None or not _has_whole_rows(statement.domain, width):
        return statement
    *outer, last = (AffineExpr.dimension(k) for k in range(rank - 1))
    dims = [*outer, last // width, last % width]
    names = [f"i{k}" for k in range(rank)]
    flat = [*names[:-2], f"{width}*{names[-2]} + {names[-1]}"]
    image = isl.Map(
        f"{{ {statement.name}[{', '.join(names)}] -> {statement.name}[{', '.join(flat)}] }}"
    )

    def moved(access: Access) -> Access:
        results = (each.replace_dims_and_symbols(dims, []) for each in access.map.results)
        return replace(
            access,
            map=AffineMap(rank - 1, access.map.num_symbols, tuple(results)),
            relation=access.relation.apply_domain(image),
        )

    return replace(
        statement,
        loops=statement.loops[:-1],
        domain=statement.domain.apply(image),
        accesses=tuple(map(moved, statement.accesses)),
        indices={
            value: expression.replace_dims_and_symbols(dims, [])
            for value, expression in statement.indices.items()
        },
    )


def _width(access: Access, rank: int, widths: Mapping[str, int]) -> int | None:
    """The extent of the rows that are read in the two innermost loops, element by element."""
    row, column = (AffineExpr.dimension(k) for k in (rank - 2, rank - 1))
    if rank < 2 or access.map.results[-2:] != (row, column):
        return None
    return widths.get(access.array.name)


def _has_whole_rows(domain: isl.Set, width: int) -> bool:
    """Whether the innermost loop runs from 0 to the width, wherever it runs at all."""
    last = domain.dim(isl.dim_type.set) - 1
    rows = domain.project_out(isl.dim_type.set, last, 1).insert_dims(isl.dim_type.set, last, 1)
    rows = rows.lower_bound_val(isl.dim_type.set, last, isl.Val(0))
    rows = rows.upper_bound_val(isl.dim_type.set, last, isl.Val(width - 1))
    return rows.set_tuple_name(domain.get_tuple_name()).is_equal(domain)
