"""Answers of `loopwright verify` on functions that it has found."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from ..runtime.program import Function
from ..runtime.verifying.answer import Answer, Relation
from ..runtime.verifying.verify import verify
from ..support.json_records import Document, Record
from ..support.progress import ProgressLine
from .json_output import emit

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


def show_answers(
    arguments: argparse.Namespace, functions: Sequence[tuple[Function, Function]]
) -> int:
    """Prints an answer for each pair of functions."""
    relations: list[Relation] = []
    answers: list[VerifyAnswer] = []
    line = ProgressLine()
    for one, other in functions:
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
