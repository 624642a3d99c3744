"""How many places straight-line code updates, as sums do, again and again."""

from __future__ import annotations

from collections.abc import Mapping

from ...passes.polyhedral.scop import Statement
from ..nest.nest import Call, For, Nest, walk


def updated_places(nest: Nest, statements: Mapping[str, Statement]) -> int:
    """Stores that update what their statement has loaded, in more than one iteration.

    None where there are loops inside.
    """
    nodes = [*walk(nest)]
    if any(isinstance(node, For) for node in nodes):
        return 0
    return sum(_updated(statements[node.statement]) for node in nodes if isinstance(node, Call))


def _updated(statement: Statement) -> int:
    loaded = {(access.array.name, access.map) for access in statement.reads}
    return sum(
        (access.array.name, access.map) in loaded
        and not all(any(column) for column in zip(*access.coefficients, strict=True))
        for access in statement.writes
    )
