"""Public MLIR: how many functions with loops over memrefs are parsed, and whether they are right.

    python tests/public_mlir.py FOLDER
    python tests/public_mlir.py FOLDER --show refused
    python tests/public_mlir.py FOLDER --record

FOLDER has files of other projects, which are no part of this one. Each function that mlir-opt
accepts and that is about loops over memrefs is a piece: it is parsed and raised, and where values
for its arguments can be made up, what it computes as written is compared with MLIR's own lowering,
each in a child process. Prints the counts, and the reasons of refusals, most frequent first. With
`--record`, they are a row of benchmarks/results/public-mlir.json. The exit code is 1 where a piece,
parsed or compiled or run, ends in a traceback, ends its process or computes something else.
"""

from __future__ import annotations

import argparse
import importlib
import json
import multiprocessing
import os
import re
import sys
import traceback
from collections import Counter
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from support.imported_programs import Argument, Piece
from support.mlir_lowering import call
from support.public_pieces import PublicPiece, public_pieces, unique

import loopwright
from loopwright.dialects.errors import SourceError
from loopwright.errors import USER_ERRORS, BoundsError

PARSED, REFUSED, TRACEBACK, ENDED, SLOW = "parsed", "refused", "traceback", "process ended", "slow"
RAN = "ran"
"""Told when our code has run, before MLIR's does."""

SAME, WRONG, NOT_COMPARED = "same", "wrong", "not compared"
BAD = (TRACEBACK, ENDED, WRONG)

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
RECORD, COLUMNS = (
    "public-mlir",
    ("commit", "pieces", "parsed", "refused", "bad ends", "same results", "wrong", "share parsed"),
)
TEXT = (
    "Functions of public MLIR with loops over memrefs, of the tests and examples of LLVM, CIRCT, "
    "IREE, Polygeist, Polymer, ScaleHLS, TPP-MLIR, Buddy and others, which mlir-opt accepts and "
    "that use the dialects of loops on CPUs: how many are parsed and raised, and, where values for "
    "their arguments can be made up, what they compute as written against MLIR's own lowering. Bad "
    "ends are tracebacks and ended processes, of parsing, compiling or running."
)

_INDICES = (None, 2, 1, 0)
"""Values of integer arguments that are tried until no access is out of bounds."""

_Told = tuple[str, str]


def main() -> int:
    """Counts the pieces of a folder."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit", type=int, default=60, help="seconds of a piece")
    parser.add_argument("--show", default="", help="also name the pieces with this verdict")
    parser.add_argument("--record", action="store_true", help="add a row to the record")
    options = parser.parse_args()
    os.environ["LOOPWRIGHT_CACHE"] = "off"
    verdicts: Counter[str] = Counter()
    compared: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for piece in unique(public_pieces(options.folder)):
        told = list(_tried(piece, options.limit))
        (verdict, reason), *results = told
        verdicts[verdict] += 1
        if verdict != PARSED:
            reasons[f"{verdict}: {_kind(reason)}"] += 1
        for result, _ in results:
            compared[result] += 1
        for name, detail in told:
            if name in (*BAD, options.show):
                print(f"{piece.source} @{piece.function}: {name}: {detail}", flush=True)
    total = sum(verdicts.values())
    share = verdicts[PARSED] / max(total, 1)
    print(f"{total} pieces: {_list(verdicts)}; {share:.1%} parsed; as written: {_list(compared)}")
    for reason, count in reasons.most_common():
        print(f"{count:4} x {reason}")
    if options.record:
        _add(verdicts, compared)
    return 1 if any(counts[bad] for counts in (verdicts, compared) for bad in BAD) else 0


def _add(verdicts: Counter[str], compared: Counter[str]) -> None:
    sys.path.append(str(BENCHMARKS))
    record: Any = importlib.import_module("record")
    path = BENCHMARKS / "results" / f"{RECORD}.json"
    rows: list[list[Any]] = json.loads(path.read_text())["rows"] if path.exists() else []
    total, parsed = sum(verdicts.values()), verdicts[PARSED]
    bad = sum(counts[each] for counts in (verdicts, compared) for each in (TRACEBACK, ENDED))
    counts = (total, parsed, verdicts[REFUSED], bad, compared[SAME], compared[WRONG])
    row = [record.commit(), *counts, f"{parsed / total:.1%}"]
    command = "python tests/public_mlir.py FOLDER --record"
    title = "Public MLIR"
    record.write(
        RECORD,
        COLUMNS,
        [*rows, row],
        command=command,
        title=title,
        text=TEXT,
        page="campaigns",
    )


def _list(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.most_common())


def _kind(reason: str) -> str:
    """A reason without names and numbers, but for those of operations."""
    if reason.startswith("unknown operation"):
        return reason
    return re.sub(r"'@[^']*'|%\w+|\b\d+\b|<[^ ]*>", "_", reason)


def _tried(piece: PublicPiece, limit: int) -> Iterator[_Told]:
    """What a child process tells about a piece: the verdict, then what became of its run."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=_child, args=(piece, sender))
    child.start()
    sender.close()
    told: list[_Told] = []
    ends = (ENDED, ENDED, NOT_COMPARED)  # before the verdict, in our code, in that of MLIR
    slow = (SLOW, NOT_COMPARED, NOT_COMPARED)
    try:
        while receiver.poll(limit):
            told.append(receiver.recv())
        reason = slow[len(told)], f"takes more than {limit} seconds"
    except EOFError:
        child.join()
        reason = ends[min(len(told), 2)], f"exit code {child.exitcode}"
    finally:
        child.kill()
        child.join()
    yield told[0] if told else reason
    if told and told[0][0] == PARSED:
        yield told[-1] if len(told) > 1 and told[-1][0] != RAN else reason


