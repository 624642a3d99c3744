"""Training, validation and test set, split by program."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

TRAINING = 0.8
VALIDATION = 0.1
"""Shares of the programs; the rest is for the test."""


class OfProgram(Protocol):
    """Protocol of data about one program at given sizes."""

    @property
    def text(self) -> str:
        """The program's text."""
        ...

    @property
    def key(self) -> str:
        """What identifies text and sizes."""
        ...


Item = TypeVar("Item", bound=OfProgram)


@dataclass(frozen=True)
class Split(Generic[Item]):
    """Programs of the training, the validation and the test set."""

    training: list[Item]
    validation: list[Item]
    test: list[Item]


def position(text: str) -> float:
    """A number in [0, 1) that follows from a program's text alone, not from its sizes.

    So the same program at other sizes is in the same part, and a program stays where it is when
    others are added.
    """
    digest = hashlib.blake2b(text.encode(), digest_size=8, person=b"split").digest()
    return int.from_bytes(digest, "big") / 2**64


def split(programs: Iterable[Item]) -> Split[Item]:
    """Splits by program, never by pair; where there is only one text, by its sizes."""
    items = list(programs)
    if len({each.text for each in items}) == 1:
        return _by_sizes(items)
    result: Split[Item] = Split([], [], [])
    for program in items:
        where = position(program.text)
        if where < TRAINING:
            result.training.append(program)
        elif where < TRAINING + VALIDATION:
            result.validation.append(program)
        else:
            result.test.append(program)
    return result


def _by_sizes(items: list[Item]) -> Split[Item]:
    """A tenth of the sizes for the test, a tenth to choose with, at least one each."""
    order = sorted(items, key=lambda each: position(each.key))
    part = max(1, round(VALIDATION * len(order)))
    return Split(order[2 * part :], order[part : 2 * part], order[:part])
