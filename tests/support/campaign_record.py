"""The record of the random campaigns, in pieces: each adds to the totals of its row."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
COLUMNS = ("campaign", "checked", "no verdict", "findings", "seeds")
COMMAND = (
    "python tests/campaign.py --pairs 750 --seed SEED; "
    "python tests/fuzz.py --inputs 1000 --seed SEED; "
    "python tests/front_ends.py --programs 20000"
)
TEXT = (
    "Programs, schedules and inputs that nobody wrote, in pieces, one process at a time: random "
    "pairs of a program and a schedule, validated, compiled, and compared with the interpreter of "
    "the tests bit for bit; mutated programs, pipelines, notation, schedules, sizes and files, of "
    "which each ends with a result or one line; Python and C functions, and programs that are only "
    "partly affine, against Python and gcc -O0. Findings are counted when they are found; what was "
    "found has been fixed, with a test."
)


def add(name: str, campaign: str, checked: int, refused: int, findings: int, seeds: range) -> None:
    """Adds a piece to benchmarks/results/NAME.json; pieces of one campaign are of other seeds."""
    sys.path.append(str(BENCHMARKS))
    record: Any = importlib.import_module("record")
    path = BENCHMARKS / "results" / f"{name}.json"
    rows: list[list[Any]] = json.loads(path.read_text())["rows"] if path.exists() else []
    totals: dict[str, list[int]] = {row[0]: row[1:4] for row in rows}
    pieces: dict[str, list[range]] = {row[0]: _ranges(row[4]) for row in rows}
    new = checked, refused, findings
    old = totals.get(campaign, [0, 0, 0])
    totals[campaign] = [one + other for one, other in zip(old, new, strict=True)]
    pieces[campaign] = merged([*pieces.get(campaign, []), seeds])
    table = [[each, *totals[each], _text(pieces[each])] for each in sorted(totals)]
    record.write(
        name, COLUMNS, table, command=COMMAND, title="Random campaigns", text=TEXT, page="campaigns"
    )


def recorded(name: str, campaign: str) -> list[range]:
    """The seeds of a campaign that benchmarks/results/NAME.json counts."""
    path = BENCHMARKS / "results" / f"{name}.json"
    rows: list[list[Any]] = json.loads(path.read_text())["rows"] if path.exists() else []
    return next((_ranges(row[4]) for row in rows if row[0] == campaign), [])


def merged(pieces: list[range]) -> list[range]:
    """Neighbouring ranges as one; raises ValueError where two have a seed in common."""
    found: list[range] = []
    for piece in sorted(pieces, key=lambda each: each.start):
        if found and piece.start < found[-1].stop:
            raise ValueError(f"seeds from {piece.start} on have been counted before")
        if found and piece.start == found[-1].stop:
            piece = range(found.pop().start, piece.stop)
        found.append(piece)
    return found


def _text(pieces: list[range]) -> str:
    return ", ".join(f"{piece.start}-{piece.stop - 1}" for piece in pieces)


def _ranges(text: str) -> list[range]:
    ends = (piece.split("-") for piece in text.split(", "))
    return [range(int(first), int(last) + 1) for first, last in ends]
