"""What a transformation is, and the errors that it raises."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

if TYPE_CHECKING:
    from ..polyhedral.schedule_tree import Loop, Tree
    from ..polyhedral.scop import Scop
    from .schedule import Schedule
    from .violation import Violation


class TransformationError(Exception):
    """A transformation that cannot be applied. `str()` is one line: operation, subject, reason."""


class IllegalTransformation(TransformationError):
    """A transformation that would reorder dependent instances; names the dependence and a pair.

    `advise` finds out what would be legal instead, if anything.
    """

    def __init__(
        self, operation: str, violation: Violation, advise: Callable[[], str | None] = lambda: None
    ) -> None:
        super().__init__(operation)
        self.violation = violation
        self._advise = advise

    @cached_property
    def hint(self) -> str | None:
        """What would be legal instead, as one clause; None where nothing was found."""
        return self._advise()

    def __str__(self) -> str:
        # Written only when somebody reads it: a search asks for thousands of verdicts.
        hint = f"; hint: {self.hint}" if self.hint else ""
        return f"{self.args[0]} is illegal: {self.violation.describe()}{hint}"


class MalformedTransformation(TransformationError):
    """A transformation that makes no sense here: unknown loop, not a chain, bad size ..."""


def option(doc: str, *, default: Any = dataclasses.MISSING, keyword: str | None = None) -> Any:
    """A field of a transformation: what it means, and the word before it in the schedule dialect.

    `keyword` is by default the field's name.
    """
    metadata: Mapping[str, str] = {"doc": doc, **({"keyword": keyword} if keyword else {})}
    return dataclasses.field(default=default, metadata=metadata)


@dataclass(frozen=True)
class Transformation(ABC):
    """One step of a schedule.

    Subclasses are frozen dataclasses whose fields (integers, strings, tuples of these) are the
    options of the pass of the same name, and the operands and attributes of the operation of the
    same name in the schedule dialect: `loops` are the operands, `names` (of new loops) the
    results. Their docstring shows *before -> after*; its first line is the help text.
    """

    name: ClassVar[str]
    symbol: ClassVar[str] = ""
    """Its letters in the compact notation, `{}` for the number of loops; by default its name."""

    takes_run_time_tiles: ClassVar[bool] = False
    """Whether its loops may be tile loops whose sizes are given at run time."""

    works_in_run_time_tiles: ClassVar[bool] = True
    """Whether its loops may be inside of such tile loops."""

    loops: tuple[str, ...] = option("the loops, by name")

    @abstractmethod
    def rewrite(self, schedule: Schedule) -> Tree:
        """The new tree, whether legal or not; raises MalformedTransformation."""

    def rewrite_program(self, schedule: Schedule) -> tuple[Scop, Tree]:
        """The statements and arrays, and the new tree; most steps change only the tree.

        The tree of a new Scop is its original order, or the order so far, without marks. Raises
        MalformedTransformation.
        """
        return schedule.scop, self.rewrite(schedule)

    def resolve(self, schedule: Schedule) -> Self:
        """The same step with defaults filled in and loops in their shortest unambiguous names."""
        found = schedule.find_loops(self.loops)
        return dataclasses.replace(self, loops=tuple(schedule.short_name(loop) for loop in found))

    def new_loops(self, schedule: Schedule) -> tuple[str, ...]:
        """Names of the loops that the step makes: none, or one for each of `loops`."""
        return ()

    @classmethod
    def from_symbol(cls, schedule: Schedule, loops: tuple[Loop, ...]) -> tuple[Loop, ...]:
        """The step's loops, where the compact notation has these behind the symbol.

        Raises MalformedTransformation.
        """
        return loops

    def to_symbol(self, schedule: Schedule) -> tuple[Loop, ...] | None:
        """What `from_symbol` makes the step's loops of; None where only the full name will do."""
        return schedule.find_loops(self.loops)

    @property
    def subject(self) -> str:
        """Operation and loops, for error messages: `tile of i, j`."""
        return f"{self.name} of {', '.join(self.loops)}" if self.loops else self.name

    def __str__(self) -> str:
        """The pass that does the same: `tile{loops=i,j sizes=32,32}`."""
        options = (
            f"{field.name.replace('_', '-')}={_print_value(getattr(self, field.name))}"
            for field in dataclasses.fields(self)
            if getattr(self, field.name) != field.default
        )
        text = " ".join(options)
        return f"{self.name}{{{text}}}" if text else self.name


def _print_value(value: object) -> str:
    match value:
        case tuple():
            return ",".join(_print_value(item) for item in value)  # pyright: ignore
        case bool():
            return str(value).lower()
        case _:
            return str(value)
