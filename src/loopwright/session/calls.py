"""The table of calls: the methods of a Session, by name, with schemas of arguments and results.

`loopwright serve` answers these, whatever the transport. Keyword-only parameters of a method are
for Python alone.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import NoneType
from typing import Annotated, Any, get_args, get_origin

from ..support.json_records import Record, annotations_of, schema_of, value_schema
from ..support.typed_values import mismatch
from .problems import CallError
from .session import Session

PAGED: Mapping[str, str] = {
    "describe": "statements",
    "dependences": "dependences",
    "legal": "repairs",
    "loops": "lines",
    "predict": "predictions",
    "explain": "loops",
}
"""The list of a call's result that is given in pages."""

LONGEST_TEXT = 4000
"""Characters of an argument ..."""

LONGEST_SOURCE = 200_000
"""... and of a program."""

MOST_ITEMS = 64
"""Items of an argument that is a list or a mapping."""

_SURROGATES = re.compile("[\ud800-\udfff]")
"""Halves of characters, which JSON can have and no file."""

NAMES = (
    "load",
    "describe",
    "dependences",
    "legal",
    "apply",
    "loops",
    "predict",
    "explain",
    "time",
    "tune",
    "verify",
    "save",
)


@dataclass(frozen=True)
class Parameter:
    """A parameter of a call; without a default, it must be given."""

    name: str
    kind: Any
    default: Any = inspect.Parameter.empty

    @property
    def is_required(self) -> bool:
        """Whether it must be given."""
        return self.default is inspect.Parameter.empty

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of its values."""
        schema = value_schema(self.kind, {})
        bound = LONGEST_SOURCE if self.name == "source" else LONGEST_TEXT
        types = schema.get("type", ())
        if "string" in ([types] if isinstance(types, str) else types):
            schema["maxLength"] = bound
        if types == "array":
            schema["maxItems"] = MOST_ITEMS
            schema["items"] = {**schema["items"], "maxLength": bound}
        return schema if self.is_required else {**schema, "default": self.default}

    def check(self, value: Any) -> Any:
        """A value of plain JSON as the method takes it; raises CallError."""
        given: Any = value.__class__
        if given is NoneType and not self.is_required:
            return self.default
        kind = get_args(self.kind)[0] if get_origin(self.kind) is Annotated else self.kind
        items: list[object] = list(value) if given in (list, dict) else [value]
        taken: Any = tuple(items) if given is list and get_origin(kind) is tuple else value
        wrong = mismatch(taken, kind)
        if wrong is not None:
            raise CallError("type", f"{self.name}: {wrong}", "see the schema of the call")
        bound = LONGEST_SOURCE if self.name == "source" else LONGEST_TEXT
        if len(items) > MOST_ITEMS:
            raise CallError("too_large", f"{self.name} has more than {MOST_ITEMS} items")
        if any(isinstance(item, str) and len(item) > bound for item in items):
            raise CallError("too_large", f"{self.name} has more than {bound} characters")
        if any(isinstance(item, str) and _SURROGATES.search(item) for item in items):
            raise CallError("type", f"{self.name}: a surrogate is no character")
        return taken


@dataclass(frozen=True)
class Call:
    """A call: its name, what it does, its parameters, the record it answers with."""

    name: str
    summary: str
    parameters: tuple[Parameter, ...]
    result: type[Record]
    method: Callable[..., Record]

    @property
    def paged(self) -> str | None:
        """The list of the result that is given in pages."""
        return PAGED.get(self.name)

    def input_schema(self) -> dict[str, Any]:
        """The JSON Schema of its arguments."""
        return {
            "type": "object",
            "properties": {each.name: each.schema for each in self.parameters},
            "required": [each.name for each in self.parameters if each.is_required],
            "additionalProperties": False,
        }

    def output_schema(self) -> dict[str, Any]:
        """The JSON Schema of its result."""
        return schema_of(self.result)

    def bind(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments as the method takes them; raises CallError."""
        known = {each.name: each for each in self.parameters}
        for name in arguments:
            if name not in known:
                raise CallError(
                    "type", f"{self.name} has no argument {name!r}", f"it has {', '.join(known)}"
                )
        for each in self.parameters:
            if each.is_required and each.name not in arguments:
                raise CallError("type", f"{self.name} needs the argument {each.name}")
        return {name: known[name].check(value) for name, value in arguments.items()}

    def __call__(self, session: Session, arguments: Mapping[str, Any]) -> Record:
        """The answer; raises CallError and what the method raises."""
        return self.method(session, **self.bind(arguments))


@cache
def calls() -> Mapping[str, Call]:
    """All calls, by name."""
    return {name: _call(name, getattr(Session, name)) for name in NAMES}


def _call(name: str, method: Callable[..., Record]) -> Call:
    hints = annotations_of(method)
    parameters = tuple(
        Parameter(each.name, hints[each.name], each.default)
        for each in inspect.signature(method).parameters.values()
        if each.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD and each.name != "self"
    )
    return Call(name, inspect.getdoc(method) or "", parameters, hints["return"], method)
