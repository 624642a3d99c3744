"""Which elements a region accesses in any case, so that optimised code may always access them."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl
from xdsl.dialects.builtin import FileLineColLoc

from ...dialects.errors import SourceError
from ...dialects.source_location import Location
from ...passes.polyhedral.isl_context import ISL_LOCK
from ...passes.polyhedral.scop import Access, Scop
from .c_types import ArrayType
from .translate import Parameter, Translation


def check_conditional_accesses(
    translation: Translation, scop: Scop, places: Sequence[Location]
) -> None:
    """Raises SourceError where an array may be shorter than what optimised code accesses.

    At the places are accesses under conditions on data, which optimised code always makes.
    """
    conditional = {(each.line, each.column) for each in places}
    for argument, parameter in enumerate(translation.parameters) if conditional else ():
        if parameter.elements is None or not _is_behind_pointer(parameter):
            continue
        accesses = [
            access
            for statement in scop.statements
            for access in statement.accesses
            if access.array.argument == argument
        ]
        sometimes = [each for each in accesses if _place(each) in conditional]
        always = [each for each in accesses if each not in sometimes and _is_certain(each)]
        if sometimes and not _covers(always, sometimes):
            raise SourceError.at(
                sometimes[0].op,
                f"elements of '{parameter.symbol.name}' are accessed under a condition on data, "
                "and optimised code would always do so: there may be no such elements",
                "read them before the condition",
            )


def _is_behind_pointer(parameter: Parameter) -> bool:
    """Whether C does not say how many elements there are."""
    symbol = parameter.symbol
    is_array = isinstance(symbol.type, ArrayType) and not symbol.is_parameter
    return not is_array and bool(parameter.elements and parameter.elements.extents)


def _place(access: Access) -> tuple[int, int] | None:
    location = access.op.location
    if not isinstance(location, FileLineColLoc):
        return None
    return location.line.data, location.column.data


def _is_certain(access: Access) -> bool:
    return not access.is_opaque and not access.unknown and _place(access) is not None


def _covers(always: Sequence[Access], sometimes: Sequence[Access]) -> bool:
    """Whether some accesses are of all elements that others are of."""
    if not always:
        return False
    with ISL_LOCK:
        try:
            one, other = (_elements(each) for each in (always, sometimes))
            return other.is_subset(one)
        except isl.Error:
            return False


def _elements(accesses: Sequence[Access]) -> isl.Set:
    first, *rest = (each.relation.range() for each in accesses)
    for each in rest:
        first = first.union(each)
    return first
