"""A program of a session, with its sizes, and what was found out about it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from ..kernels.catalogue import KernelEntry
from ..passes.estimate.scheduling_context import SchedulingContext
from ..passes.polyhedral.extents import infer_extents
from ..passes.schedules.schedule import Schedule
from ..runtime.calling.arguments import ArrayArgument
from ..runtime.calling.inputs import Settings, make_arguments
from ..runtime.choosing.schedule_names import CHOSEN
from ..runtime.program import Function
from ..runtime.tuning.evaluator import RunningEvaluator
from ..runtime.tuning.trial_messages import Comparison
from .problems import CallError
from .records import Loaded, Size
from .shipped_kernels import comparison, standard_arguments, standard_extents

REMEMBERED = 256
"""Schedules that a program remembers: the next step is then checked alone."""


LARGEST_SIZE = 2**62
"""Of what code counts in 64 bits."""


@dataclass(frozen=True)
class RunLimits:
    """What runs may take: seconds of the program as written, seconds of tuning, bytes of all
    arrays, bytes of a process besides these.
    """

    seconds: float = 60.0
    tuning_seconds: float = 3600.0
    array_bytes: int = 4 << 30
    process_bytes: int = 16 << 30


class LoadedProgram:
    """A function, its sizes and scalars by name, and the number of threads."""

    def __init__(
        self,
        name: str,
        function: Function,
        functions: tuple[str, ...],
        entry: KernelEntry | None,
        values: Mapping[str, float],
        threads: int,
        fast_math: bool,
    ) -> None:
        self.name = name
        self.function = function
        self.functions = functions
        self.threads = threads
        self.fast_math = fast_math
        self._entry = entry
        self._given = values
        self._schedules: OrderedDict[str, Schedule] = OrderedDict()
        self._evaluator: RunningEvaluator | None = None

    @property
    def loaded(self) -> Loaded:
        """What a caller is told of it."""
        return Loaded(
            self.name, self.function.name, self.functions, self.sizes, self.threads, self.fast_math
        )

    @property
    def sizes(self) -> tuple[Size, ...]:
        """All sizes, known or not."""
        return tuple(
            Size(size.name, self.known_sizes.get(size.name)) for size in self.function.scop.sizes
        )

    @cached_property
    def known_sizes(self) -> Mapping[str, int]:
        """The sizes that are given or follow from these; raises CallError."""
        scop = self.function.scop
        names = {size.name for size in scop.sizes}
        given: dict[str, int] = {}
        for name, value in self._given.items():
            if name in names:
                if not 0 <= value <= LARGEST_SIZE or value != int(value):
                    raise CallError(
                        "input", f"the size {name} must be an integer from 0 to {LARGEST_SIZE}"
                    )
                given[name] = int(value)
        if self._entry is not None:
            return standard_extents(self._entry, self.function, given)
        return infer_extents(scop, given)

    @cached_property
    def context(self) -> SchedulingContext:
        """All sizes and the threads; raises CallError where a size is not known."""
        missing = [size.name for size in self.sizes if size.value is None]
        if missing:
            raise CallError(
                "input",
                f"the sizes {', '.join(missing)} of {self.function.name} must be known",
                "load the program again with sizes",
            )
        return SchedulingContext(self.known_sizes, self.threads)

    def schedule(self, text: str) -> Schedule:
        """The schedule in a text; raises SourceError, TransformationError, CallError."""
        if text in CHOSEN:
            sizes = self.context.sizes
            return self.remember(
                self.function.choose_schedule(
                    text, sizes, threads=self.threads, fast_math=self.fast_math
                )
            )
        known = self._schedules.get(text)
        found = self.function.schedule(text, fast_math=self.fast_math) if known is None else known
        return self.remember(found, text)

    def remember(self, schedule: Schedule, text: str | None = None) -> Schedule:
        """The same schedule, which is found by a text, or its own, from now on."""
        name = str(schedule) if text is None else text
        self._schedules[name] = schedule
        self._schedules.move_to_end(name)
        if len(self._schedules) > REMEMBERED:
            self._schedules.popitem(last=False)
        return schedule

    def arguments(self, limits: RunLimits) -> list[object]:
        """The arguments of a call, the standard ones of a shipped kernel; raises InputError."""
        sizes = self.context.sizes
        needed = self._array_bytes(sizes)
        if needed > limits.array_bytes:
            raise CallError(
                "memory",
                f"the arrays need {needed / 2**30:,.1f} GiB; "
                f"{limits.array_bytes / 2**30:,.1f} GiB are allowed",
                "choose smaller sizes",
            )
        if self._entry is not None:
            return standard_arguments(
                self._entry, {name: sizes[name] for name in self._entry.parameters}
            )
        texts = {name: str(sizes.get(name, value)) for name, value in self._given.items()}
        return make_arguments(self.function.scop, self.function.signature, Settings(texts))

    def _array_bytes(self, sizes: Mapping[str, int]) -> int:
        if self._entry is not None:
            return self._entry.array_bytes(sizes)
        arguments = self.function.signature.arguments
        total = 0
        for array in self.function.scop.arrays:
            argument = None if array.argument is None else arguments[array.argument]
            if isinstance(argument, ArrayArgument):
                extents = [sizes[e] if isinstance(e, str) else e for e in array.shape]
                total += argument.bytes(tuple(e for e in extents if isinstance(e, int)))
        return total

    def comparison(self, values: list[object]) -> Comparison | None:
        """Which results are compared; None: all."""
        return None if self._entry is None else comparison(self._entry, self.function, values)

    def evaluator(self, limits: RunLimits) -> RunningEvaluator:
        """What runs schedules of this program, in child processes."""
        if self._evaluator is None:
            values = self.arguments(limits)
            self._evaluator = RunningEvaluator(
                self.function,
                values,
                threads=self.threads,
                fast_math=self.fast_math,
                compilers=1,
                comparison=self.comparison(values),
                longest=limits.seconds,
                memory=limits.process_bytes,
            )
        return self._evaluator

    def close(self) -> None:
        """Ends the child processes."""
        if self._evaluator is not None:
            self._evaluator.close()
            self._evaluator = None
