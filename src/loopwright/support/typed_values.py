"""Values from elsewhere against annotations: what a dataclass says of its fields."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from itertools import repeat
from types import NoneType, UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints


def mismatch(value: object, kind: Any) -> str | None:
    """Where a value is not of an annotated type, in words; None where it is.

    Classes, dataclasses with their fields, unions, literals, tuples, lists and mappings are known.
    Numbers of type float are numbers: not NaN.
    """
    return next(_mismatches(value, kind, "it"), None)


def check_kind(subject: str, value: object, kind: type | tuple[type, ...], wanted: str) -> None:
    """Raises TypeError where an argument of the API is not of a class; `wanted` says what is."""
    if not isinstance(value, kind):
        raise TypeError(f"{subject} is {wanted}, not {_shown(value)}")


def _mismatches(value: Any, kind: Any, name: str) -> Iterator[str]:
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return
    if origin in (Union, UnionType):
        others = [each for each in inner if each is not NoneType]
        if len(others) == 1 and value is not None:
            yield from _mismatches(value, others[0], name)
        elif all(mismatch(value, each) for each in inner):
            yield f"{name} is {_shown(value)}"
    elif origin is Literal:
        if value not in inner or type(value) not in map(type, inner):
            yield f"{name} is {_shown(value)}, not {' or '.join(map(str, inner))}"
    elif origin is not None and issubclass(origin, Mapping):
        if not isinstance(value, dict):
            yield f"{name} is {_shown(value)}, not a mapping"
            return
        for key, each in cast("dict[Any, Any]", value).items():
            yield from _mismatches(key, inner[0], f"a key of {name}")
            of = _shown(key) if name == "it" else f"{name} of {_shown(key)}"
            yield from _mismatches(each, inner[1], of)
    elif origin in (tuple, list):
        if not isinstance(value, origin):
            yield f"{name} is {_shown(value)}, not a {origin.__name__}"
            return
        parts = cast("Sequence[Any]", value)
        kinds = inner if origin is tuple and inner[-1] is not Ellipsis else repeat(inner[0])
        if isinstance(kinds, tuple) and len(kinds) != len(parts):
            yield f"{name} has {len(parts)} parts, not {len(kinds)}"
        for number, (each, of) in enumerate(zip(parts, kinds, strict=False)):
            yield from _mismatches(each, of, f"{name}[{number}]")
    elif kind is float:
        if not _is_number(value):
            yield f"{name} is {_shown(value)}, not a number"
    elif kind is None:
        if value is not None:
            yield f"{name} is {_shown(value)}"
    elif not isinstance(value, origin or kind) or (isinstance(value, bool) and kind is int):
        yield f"{name} is {_shown(value)}, not {getattr(kind, '__name__', kind)}"
    elif is_dataclass(kind):
        hints = _hints(kind)
        for field in fields(kind):
            of = f"{name}.{field.name}" if name != "it" else field.name
            yield from _mismatches(getattr(value, field.name, None), hints[field.name], of)


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _is_number(value: object) -> bool:
    """Whether this is a floating-point number, or an integer among them."""
    if not isinstance(value, float | int) or isinstance(value, bool):
        return False
    try:
        return not math.isnan(value)
    except OverflowError:
        return False


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
