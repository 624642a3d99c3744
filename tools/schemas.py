"""Generator of the JSON Schema files from the records: `python tools/schemas.py`.

Each document that a command can write with `--json` has a file `NAME-N.json` in
`src/loopwright/schemas`, N being its version. A test compares them. Fields may be added to a
version; for anything else the version of the document is counted up, and the older file stays.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
from pathlib import Path

from loopwright import commands
from loopwright.support.json_records import Document, schema_of

FOLDER = Path(__file__).parents[1] / "src" / "loopwright" / "schemas"


def documents() -> list[type[Document]]:
    """The documents of all commands, by name."""
    for module in pkgutil.walk_packages(commands.__path__, f"{commands.__name__}."):
        importlib.import_module(module.name)
    found = [cls for cls in Document.__subclasses__() if cls.__module__.startswith("loopwright.")]
    return sorted(found, key=lambda cls: cls.document)


def file_of(document: type[Document]) -> Path:
    """Where the schema of a document is."""
    return FOLDER / f"{document.document}-{document.version}.json"


def text_of(document: type[Document]) -> str:
    """The contents of its file."""
    return json.dumps(schema_of(document), indent=1) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for each in documents():
        file_of(each).write_text(text_of(each), encoding="utf-8")