def _child(piece: PublicPiece, sender: Connection) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    try:
        function = loopwright.load(piece.text)[piece.function]
        _ = function.scop
    except SourceError as error:
        sender.send((REFUSED, error.message))
        return
    except BaseException:
        sender.send((TRACEBACK, traceback.format_exc()))
        return
    sender.send((PARSED, ""))
    try:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        program = Piece(piece.source, piece.function, piece.text)
        found = _run(program, function)
    except (*USER_ERRORS, NoValues) as error:
        sender.send((NOT_COMPARED, f"{type(error).__name__}: {error}"))
        return
    except BaseException:
        sender.send((TRACEBACK, traceback.format_exc()))
        return
    sender.send((RAN, ""))
    try:
        sender.send(_compared(program, *found))
    except BaseException as error:
        sender.send((NOT_COMPARED, f"{type(error).__name__}: {error}"))


class NoValues(Exception):
    """There are no values for the arguments that can be compared afterwards."""


def _run(program: Piece, function: loopwright.Function) -> tuple[list[Argument], int | None]:
    """The arguments after a run as written, and which integers they were; raises NoValues."""
    kernel = function.compile(None)
    reason = ""
    for value in _INDICES:
        try:
            found = _arguments(program, value)
        except Exception as error:  # what the tests cannot make up is no fault of the compiler
            raise NoValues(str(error)) from error
        if not any(isinstance(each, np.ndarray) for each in found):
            raise NoValues("nothing is handed over")
        try:
            returned = kernel(*found)
        except BoundsError as error:
            reason = str(error)
            continue
        if returned is not None:
            raise NoValues("it returns a number")
        return found, value
    raise NoValues(reason)


def _compared(program: Piece, found: list[Argument], value: int | None) -> _Told:
    """Whether our code has computed what MLIR's lowering does."""
    expected = [_expected(program, value, byte) for byte in (0x11, 0x55)]
    for one, first, second in zip(found, *expected, strict=True):
        if not (isinstance(one, np.ndarray) and isinstance(first, np.ndarray)):
            continue
        tolerance = 1e-4 if one.dtype == np.float32 else 1e-9
        same = np.isclose(one, first, rtol=tolerance, atol=tolerance, equal_nan=True)
        # What depends on memory that was never written has no meaning.
        equal_nan = first.dtype.kind in "fc"
        defined = np.isclose(first, second, rtol=0, atol=0, equal_nan=equal_nan)
        if not np.all(same | ~defined):
            place = tuple(np.argwhere(~same & defined)[0])
            return WRONG, f"{one[place]} instead of {first[place]} at {list(map(int, place))}"
    return SAME, ""


def _expected(program: Piece, value: int | None, byte: int) -> list[Argument]:
    """What MLIR's lowering computes where new memory has these bytes."""
    arguments = _arguments(program, value)
    call(program, arguments, byte)
    return arguments


def _arguments(program: Piece, value: int | None) -> list[Argument]:
    return [
        value if value is not None and isinstance(each, int) else each
        for each in program.arguments()
    ]


if __name__ == "__main__":
    sys.exit(main())
