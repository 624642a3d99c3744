"""Witnesses of a difference: an element that holds two terms when both programs have ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..scop import Scop
from .reassociation import Reassociation
from .symbolic_execution import STEPS, Execution, Subscripts, Write
from .symbolic_values import SymbolicValues


@dataclass(frozen=True)
class Final:
    """What an element holds in the end, as text, and the statement instance that wrote it."""

    value: str
    writer: str


@dataclass(frozen=True)
class Witness:
    """An element of an array (or a result, without subscripts) that differs, and how.

    `sizes` has the sizes by name, those of the first program.
    """

    array: str
    subscripts: Subscripts | None
    first: Final
    second: Final
    sizes: Mapping[str, int]

    @property
    def element(self) -> str:
        """The element, as a person writes it."""
        if self.subscripts is None:
            return self.array
        return f"{self.array}[{', '.join(map(str, self.subscripts))}]"


def find_witness(
    first: Scop,
    second: Scop,
    sizes: Mapping[str, int],
    steps: int = STEPS,
    rules: Reassociation | None = None,
) -> Witness | None:
    """The first element that holds another term; `sizes` gives all of `first.sizes`.

    What the rules reassociate is the same in any order; by default, what is exact.

    None where there is none for these sizes. Raises UnsupportedError.
    """
    values = SymbolicValues(rules or Reassociation())
    by_place = {(size.argument, size.dimension): sizes[size.name] for size in first.sizes}
    one, other = (Execution(scop.func, by_place, values, steps) for scop in (first, second))
    one.run()
    other.run()
    return _Comparison(first, second, sizes, values, one, other).witness()


@dataclass(frozen=True)
class _Comparison:
    first: Scop
    second: Scop
    sizes: Mapping[str, int]
    values: SymbolicValues
    one: Execution
    other: Execution

    def witness(self) -> Witness | None:
        names = {array.argument: array.name for array in self.first.arrays}
        for argument, memory in self.one.arguments.items():
            theirs = self.other.arguments[argument].written
            for subscripts in sorted({*memory.written, *theirs}):
                writes = memory.written.get(subscripts), theirs.get(subscripts)
                initial = self.values.number("input", argument, subscripts)
                values = [initial if write is None else write.value for write in writes]
                if values[0] != values[1]:
                    mine, other = (
                        Final(self._text(value), _writer(scop, write))
                        for scop, value, write in zip(
                            (self.first, self.second), values, writes, strict=True
                        )
                    )
                    return Witness(names[argument], subscripts, mine, other, self.sizes)
        for number, values in enumerate(zip(self.one.results, self.other.results, strict=True)):
            if values[0] != values[1]:
                mine, other = (Final(self._text(value), "the result") for value in values)
                return Witness(f"result {number}", None, mine, other, self.sizes)
        return None

    def _text(self, value: int) -> str:
        arguments = self.first.func.body.block.args
        names = [argument.name_hint or f"arg{argument.index}" for argument in arguments]
        return self.values.text(value, names)


def _writer(scop: Scop, write: Write | None) -> str:
    if write is None:
        return "not written"
    for statement in scop.statements:
        if any(access.op is write.store for access in statement.writes):
            values = zip(statement.loops, write.iteration, strict=True)
            return f"{statement.name}[{', '.join(f'{name}={value}' for name, value in values)}]"
    return "a store"
