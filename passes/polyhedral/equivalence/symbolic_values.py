"""Values of symbolic execution: terms over inputs, numbered so that equal terms have one number."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

from xdsl.ir import Attribute

from .reassociation import Reassociation, is_neutral
from .terms import COMMUTATIVE

Key = tuple[object, ...]


# Summands that a term of a sum keeps; longer sums are compared in their order.
_LONGEST = 2_000

# Those that people are shown.
_SHOWN = 4


@dataclass
class SymbolicValues:
    """Numbers terms, of several programs together; what `rules` reassociate, as multisets."""

    rules: Reassociation = field(default_factory=Reassociation)
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

    def combine(
        self, name: str, type_: Attribute, operands: tuple[int, int], *, minus: bool
    ) -> int:
        """The number of a combination of two terms, which may be combinations themselves."""
        key = "combination", name, type_
        parts: list[tuple[int, int]] = []
        for operand, sign in zip(operands, (1, -1 if minus else 1), strict=True):
            found = self.keys[operand]
            if found[:3] == key:
                inner = cast(tuple[tuple[int, int], ...], found[3])
                parts += [(each, own * sign) for each, own in inner]
            elif not is_neutral(found[1] if found[0] == "constant" else None, name):
                parts.append((operand, sign))
        if len(parts) == 1 and parts[0][1] == 1:
            return parts[0][0]
        if len(parts) > _LONGEST:
            parts = [(operands[0], 1), (operands[1], -1 if minus else 1)]
        return self.number(*key, tuple(sorted(parts)))

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
            case ("combination", str() as name, _, parts):
                if not depth:
                    return f"{name}(...)"
                pairs = cast(tuple[tuple[int, int], ...], parts)
                texts = [
                    ("-" if sign < 0 else "") + self.text(each, names, depth - 1)
                    for each, sign in pairs[:_SHOWN]
                ]
                return f"{name}({', '.join([*texts, *(['...'] * (len(pairs) > _SHOWN))])})"
            case _:
                return "undefined"
