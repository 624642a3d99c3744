"""Read-modify-write stores of straight-line code that repeat along a loop, as those of sums."""

from __future__ import annotations

from collections.abc import Mapping

from ...passes.polyhedral.scop import Statement
from ..nest.nest import Call, For, Nest, walk


def updated_places(nest: Nest, statements: Mapping[str, Statement]) -> int:
    """Stores that update what their statement has loaded, in more than one iteration.

    0 where there are loops inside.
    """
    nodes = [*walk(nest)]
    if any(isinstance(node, For) for node in nodes):
        return 0
    return sum(_updated(statements[node.statement]) for node in nodes if isinstance(node, Call))


def _updated(statement: Statement) -> int:
    loaded = {(access.array.name, access.map) for access in statement.reads}
    return sum(
        (access.array.name, access.map) in loaded
        and not (access.coefficients and all(map(any, zip(*access.coefficients, strict=True))))
        for access in statement.writes
    )
