"""Values of symbolic execution: terms over inputs, numbered so that equal terms have one number."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

from .terms import COMMUTATIVE

Key = tuple[object, ...]


@dataclass
class SymbolicValues:
    """Numbers terms, of several programs together."""

    numbers: dict[Key, int] = field(default_factory=dict[Key, int])
    keys: list[Key] = field(default_factory=list[Key])

    def number(self, *key: object) -> int:
        """The number of a term: ("input", argument, subscripts), ("scalar", argument), ..."""
        found = self.numbers.get(key)
        if found is None:
            found = self.numbers[key] = len(self.keys)
            self.keys.append(key)
        return found

    def apply(self, name: str, kind: object, operands: tuple[int, ...]) -> int:
        """The number of an operation on terms."""
        if name in COMMUTATIVE:
            operands = tuple(sorted(operands))
        return self.number("apply", name, kind, operands)

    def text(self, number: int, names: list[str], depth: int = 3) -> str:
        """A term for people, with the names of the arguments; `...` below some depth."""
        match self.keys[number]:
            case ("input", int() as argument, subscripts):
                return f"{names[argument]}{list(cast(tuple[int, ...], subscripts))}"
            case ("scalar", int() as argument):
                return names[argument]
            case ("index", value) | ("constant", value, _):
                return str(value)
            case ("apply", str() as name, _, operands):
                short = name.partition(".")[2] or name
                if not depth:
                    return f"{short}(...)"
                numbers = cast(tuple[int, ...], operands)
                inner = (self.text(each, names, depth - 1) for each in numbers)
                return f"{short}({', '.join(inner)})"
            case _:
                return "undefined"
