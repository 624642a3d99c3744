"""Signatures that are kept on disk: a later process calls a function without parsing it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from ..calling.arguments import (
    Argument,
    ArrayArgument,
    ComplexArrayArgument,
    FloatArgument,
    IntegerArgument,
    Place,
)
from ..calling.elements import ELEMENTS, Element
from ..calling.signature import Signature
from .cache import cache_key, default_cache
from .code_versions import compiler

_KINDS: dict[str, Callable[..., Argument]] = {
    each.__name__: each
    for each in (ArrayArgument, ComplexArrayArgument, FloatArgument, IntegerArgument)
}


def kept_signature(name: str, text: str, make: Callable[[], Signature]) -> Signature:
    """The plain signature of a function of a module with this text; `make` raises what it does."""
    cache = default_cache()
    if cache is None:
        return make()
    key = cache_key("signature", name, text, compiler())
    data = cache.get(key)
    if data is not None:
        return read(json.loads(data))
    signature = make()
    cache.put(key, json.dumps(written(signature)).encode())
    return signature


def written(signature: Signature) -> dict[str, Any]:
    """A plain signature as JSON has it."""
    return {
        "kernel": signature.kernel,
        "arguments": [_written_argument(each) for each in signature.arguments],
        "results": [_written_element(each) for each in signature.results],
        "tile_sizes": signature.tile_sizes,
        "complex_arguments": signature.complex_arguments,
        "complex_results": signature.complex_results,
    }


def read(data: dict[str, Any]) -> Signature:
    """The signature that was written."""
    return Signature(
        data["kernel"],
        tuple(
            _read_argument(data["kernel"], position, each)
            for position, each in enumerate(data["arguments"])
        ),
        tuple(map(_read_element, data["results"])),
        tile_sizes=tuple(data["tile_sizes"]),
        complex_arguments=tuple(data["complex_arguments"]),
        complex_results=tuple(data["complex_results"]),
    )


def _written_argument(argument: Argument) -> dict[str, Any]:
    own = {each.name: getattr(argument, each.name) for each in fields(argument)}
    own |= {"place": argument.place.name, "element": _written_element(argument.element)}
    return {"kind": type(argument).__name__, **own}


def _read_argument(kernel: str, position: int, data: dict[str, Any]) -> Argument:
    own: dict[str, Any] = {**data, "place": Place(kernel, position, data["place"])}
    own["element"] = _read_element(data["element"])
    if "shape" in own:
        own["shape"] = tuple(own["shape"])
    return _KINDS[own.pop("kind")](**own)


def _written_element(element: Element) -> tuple[str, bool]:
    name = f"i{element.bits}" if element.is_unsigned else element.name
    return name, element.is_unsigned


def _read_element(data: list[Any]) -> Element:
    name, is_unsigned = data
    return ELEMENTS[name].unsigned() if is_unsigned else ELEMENTS[name]
