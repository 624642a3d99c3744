"""Records as JSON, and their schemas: made of annotations, for every kind of field."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import jsonschema
import pytest

from loopwright.support.json_records import Document, Record, schema_of, to_json


@dataclass(frozen=True)
class Foreign:
    """A dataclass that is no record, whose numbers may be none."""

    error: float


@dataclass(frozen=True)
class Node(Record):
    """A record with records of its own kind."""

    name: Annotated[str, "a name"]
    children: Annotated[tuple[Node, ...], "other\n    nodes"] = ()


@dataclass(frozen=True)
class Everything(Document):
    """One field of each kind."""

    document: ClassVar[str] = "everything"
    version: ClassVar[int] = 3

    flag: Annotated[bool, "a flag"] = True
    count: Annotated[int | None, "a count"] = None
    share: Annotated[float, "a share"] = 0.5
    kind: Annotated[Literal["a", "b"], "a kind"] = "a"
    sizes: Annotated[Mapping[str, int], "sizes"] = dataclasses.field(default_factory=dict)
    path: Annotated[Path, "a file"] = Path("x/y")
    foreign: Annotated[Foreign | None, "another's"] = None
    tree: Annotated[Node, "nodes"] = Node("a", (Node("b"),))


def test_a_document_is_what_its_schema_says() -> None:
    schema = schema_of(Everything)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$id"] == "urn:loopwright:everything:3"
    assert schema["$defs"]["Node"]["properties"]["children"]["description"] == "other nodes"
    for document in (Everything(), Everything(count=3, foreign=Foreign(math.nan), sizes={"n": 4})):
        value = json.loads(json.dumps(document.to_json(), allow_nan=False))
        jsonschema.validate(value, schema)
        assert value["schema"] == schema["$id"]


@pytest.mark.parametrize(
    "change",
    [
        {"flag": 1},
        {"count": 1.5},
        {"share": None},
        {"kind": "c"},
        {"sizes": {"n": "4"}},
        {"foreign": {}},
        {"tree": {"name": "a"}},
        {"schema": "urn:loopwright:everything:2"},
    ],
)
def test_what_differs_is_found(change: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**Everything().to_json(), **change}, schema_of(Everything))


def test_numbers_that_json_does_not_have_are_null() -> None:
    assert to_json((1.5, math.nan, math.inf, Foreign(-math.inf))) == [
        1.5,
        None,
        None,
        {"error": None},
    ]


def test_what_is_no_plain_data_is_refused() -> None:
    with pytest.raises(TypeError, match="a set is no plain data"):
        to_json({1, 2})
    with pytest.raises(TypeError, match="has no schema"):

        @dataclass(frozen=True)
        class Odd(Record):
            """With a field of a type that JSON does not have."""

            field: bytes

        schema_of(Odd)
