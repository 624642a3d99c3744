"""Which memory the optimised code of a region may access, where C does not say how long it is."""

from __future__ import annotations

from collections.abc import Sequence, Set

import islpy as isl
from xdsl.dialects.builtin import FileLineColLoc

from ...dialects.errors import SourceError
from ...passes.polyhedral.isl_context import ISL_LOCK
from ...passes.polyhedral.scop import Access
from .c_types import ArrayType, NumberType, PointerType
from .translate import Parameter, Translation
from .tree import Symbol
from .variables import assigned_symbols


def check_conditional_accesses(translation: Translation) -> None:
    """Raises SourceError where an array may be shorter than what optimised code accesses.

    It always makes those accesses that C makes under conditions on data.
    """
    if not translation.conditional_accesses:
        return
    places = map(translation.place, translation.conditional_accesses)
    conditional = {(each.line, each.column) for each in places}
    scop = translation.function.scop
    for argument, parameter in enumerate(translation.parameters):
        if not has_unknown_length(parameter):
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


def check_gathers(translation: Translation) -> None:
    """Raises SourceError for elements at subscripts that depend on data that may not be apart.

    How many elements such an array has is known where it is declared as one; the elements that a
    pointer leads to are none of those that are written where one of the pointers is `restrict`, and
    the other is not based on it.
    """
    assigned = assigned_symbols(translation.region.function.body.statements, ()).keys()
    written = [each for each in translation.parameters if each.name in translation.written]
    for parameter in translation.parameters:
        if parameter.name not in translation.gathered or not has_unknown_length(parameter):
            continue
        symbol = parameter.symbol
        if symbol.has_rows:
            raise SourceError(
                f"the rows of '{symbol.name}' may lie anywhere, and data tells which are accessed",
                translation.region.place,
                f"pass an array: {symbol.name}[n][m]",
            )
        if translation.gathered[parameter.name]:
            raise SourceError(
                f"'{symbol.name}' is read at subscripts that depend on data, under a condition",
                translation.region.place,
                "read the element before the condition",
            )
        for other in written:
            if not (_is_own(other.symbol) or _are_apart(symbol, other.symbol, assigned)):
                raise SourceError(
                    f"'{symbol.name}' is read at subscripts that depend on data, and may overlap "
                    f"'{other.symbol.name}': C does not tell how many elements it has",
                    translation.region.place,
                    "declare one of them with restrict",
                )


def has_unknown_length(parameter: Parameter) -> bool:
    """Whether C does not say how many elements there are."""
    symbol = parameter.symbol
    is_array = isinstance(symbol.type, ArrayType) and not symbol.is_parameter
    return not is_array and bool(parameter.elements and parameter.elements.extents)


def _are_apart(one: Symbol, other: Symbol, assigned: Set[Symbol]) -> bool:
    """Whether one of two is a `restrict` parameter, and the other surely not based on it.

    A parameter has the value that it is given where nothing assigns it; what is assigned later, a
    global pointer and a member of a structure may be based on any pointer.
    """
    lasting = [
        each.is_parameter and not each.has_address and each not in assigned for each in (one, other)
    ]
    are_known = all(
        not each.through and (is_lasting or isinstance(each.type, ArrayType))
        for each, is_lasting in zip((one, other), lasting, strict=True)
    )
    return are_known and any(
        is_lasting and isinstance(each.type, PointerType) and each.type.restrict
        for each, is_lasting in zip((one, other), lasting, strict=True)
    )


def _is_own(symbol: Symbol) -> bool:
    """Whether it is a number that no pointer leads to."""
    is_number = isinstance(symbol.type, NumberType)
    return is_number and not symbol.is_global and not symbol.has_address


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
