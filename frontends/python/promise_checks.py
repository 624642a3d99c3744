"""Checks that loops over `prange` have independent iterations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...dialects.locations import locate
from ...passes.polyhedral.schedule_tree import Loop, Tree, statements
from ...passes.polyhedral.scop import Scop
from ...passes.schedules.errors import IllegalTransformation
from ...passes.schedules.schedule import Schedule
from ...passes.transformations.parallel import Parallel
from .promises import Promise
from .source import PythonSource


def check_promises(scop: Scop, promises: Sequence[Promise], source: PythonSource) -> None:
    """Raises SourceError for a loop whose iterations depend on each other."""
    schedule = Schedule.original(scop)
    for promise in promises:
        for loop in _loops(scop, schedule.tree, promise, source):
            try:
                schedule.apply(Parallel((schedule.short_name(loop),)))
            except IllegalTransformation as error:
                raise source.error(
                    promise.node,
                    f"the iterations of this loop are not independent: "
                    f"{error.violation.describe()}",
                    "write range instead of prange",
                ) from None


def _loops(scop: Scop, tree: Tree, promise: Promise, source: PythonSource) -> Iterator[Loop]:
    """The loops of the model that are the promised one."""
    places = {each.name: locate(each.writes[0].op) for each in scop.statements if each.writes}
    first = source.location(promise.node)
    last = promise.node.end_lineno or first.line

    def inside(loop: Loop) -> bool:
        found = [places[name] for name in statements(loop) if name in places]
        return bool(found) and all(
            place is not None and place.file == first.file and first.line <= place.line <= last
            for place in found
        )

    def at(node: Tree, depth: int) -> Iterator[Loop]:
        if isinstance(node, Loop):
            if depth == promise.depth:
                if inside(node):
                    yield node
                return
            yield from at(node.body, depth + 1)
        else:
            for child in getattr(node, "children", ()):
                yield from at(child, depth)

    yield from at(tree, 0)
