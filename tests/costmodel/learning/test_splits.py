"""Splits: by program, stable, in the right proportions."""

from __future__ import annotations

from dataclasses import dataclass

from loopwright.costmodel.learning.splits import split


@dataclass(frozen=True)
class Item:
    text: str
    number: int = 0

    @property
    def key(self) -> str:
        return f"{self.text} {self.number}"


def test_a_program_is_in_one_part_whatever_its_sizes() -> None:
    items = [Item(f"program {number % 100}", number) for number in range(1000)]
    parts = split(items)
    texts = [
        {item.text for item in part} for part in (parts.training, parts.validation, parts.test)
    ]
    assert not texts[0] & texts[1] and not texts[0] & texts[2] and not texts[1] & texts[2]
    assert sum(map(len, (parts.training, parts.validation, parts.test))) == 1000


def test_programs_stay_where_they_are_when_others_come() -> None:
    few = split([Item(str(number)) for number in range(0, 500, 3)])
    many = split([Item(str(number)) for number in range(500)])
    assert set(few.test) <= set(many.test)
    assert set(few.training) <= set(many.training)


def test_the_parts_are_of_the_size_that_they_should_be() -> None:
    parts = split([Item(str(number)) for number in range(5000)])
    assert abs(len(parts.training) - 4000) < 100
    assert abs(len(parts.validation) - 500) < 80
    assert abs(len(parts.test) - 500) < 80


def test_the_only_program_is_split_by_its_sizes() -> None:
    parts = split([Item("program", number) for number in range(10)])
    assert [len(part) for part in (parts.training, parts.validation, parts.test)] == [8, 1, 1]
    assert len({*parts.training, *parts.validation, *parts.test}) == 10
