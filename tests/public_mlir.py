"""Public MLIR: how many functions with loops over memrefs are parsed, and whether they are right.

    python tests/public_mlir.py FOLDER
    python tests/public_mlir.py FOLDER --show refused

FOLDER has files of other projects, which are no part of this one. Each function that mlir-opt
accepts and that is about loops over memrefs is a piece: it is parsed and raised, and where values
for its arguments can be made up, what it computes as written is compared with MLIR's own lowering,
each in a child process. Prints the counts, and the reasons of refusals, most frequent first. The
exit code is 1 where a piece ends in a traceback, ends its process or computes something else.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import re
import sys
import traceback
from collections import Counter
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np
from support.imported_programs import Argument, Piece
from support.mlir_lowering import call
from support.public_pieces import PublicPiece, public_pieces, unique

import loopwright
from loopwright.dialects.errors import SourceError

PARSED, REFUSED, TRACEBACK, ENDED, SLOW = "parsed", "refused", "traceback", "process ended", "slow"
SAME, WRONG, NOT_COMPARED = "same", "wrong", "not compared"

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
            if name in (TRACEBACK, ENDED, WRONG, options.show):
                print(f"{piece.source} @{piece.function}: {name}: {detail}", flush=True)
    total = sum(verdicts.values())
    share = verdicts[PARSED] / max(total, 1)
    print(f"{total} pieces: {_list(verdicts)}; {share:.1%} parsed; as written: {_list(compared)}")
    for reason, count in reasons.most_common():
        print(f"{count:4} x {reason}")
    return 1 if verdicts[TRACEBACK] + verdicts[ENDED] + compared[WRONG] + compared[ENDED] else 0


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
    count = 0
    try:
        while receiver.poll(limit):
            yield receiver.recv()
            count += 1
        if count < 2:
            yield (SLOW if count == 0 else NOT_COMPARED, f"takes more than {limit} seconds")
    except EOFError:
        child.join()
        # With the first verdict told, it is the reference or the kernel that ended the process.
        if count == 0 or (count == 1 and child.exitcode):
            yield (ENDED if count == 0 else NOT_COMPARED, f"exit code {child.exitcode}")
    finally:
        child.kill()
        child.join()


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
        sender.send(_compared(piece, function))
    except BaseException as error:
        sender.send((NOT_COMPARED, f"{type(error).__name__}: {error}"))


def _compared(piece: PublicPiece, function: loopwright.Function) -> _Told:
    """Whether the program as written computes what MLIR's lowering does."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    program = Piece(piece.source, piece.function, piece.text)
    kernel = function.compile(None)
    for value in _INDICES:
        found = _arguments(program, value)
        if not any(isinstance(each, np.ndarray) for each in found):
            return NOT_COMPARED, "nothing is handed over"
        try:
            returned = kernel(*found)
        except SourceError as error:
            reason = error.message
            continue
        break
    else:
        return NOT_COMPARED, reason
    if returned is not None:
        return NOT_COMPARED, "it returns a number"
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
