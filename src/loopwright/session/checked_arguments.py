"""Arguments of a Session's methods against their annotations."""

from __future__ import annotations

import inspect
import json
import os
import re
from collections.abc import Callable, Mapping
from functools import cache, wraps
from typing import Annotated, Any, Literal, ParamSpec, TypeVar, cast, get_args, get_origin

from ..support.json_records import annotations_of
from ..support.typed_values import mismatch
from .problems import CallError

_FENCED = re.compile(
    r"(?P<fence>```+|~~~+)[^\n`]*\n(?P<block>.*?)\n?[ \t]*(?P=fence)|`(?P<piece>[^`\n]*)`",
    re.DOTALL,
)

_P = ParamSpec("_P")
_R = TypeVar("_R")


def checked(method: Callable[_P, _R]) -> Callable[_P, _R]:
    """The method, which raises CallError for arguments of other types.

    A list is taken for a tuple, a path for a text, and an object in JSON for a mapping, as some
    clients send it.
    """
    signature = inspect.signature(method)
    hints = cache(annotations_of)

    @wraps(method)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        bound = signature.bind(*args, **kwargs)
        for name, value in bound.arguments.items():
            default = signature.parameters[name].default
            if value is None and default is not inspect.Parameter.empty:
                bound.arguments[name] = default
            elif name in hints(method):
                bound.arguments[name] = _checked(name, value, hints(method)[name])
        return method(*bound.args, **bound.kwargs)

    return call


def _checked(name: str, value: object, kind: Any) -> object:
    kind = get_args(kind)[0] if get_origin(kind) is Annotated else kind
    kind = str if get_origin(kind) is Literal else kind  # the method names the choices
    if kind is str and isinstance(value, os.PathLike):
        value = os.fspath(cast("os.PathLike[str]", value))
    elif kind is str and isinstance(value, str):
        value = _unfenced(value)
    elif get_origin(kind) is tuple and isinstance(value, list):
        value = tuple(cast("list[object]", value))
    # As for `Mapping[str, float] | None`: the entry that is wrong is named.
    of = next((get_args(k)[1] for k in get_args(kind) if get_origin(k) is Mapping), None)
    if of is not None and isinstance(value, str):
        value = _parsed(value)
    for key, each in _entries(value).items() if of is not None else ():
        wrong = mismatch(each, of)
        if wrong is not None:
            raise CallError("type", f"{name} of '{key}': {wrong}")
    wrong = mismatch(value, kind)
    if wrong is not None:
        raise CallError("type", f"{name}: {wrong}")
    return value


def _unfenced(text: str) -> str:
    """What is inside of a text that is one block or piece of code in Markdown; else the text."""
    found = _FENCED.fullmatch(text.strip())
    return text if found is None else found["block"] or found["piece"] or ""


def _parsed(text: str) -> object:
    """The object that a text in JSON is; the text, if it is none."""
    try:
        value: object = json.loads(text)
    except ValueError:
        return text
    return cast("object", value) if isinstance(value, dict) else text


def _entries(value: object) -> dict[object, object]:
    return cast("dict[object, object]", value) if isinstance(value, dict) else {}
