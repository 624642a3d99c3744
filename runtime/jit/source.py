"""What is compiled: a function of a module, and its schedule.

Nothing here needs the compiler until the model or a schedule is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...support.cached_property import cached_property
from ...support.stage_times import stage
from ...support.summaries import summary

if TYPE_CHECKING:
    from xdsl.dialects import func
    from xdsl.dialects.builtin import ModuleOp

    from ...passes.polyhedral.scop import Scop
    from ...passes.schedules.schedule import Schedule


class Subject:
    """A function of a module, with its polyhedral model."""

    def __init__(self, module: ModuleOp, function: func.FuncOp) -> None:
        self._parsed = (module, function)

    @property
    def module(self) -> ModuleOp:
        """The module that it is of."""
        return self._parsed[0]

    @property
    def function(self) -> func.FuncOp:
        """The function in the module."""
        return self._parsed[1]

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.function.sym_name.data

    @property
    def text(self) -> str:
        """What the module is made of."""
        return str(self.module)

    @cached_property
    def scop(self) -> Scop:
        """The polyhedral model; raises SourceError where the function has none."""
        from .reading import model  # the compiler: what is on disk is found without it

        return model(self.function)


@dataclass(frozen=True, eq=False)
class Source:
    """Compilation input: a function, and its schedule (None: as written).

    Instead of a schedule there may be a function that chooses one when the values of the sizes are
    known, by name. If `kept_as` tells the schedule or how it is chosen, what is generated is kept
    on disk. With `verify`, what is generated for a schedule is proved to be the program.
    """

    subject: Subject
    schedule: Schedule | None
    choose: Callable[[Mapping[str, int]], Schedule] | None = None
    verify: bool = False
    kept_as: str | None = None

    @property
    def module(self) -> ModuleOp:
        """The module that the function is of."""
        return self.subject.module

    @property
    def function(self) -> func.FuncOp:
        """The function."""
        return self.subject.function

    @property
    def scop(self) -> Scop:
        """The polyhedral model of the function."""
        return self.subject.scop

    def schedule_for(self, sizes: Mapping[str, int]) -> Schedule | None:
        """The schedule for these sizes; None where the text of the program is compiled.

        A chosen schedule without steps is one: what it leaves in memory is kept in registers.
        """
        if self.choose is None:
            return self.schedule
        with stage("choose schedule"):
            return self.choose(sizes)

    def __repr__(self) -> str:
        return summary(self, f"of {self.subject.name}")
