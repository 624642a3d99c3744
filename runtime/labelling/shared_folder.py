"""Labelling with other machines through a shared folder, without a scheduler."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import chain
from pathlib import Path

from ...costmodel.dataset.journal import row_from_text, row_to_text
from ...costmodel.dataset.rows import Row, rows_of
from ...costmodel.labels import LabelledProgram
from ...support.shared_work import SharedWork, results

Label = Callable[[Iterable[int]], Generator[LabelledProgram]]
"""Labels programs by number, in order."""


def label_in_share(
    work: SharedWork, label: Label, *, fast_math: bool = False
) -> Generator[LabelledProgram]:
    """Labels what no other worker does, until all is done; the labels are in the folder then.

    Programs that went wrong count as done without labels. Raises OSError.
    """
    with work:
        while True:
            items = work.items()
            first = next(items, None)
            if first is None:  # processes are started for work only
                if not work.wait():
                    return
                continue
            for labelled in label(chain([first], items)):
                if labelled.is_settled:
                    rows = rows_of(labelled, fast_math=fast_math)
                    work.record(labelled.item, _packed(rows))
                else:
                    work.skip(labelled.item)
                yield labelled


def shared_rows(folder: Path) -> Iterator[list[Row]]:
    """The rows of all programs that were labelled in a folder. Raises OSError."""
    for _, rows in results(folder):
        yield [row_from_text(row) for row in _unpacked(rows)]


def _packed(rows: list[Row]) -> str:
    """Rows as text: the program, which all of them have, takes no place again."""
    text = json.dumps([row_to_text(row) for row in rows], separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def _unpacked(text: str) -> list[Row]:
    return json.loads(zlib.decompress(base64.b64decode(text)))
