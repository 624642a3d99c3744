"""Records: frozen dataclasses of plain data, as JSON and with a JSON Schema.

The schema is made of the annotations, `Annotated[type, "what it is"]` of every field, and of the
class's docstring, so that results, their JSON and their documentation cannot differ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from types import UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from .markup import notebook
from .record_tables import record_table, words

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_SCALARS: Mapping[object, str] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    type(None): "null",
    None: "null",
}


class Record:
    """Base of frozen dataclasses whose fields are numbers, texts, tuples, mappings and records."""

    def to_json(self) -> dict[str, Any]:
        """Plain JSON: objects, arrays, texts, numbers and null."""
        return _fields_to_json(self)

    def _repr_html_(self) -> str:
        """Its fields, for notebooks."""
        return notebook(words(type(self).__name__), record_table(self))


class Document(Record):
    """A record that stands alone: it names its schema, and the version of that.

    A version stays what it is but for fields that are added.
    """

    document: ClassVar[str]
    version: ClassVar[int] = 1

    @classmethod
    def identifier(cls) -> str:
        """The name of its schema: `urn:loopwright:deps:1`."""
        return f"urn:loopwright:{cls.document}:{cls.version}"

    def to_json(self) -> dict[str, Any]:
        return {"schema": self.identifier(), **_fields_to_json(self)}


def to_json(value: object) -> Any:
    """A value as plain JSON; numbers that JSON does not have (NaN, infinities) are null."""
    match value:
        case Record():
            return value.to_json()
        case float():
            return value if math.isfinite(value) else None
        case None | bool() | int() | str():
            return value
        case Path():
            return str(value)
        case tuple() | list():
            return [to_json(each) for each in cast("tuple[object, ...]", value)]
        case Mapping():
            pairs = cast("Mapping[object, object]", value).items()
            return {str(key): to_json(each) for key, each in pairs}
        case _ if is_dataclass(value) and not isinstance(value, type):
            return _fields_to_json(value)
        case _:
            raise TypeError(f"a {type(value).__name__} is no plain data")


def _fields_to_json(value: object) -> dict[str, Any]:
    return {field.name: to_json(getattr(value, field.name)) for field in fields(cast(Any, value))}


def schema_of(record: type[Record]) -> dict[str, Any]:
    """The JSON Schema of a record's JSON, with the records inside of it under `$defs`.

    That of a document says which version it is.
    """
    definitions: dict[str, Any] = {}
    schema = _object_schema(record, definitions)
    head = {"$schema": DIALECT}
    if issubclass(record, Document):
        head["$id"] = record.identifier()
        schema["properties"] = {"schema": {"const": record.identifier()}, **schema["properties"]}
        schema["required"] = ["schema", *schema["required"]]
    return {**head, **schema, **({"$defs": definitions} if definitions else {})}


def value_schema(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """The schema of values of an annotated type; adds those of records to `definitions`."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return value_schema(inner[0], definitions) | {"description": " ".join(inner[1].split())}
    if kind is Any:
        return {}
    if kind in _SCALARS:
        return {"type": _SCALARS[kind]}
    if kind is Path:
        return {"type": "string"}
    if origin in (Union, UnionType):
        kinds = [value_schema(each, definitions) for each in inner]
        if all(set(each) == {"type"} for each in kinds):
            return {"type": [each["type"] for each in kinds]}
        return {"anyOf": kinds}
    if origin is Literal:
        return {"enum": list(inner)}
    if origin is tuple:
        return {"type": "array", "items": value_schema(inner[0], definitions)}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": value_schema(inner[1], definitions)}
    if isinstance(kind, type) and is_dataclass(kind):
        if kind.__name__ not in definitions:
            definitions[kind.__name__] = {}  # a record may contain its own kind
            definitions[kind.__name__] = _object_schema(kind, definitions)
        return {"$ref": f"#/$defs/{kind.__name__}"}
    raise TypeError(f"{kind} has no schema")


def _object_schema(record: type, definitions: dict[str, Any]) -> dict[str, Any]:
    assert is_dataclass(record), f"{record} is no dataclass"
    hints = annotations_of(record)
    names = [field.name for field in fields(record)]
    schemas = {name: value_schema(hints[name], definitions) for name in names}
    if not issubclass(record, Record):
        # Whoever computes with it may have numbers that JSON does not have.
        number = _SCALARS[float]
        schemas = {
            name: {**schema, "type": [number, "null"]} if schema.get("type") == number else schema
            for name, schema in schemas.items()
        }
    return {
        "description": " ".join((record.__doc__ or "").split()),
        "type": "object",
        "properties": schemas,
        "required": names,
    }


@cache
def annotations_of(of: Any) -> dict[str, Any]:
    """The annotations of a class or function, with what `Annotated` adds."""
    return get_type_hints(of, include_extras=True)
