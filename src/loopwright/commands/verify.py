"""Proves that two programs compute the same, or shows that they do not.

Statements are compared by what they compute, and their values followed to the last writers, for
all sizes at once: tiled, interchanged, fused, distributed, unrolled and jammed loops, and values
kept in registers, are seen through. Functions are compared with that of the same name, or the only
one of each program. The first word of each line is the answer: 'equal' (proved), 'different' (a
run at small sizes shows it), or 'not known' with the reason.

exit codes: 0 all are equal; 1 some are different, or the command line or a program is wrong;
2 none is different, but not all are known to be equal

examples:
  loopwright verify gemm.mlir tiled.mlir
  loopwright verify gemm.mlir unrolled.mlir --assume 'ni >= 1 and nj >= 1 and nk >= 1'
  loopwright verify sum.mlir partial_sums.mlir --fast-math
  loopwright verify polybench/gemm mine.mlir --func gemm
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from ..runtime.program import Function, Program
from ..runtime.verifying.answer import Answer, Relation
from ..runtime.verifying.verify import verify
from ..support.json_records import Document, Record
from ..support.progress import ProgressLine
from . import UsageError
from .common import add_fast_math_argument, add_quiet_argument
from .file_arguments import ReadFile
from .json_output import emit
from .shipped import add_cflags_argument, load_program

NOT_KNOWN = 2


@dataclass(frozen=True)
class Difference(Record):
    """An element that two programs leave with different values."""

    element: Annotated[str, "the element"]
    first: Annotated[str, "its value after the first program"]
    second: Annotated[str, "its value after the second program"]
    sizes: Annotated[Mapping[str, int], "the sizes of the run"]


@dataclass(frozen=True)
class VerifyAnswer(Record):
    """Whether two functions compute the same."""

    function: Annotated[str, "the function of the first program"]
    relation: Annotated[str, "equal, different, or not known"]
    reason: Annotated[str | None, "why it is not known, or that one leaves an array"]
    difference: Annotated[Difference | None, "what shows that they are different"]


@dataclass(frozen=True)
class VerifyDocument(Document):
    """Result of `loopwright verify`."""

    document: ClassVar[str] = "verify"

    answers: Annotated[tuple[VerifyAnswer, ...], "one per pair of functions"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `loopwright verify`."""
    for name, what in (("first", "FILE"), ("second", "OTHER")):
        parser.add_argument(
            name,
            metavar=what,
            type=ReadFile,
            help="a program in affine MLIR or C, or a shipped kernel (polybench/gemm)",
        )
    add_cflags_argument(parser)
    parser.add_argument("-f", "--func", metavar="NAME", help="the function (default: all of FILE)")
    parser.add_argument(
        "--assume",
        metavar="CONDITION",
        default="",
        help="compare for sizes with this property only, such as 'n >= 1 and m >= n'",
    )
    add_fast_math_argument(parser)
    add_quiet_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints an answer for each function."""
    first, second = (
        load_program(name, arguments.cflags) for name in (arguments.first, arguments.second)
    )
    relations: list[Relation] = []
    answers: list[VerifyAnswer] = []
    line = ProgressLine()
    for one, other in _pairs(arguments, first, second):
        with line:
            line.update(f"comparing {one.name}")
            answer = verify(one, other, assume=arguments.assume, fast_math=arguments.fast_math)
        print(f"{one.name}: {answer}")
        relations.append(answer.relation)
        answers.append(_facts(one.name, answer))
    emit(VerifyDocument(tuple(answers)))
    if Relation.DIFFERENT in relations:
        return 1
    return NOT_KNOWN if Relation.NOT_KNOWN in relations else 0


def _facts(function: str, answer: Answer) -> VerifyAnswer:
    witness, run = answer.witness, answer.demonstration
    shown = (
        None
        if witness is None or run is None
        else Difference(run.element, str(run.first), str(run.second), witness.sizes)
    )
    return VerifyAnswer(function, answer.relation.value, answer.reason, shown)


def _pairs(
    arguments: argparse.Namespace, first: Program, second: Program
) -> Iterator[tuple[Function, Function]]:
    if arguments.func is not None:
        yield first[arguments.func], second[arguments.func]
        return
    if not first:
        raise UsageError(f"{arguments.first} has no function with a body")
    if len(first) == len(second) == 1:
        yield next(iter(first.values())), next(iter(second.values()))
        return
    missing = [name for name in first if name not in second]
    if missing:
        raise UsageError(f"{arguments.second} has no function {', '.join(missing)}")
    yield from ((first[name], second[name]) for name in first)
