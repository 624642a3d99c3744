"""Documents that commands write with `--json`, against the schema files that are shipped."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema

PREFIX = "urn:loopwright:"


@cache
def validator(identifier: str) -> jsonschema.Draft202012Validator:
    """The shipped schema that a document names."""
    name, version = identifier.removeprefix(PREFIX).split(":")
    file = resources.files("loopwright") / "schemas" / f"{name}-{version}.json"
    schema = json.loads(file.read_text(encoding="utf-8"))
    assert schema["$id"] == identifier
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def check_document(text: str, name: str) -> dict[str, Any]:
    """A document called `name`, which is what its schema says, with no other fields."""
    document = json.loads(text, parse_constant=lambda word: f"not JSON: {word}")
    assert document["schema"].startswith(f"{PREFIX}{name}:")
    found = validator(document["schema"])
    found.validate(document)
    assert set(document) == set(found.schema["properties"])  # pyright: ignore
    return document


def check_file(path: Path, name: str) -> dict[str, Any]:
    """The document in a file."""
    return check_document(path.read_text(encoding="utf-8"), name)


def check_lines(text: str, name: str) -> dict[str, Any]:
    """The last of JSON lines, called `name`; those before tell of progress."""
    *events, last = text.splitlines()
    for event in events:
        check_document(event, json.loads(event)["schema"].split(":")[2])
    return check_document(last, name)
