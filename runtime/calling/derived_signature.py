"""What a function takes and returns, and its sizes, from its polyhedral model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, DictionaryAttr, MemRefType
from xdsl.ir import Attribute

from ...dialects.marks import COMPLEX, UNSIGNED
from ...passes.polyhedral.gathers import gathered_arguments
from ...passes.polyhedral.identifiers import ArgumentNames
from ...passes.polyhedral.scop import AccessKind, Scop
from .arguments import (
    Argument,
    ArrayArgument,
    ComplexArrayArgument,
    FloatArgument,
    IntegerArgument,
    Place,
)
from .elements import ELEMENTS, Element
from .errors import UnsupportedSignature
from .signature import Signature, Sizes


def named_sizes(scop: Scop, sizes: Mapping[str, int]) -> Sizes:
    """The shapes and integers of `scop` where the sizes with these names are known."""
    shapes = {
        array.argument: tuple(
            extent if isinstance(extent, int) else sizes.get(str(extent), DYNAMIC_INDEX)
            for extent in array.shape
        )
        for array in scop.arrays
        if array.argument is not None
    }
    integers = {
        parameter.argument: sizes[parameter.name]
        for parameter in scop.parameters
        if parameter.dimension is None and parameter.name in sizes
    }
    return Sizes(shapes, integers)


def signature_of(scop: Scop) -> Signature:
    """The signature of the function of `scop`; raises UnsupportedSignature."""
    function = scop.func
    names = ArgumentNames.of(function).arguments
    arguments = tuple(
        _argument(scop, position, names[position], value.type)
        for position, value in enumerate(function.body.block.args)
    )
    returned = function.res_attrs
    results = tuple(
        _scalar(f"{scop.name}: result {position + 1}", kind, _has(UNSIGNED, returned, position))
        for position, kind in enumerate(function.function_type.outputs)
    )
    numbers = [n for n, each in enumerate(arguments) if isinstance(each, FloatArgument)]
    return Signature(
        scop.name,
        arguments,
        results,
        complex_arguments=tuple(n for n in numbers if _has(COMPLEX, function.arg_attrs, n)),
        complex_results=tuple(n for n in range(len(results)) if _has(COMPLEX, returned, n)),
    )


def _argument(scop: Scop, position: int, name: str, kind: Attribute) -> Argument:
    place = Place(scop.name, position, name)
    unsigned = _has(UNSIGNED, scop.func.arg_attrs, position)
    if isinstance(kind, MemRefType):
        kinds = {
            access.kind
            for statement in scop.statements
            for access in statement.accesses
            if access.array.argument == position
        }
        shape = tuple(None if extent == DYNAMIC_INDEX else extent for extent in kind.get_shape())
        element = _scalar(str(place), cast(Attribute, kind.get_element_type()), unsigned)
        reads = AccessKind.READ in kinds or position in gathered_arguments(scop)
        is_complex = _has(COMPLEX, scop.func.arg_attrs, position)
        make = ComplexArrayArgument if is_complex else ArrayArgument
        return make(place, element, shape, reads, AccessKind.WRITE in kinds)
    element = _scalar(str(place), kind, unsigned)
    if element.bits is None:
        return FloatArgument(place, element)
    is_size = any(
        parameter.argument == position and parameter.dimension is None
        for parameter in scop.parameters
    )
    return IntegerArgument(place, element, is_size)


def _has(mark: str, attributes: ArrayAttr[DictionaryAttr] | None, position: int) -> bool:
    return attributes is not None and mark in attributes.data[position].data


def _scalar(place: str, kind: Attribute, unsigned: bool) -> Element:
    try:
        element = ELEMENTS[str(kind)]
        return element.unsigned() if unsigned and (element.bits or 1) > 1 else element
    except KeyError:
        raise UnsupportedSignature(
            f"{place}: type {kind} cannot be passed from Python; "
            f"use {', '.join(ELEMENTS)} or a memref of these"
        ) from None
