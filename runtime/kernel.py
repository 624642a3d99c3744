"""Kernels: compiled functions as Python callables."""

from __future__ import annotations

import threading
from collections.abc import Callable
from ctypes import c_int64
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakSet

from ..lowering.llvm.options import Options
from ..passes.machine.target import Target
from ..support.fork_safety import after_fork_in_child
from ..support.immutable import Immutable
from ..support.markup import MOST_COLUMNS, notebook, table
from ..support.summaries import shortened, summary
from .calling.api_checks import check_flags, check_seconds
from .calling.arguments import ArrayArgument, Key, overlap_of
from .calling.bounds_violation import Violation
from .calling.errors import (
    ArgumentCountError,
    NotSpecialised,
    OutOfBounds,
    OutOfMemory,
)
from .calling.signature import CValue, ForeignFunction, Signature, Sizes, Value
from .jit.compile import Code, compile_source
from .jit.source import Source
from .measuring.time_call import time_call
from .measuring.timing import Timing

if TYPE_CHECKING:
    from ..lowering.validation.verdict import Verdict
    from ..passes.schedules.schedule import Schedule

SPECIALISATIONS = 256
"""How many specialisations a kernel keeps; the oldest are dropped."""


@dataclass(frozen=True, eq=False)
class Specialisation:
    """Code of a kernel for given shapes and integers.

    `failures` counts failed allocations (None when the code allocates nothing), `violation` has the
    first access outside of an array (None when they are not checked). `conflicts` has the pairs of
    array arguments that must not overlap, as positions and bytes.
    """

    sizes: Sizes
    code: Code
    function: ForeignFunction
    failures: c_int64 | None
    violation: Violation | None
    conflicts: tuple[tuple[int, int, int, int], ...]

    @property
    def loop_ir(self) -> str:
        """The loops after the schedule, as MLIR text."""
        return self.code.loop_ir

    @property
    def llvm_ir(self) -> str:
        """The LLVM IR before LLVM's own optimisations."""
        return self.code.llvm_ir

    @property
    def assembly(self) -> str:
        """The machine code as assembly text."""
        return self.code.assembly

    def raise_violation(self, kernel: str) -> None:
        """Raises OutOfBounds where a call of the kernel was about to leave an array."""
        violation = None if self.violation is None else self.violation.take()
        if violation is not None:
            raise OutOfBounds(f"{kernel}: {violation}")

    def __repr__(self) -> str:
        return summary(self, f"of {self.code!r} for {self.sizes!r}")


Recipe = tuple[Callable[..., "Kernel"], tuple[object, ...]]
"""What makes a kernel again where it is unpickled, and its arguments."""

_kernels: WeakSet[Kernel] = WeakSet()


def _release_all() -> None:
    """Compiles that other threads have begun do not go on in the child of a fork."""
    for kernel in list(_kernels):
        kernel.forget_compiles()


after_fork_in_child(_release_all)


