"""Results of `loopwright bench --json FILE`, read again: rows, tables, pictures."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from itertools import groupby
from pathlib import Path
from typing import Any, cast

from ...support.bounded_files import read_text
from ...support.markup import MOST_ROWS, element, join, notebook
from ...support.markup import table as html_table
from ...support.summaries import summary
from ..calling.api_checks import check_path
from .report import Row, notes, table

SCHEMA = "urn:loopwright:bench:1"


class ResultsError(Exception):
    """A file that has no results of `bench`; `str()` is one line."""


@dataclass(frozen=True, repr=False)
class SavedResults:
    """What `loopwright bench` has measured, and when, where and by which command.

    results = read_results("bench.json")
    results             # tables in a notebook
    [row for row in results.rows if row.speedup]
    """

    rows: tuple[Row, ...]
    cpu: str
    date: str
    command: str

    def __repr__(self) -> str:
        return summary(self, f"of {self.command}, {len(self.rows)} rows")

    def _repr_html_(self) -> str:
        """A table for each kernel and size, for notebooks."""
        parts = [element("p", f"loopwright {self.command}; {self.cpu}, {self.date}")]
        for case, found in groupby(self.rows[:MOST_ROWS], lambda row: (row.kernel, row.size)):
            rows = list(found)
            parts.append(element("h4", " ".join(case)))
            parts.append(html_table(table(rows), numbers=True))
            parts += [element("p", note) for note in notes(rows)]
        return notebook("Benchmark", join(parts), len(self.rows))


def read_results(path: str | Path) -> SavedResults:
    """The results in a file of `loopwright bench --json FILE`; raises ResultsError."""
    check_path("read_results", "path", path)
    try:
        document: Any = json.loads(read_text(path))
    except OSError as error:
        raise ResultsError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise ResultsError(f"{path} is no JSON file: {error}") from error
    if not isinstance(document, dict) or cast(Any, document).get("schema") != SCHEMA:
        raise ResultsError(f"{path} has no results of 'loopwright bench --json' ({SCHEMA})")
    content = cast("dict[str, Any]", document)
    known = {field.name for field in fields(Row)}
    try:
        # Later versions may add fields.
        rows = tuple(
            Row(**{name: value for name, value in row.items() if name in known})
            for row in content["rows"]
        )
        cpu, date, command = content["machine"]["cpu"], content["date"], content["command"]
    except (AttributeError, KeyError, TypeError) as error:
        raise ResultsError(f"{path} has damaged results: {error}") from error
    return SavedResults(rows, cpu, date, command)
