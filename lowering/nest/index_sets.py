"""Indices and conditions as isl text, over variables `v0`, `v1` ... by number."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

import islpy as isl

from .index_expression import (
    Atom,
    Choice,
    Comparison,
    Condition,
    Connective,
    Extremum,
    Index,
    Quotient,
    Variable,
)


def name_of(number: int) -> str:
    """What the variable of this number is called."""
    return f"v{number}"


class IslText:
    """Prints indices and conditions; `definitions` define the names that stand for choices.

    isl's texts have no conditional expressions.
    """

    def __init__(self) -> None:
        self.names: dict[str, None] = {}
        self.definitions: list[str] = []
        self._choices: dict[Choice, str] = {}
        self._numbers = count()

    def index(self, index: Index) -> str:
        """An index as text."""
        terms = [f"{factor}*{self._atom(atom)}" for atom, factor in index.terms]
        return " + ".join((*terms, str(index.constant)))

    def condition(self, condition: Condition) -> str:
        """A condition as text."""
        match condition:
            case Comparison(kind, left):
                return f"{self.index(left)} {'>=' if kind == '>=' else '='} 0"
            case Connective(kind, ()):
                return "1 = 1" if kind == "all" else "1 = 0"
            case Connective(kind, operands):
                word = " and " if kind == "all" else " or "
                return word.join(f"({self.condition(operand)})" for operand in operands)

    def set_where(self, conditions: Iterable[str]) -> isl.Set:
        """The values of the variables, as parameters, for which all of the conditions hold."""
        conjunction = " and ".join(f"({text})" for text in (*conditions, *self.definitions))
        return isl.Set(f"[{', '.join(self.names)}] -> {{ : {conjunction} }}")

    def _atom(self, atom: Atom) -> str:
        match atom:
            case Variable(number):
                return self._named(name_of(number))
            case Quotient(numerator, divisor):
                return f"floor(({self.index(numerator)})/{divisor})"
            case Extremum(kind, operands):
                return f"{kind}({', '.join(self.index(operand) for operand in operands)})"
            case Choice(condition, then, otherwise):
                if atom not in self._choices:
                    name = self._choices[atom] = self._named(f"choice{next(self._numbers)}")
                    holds = self.condition(condition)
                    self.definitions.append(
                        f"(({holds}) and {name} = {self.index(then)}) or "
                        f"(not ({holds}) and {name} = {self.index(otherwise)})"
                    )
                return self._choices[atom]

    def _named(self, name: str) -> str:
        self.names[name] = None
        return name