class Kernel(Immutable):
    """A compiled function; called with one Python value for each argument of the function.

    Tile sizes that the schedule leaves open are passed by name: `kernel(A, B, Ti=32, Tj=64)`.

    Memrefs take NumPy arrays, CPU tensors of torch, or what exports its memory by
    `__array_interface__`, DLPack or the buffer protocol: of the right element type (unsigned
    integers pass as signless ones), rank and shape, contiguous in row-major order, and writable
    when the kernel writes to them. Nothing is ever copied. `index` and integers take ints, `f32`
    and `f64` take floats and ints, NumPy scalars included. The results of the function are
    returned, several as a tuple.

    The first call with given shapes and sizes compiles code for exactly these; later calls find it
    again. Calls release the GIL and may run in several threads at once.

    A call raises ArgumentCountError, ArgumentTypeError, ArgumentValueError; OverlappingArguments
    when two arrays share memory and one of them is written; BoundsError when the program would
    leave an array, OutOfBounds when its bounds-checked code was about to; OutOfMemory when the
    kernel's own arrays do not fit; TooManyThreads when the system does not give as many as asked
    for.
    """

    def __init__(
        self,
        source: Source,
        signature: Signature,
        options: Options,
        target: Target,
        recipe: Recipe | None = None,
    ) -> None:
        self.signature = signature
        self.options = options
        self.target = target
        self._source = source
        self._recipe = recipe
        self._count = len(signature.arguments)
        self._has_complex = bool(signature.complex_arguments)
        self._call = signature.call
        self._has_tile_sizes = bool(signature.tile_sizes)
        self._binders = tuple(argument.bind for argument in signature.arguments)
        self._specialisations: dict[tuple[object, ...], Specialisation] = {}
        self._last: Specialisation | None = None
        self._lock = threading.Lock()
        _kernels.add(self)

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.signature.kernel

    @property
    def schedule(self) -> Schedule | None:
        """The schedule; None where none was asked for.

        One that is chosen for the sizes is that of the last specialisation; raises NotSpecialised.
        """
        if self._source.choose is None:
            return self._source.schedule
        return self.specialisation.code.schedule

    @property
    def schedule_text(self) -> str | None:
        """The text of the schedule, without making it again; raises NotSpecialised."""
        if self._source.choose is None:
            return None if self._source.schedule is None else str(self._source.schedule)
        return self.specialisation.code.schedule_text

    def forget_compiles(self) -> None:
        """In the child of a fork: compiles that other threads had begun do not go on."""
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[object, ...]:
        """A kernel is pickled as program, text of the schedule and options, to be compiled again.

        Where the schedule is chosen for the sizes, it is chosen again.
        """
        return super().__reduce__() if self._recipe is None else self._recipe

    def __repr__(self) -> str:
        return summary(self, str(self.signature))

    def _repr_html_(self) -> str:
        """The signature, and the last specialisation with its schedule, for notebooks."""
        last = self._last
        facts = {"signature": str(self.signature)}
        if last is not None:
            sizes = last.sizes.of(self._source.scop)
            facts["sizes"] = ", ".join(f"{name} = {size}" for name, size in sizes.items())
            facts["threads"] = str(last.code.threads)
            facts["schedule"] = str(last.code.schedule or "as written")
        rows = [[name, shortened(text, 4 * MOST_COLUMNS)] for name, text in facts.items()]
        return notebook(f"Kernel {self.name}", table([["", ""], *rows]))

    def __call__(self, *args: object, **tile_sizes: int) -> Value | tuple[Value, ...] | None:
        """Runs the kernel."""
        specialisation, values = self._bind(args)
        if tile_sizes or self._has_tile_sizes:
            values += self.signature.bind_tile_sizes(tile_sizes)
        failures = specialisation.failures
        if failures is None and specialisation.violation is None:
            return self._call(specialisation.function, values)
        before = 0 if failures is None else failures.value
        result = self._call(specialisation.function, values)
        self._check(specialisation, before)
        return result

    def call_on_gaps(self, *args: object) -> Value | tuple[Value, ...] | None:
        """Runs the kernel on arrays of which one may have its elements in the gaps of another."""
        specialisation, values = self._bind(args, may_meet=True)
        before = 0 if specialisation.failures is None else specialisation.failures.value
        result = self._call(specialisation.function, values)
        self._check(specialisation, before)
        return result

    def specialise(self, *args: object) -> Specialisation:
        """The code for these arguments, compiled if need be, without a call; raises as a call."""
        return self._bind(args)[0]

    @property
    def specialisation(self) -> Specialisation:
        """The code that was specialised last; a kernel without sizes needs no call before.

        Raises NotSpecialised.
        """
        if self._last is None:
            key = self.signature.static_key
            if key is None:
                raise NotSpecialised(
                    f"{self.name}: the code depends on the sizes, which are not known yet; "
                    "call the kernel first, or use specialise(*args)"
                )
            return self._specialise(key)
        return self._last

    @property
    def verdict(self) -> Verdict | None:
        """What the validation of the last specialisation has said; None without `verify`.

        Raises NotSpecialised.
        """
        return self.specialisation.code.verdict

    @property
    def loop_ir(self) -> str:
        """The loops of the last specialisation, as MLIR text; raises NotSpecialised."""
        return self.specialisation.loop_ir

    @property
    def llvm_ir(self) -> str:
        """The LLVM IR of the last specialisation, not optimised; raises NotSpecialised."""
        return self.specialisation.llvm_ir

    @property
    def assembly(self) -> str:
        """The assembly text of the last specialisation; raises NotSpecialised."""
        return self.specialisation.assembly

    def time(
        self,
        *args: object,
        budget: float = 2.0,
        cold: bool = False,
        restore: bool = False,
        **tile_sizes: int,
    ) -> Timing:
        """Measures calls with these arguments, until the median is steady or `budget` seconds end.

        The arrays hold the results of many calls afterwards; with `restore`, each call starts from
        the contents that they have now, and they have them again in the end. With `cold`, the
        caches are emptied before each call. The time of checking the arguments is not included,
        that of entering compiled code from Python (about half a microsecond) is. Raises as a call.
        """
        check_seconds(self.name, "budget", budget)
        check_flags(self.name, cold=cold, restore=restore)
        specialisation, values = self._bind(args)
        values += self.signature.bind_tile_sizes(tile_sizes)
        written = [
            (int(values[position]), argument.bytes(specialisation.sizes.shapes[position]))
            for position, argument in enumerate(self.signature.arguments)
            if isinstance(argument, ArrayArgument) and argument.writes
        ]
        failures = specialisation.failures
        before = 0 if failures is None else failures.value
        timing = time_call(
            lambda: self._call(specialisation.function, values),
            threads=specialisation.code.threads,
            budget=budget,
            restored=written if restore else (),
            flushed=self.target.caches if cold else None,
        )
        self._check(specialisation, before)
        return timing

    def _check(self, specialisation: Specialisation, failures: int) -> None:
        """Raises what went wrong in a call before which so many allocations had failed."""
        specialisation.raise_violation(self.name)
        if specialisation.failures is not None and specialisation.failures.value != failures:
            raise OutOfMemory(
                f"{self.name}: not enough memory for the arrays that the kernel allocates itself"
            )

    def _bind(
        self, args: tuple[object, ...], may_meet: bool = False
    ) -> tuple[Specialisation, list[CValue]]:
        if self._has_complex:
            args = self.signature.split(args)
        if len(args) != self._count:
            count = self._count - len(self.signature.complex_arguments)
            raise ArgumentCountError(
                f"{self.name}: expected {count} arguments, got {len(args)}: {self.signature}"
            )
        key: Key = []
        values = [bind(value, key) for bind, value in zip(self._binders, args, strict=True)]
        specialisation = self._specialisations.get(tuple(key))
        if specialisation is None:
            specialisation = self._specialise(tuple(key))
        for first, size, second, other_size in specialisation.conflicts:
            start, other_start = values[first], values[second]
            if start < other_start + other_size and other_start < start + size and not may_meet:
                self._refuse_overlap(first, second)
        self._last = specialisation
        return specialisation, values

    def _specialise(self, key: tuple[tuple[int, ...] | int, ...]) -> Specialisation:
        with self._lock:
            found = self._specialisations.get(key)
            if found is not None:
                return found
            sizes = self.signature.sizes(key)
            code = compile_source(self._source, sizes, self.options, self.target)
            specialisation = Specialisation(
                sizes,
                code,
                self.signature.foreign_function(code.address),
                None if code.failures is None else c_int64.from_address(code.failures),
                None if code.violation is None else Violation.from_address(code.violation),
                self.signature.conflicts(sizes),
            )
            while len(self._specialisations) >= SPECIALISATIONS:
                self._specialisations.pop(next(iter(self._specialisations)))
            self._specialisations[key] = specialisation
            return specialisation

    def _refuse_overlap(self, first: int, second: int) -> None:
        one, other = self.signature.arguments[first], self.signature.arguments[second]
        assert isinstance(one, ArrayArgument) and isinstance(other, ArrayArgument)
        raise overlap_of(one, other)
