"""Python functions as kernels: the decorator and the decorated object."""

from __future__ import annotations

import functools
import inspect
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakSet

from ...dialects.errors import SourceError
from ...passes.machine.target import Target
from ...runtime.calling.api_checks import check_choice, check_path
from ...runtime.calling.arguments import ArrayArgument
from ...runtime.calling.errors import (
    ArgumentCountError,
    ArgumentValueError,
    OverlappingArguments,
)
from ...runtime.choosing.schedule_names import AUTO, DEFAULT
from ...runtime.jit.kept_facts import kept_fact
from ...runtime.kernel import Kernel
from ...runtime.program import Function, Program
from ...support.fork_safety import after_fork_in_child
from ...support.garbage_collection import garbage_collected_seldom
from ...support.immutable import Immutable
from ...support.markup import MOST_COLUMNS, MOST_ROWS, block, element, join, notebook
from ...support.output_files import write_output
from .captured import check_same
from .checking import AS_PYTHON, compare
from .layouts import (
    Order,
    as_given,
    call_on_copies,
    fits,
    in_memory,
    orders_of,
    permuted,
    row_major,
    shared_elements,
)
from .local_functions import PlainFunction
from .parameters import ParameterType, fixed_types
from .pickling import named_kernel, pickled_again
from .python_function import PythonFunction
from .signatures import PythonSignature, allocation
from .source import PythonSource
from .strides import Strided, strided
from .translate import Translation, translate

if TYPE_CHECKING:
    from ...passes.schedules.schedule import Schedule
    from ...passes.search.result import Result


class PythonKernel(Immutable):
    """A Python function that is compiled for the shapes of its arguments; see `kernel`.

    `python` is the function itself, `mlir` its translation. A call takes what
    `loopwright.Kernel` takes, also by name, and raises what it raises.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        source: PythonSource,
        names: Mapping[str, Any],
        types: Mapping[str, ParameterType] | None = None,
        copy: bool = False,
        orders: Mapping[str, Order] | None = None,
        layouts: Mapping[str, Strided] | None = None,
    ) -> None:
        functools.update_wrapper(self, function)
        self.python = function
        self._source = source
        self._signature = inspect.signature(function)
        self._count = len(self._signature.parameters)
        self._types = types
        self._names = names
        self._copy = copy
        self._orders = orders
        self._strided = layouts
        self._layouts: dict[tuple[object, ...], PythonKernel] = {}
        self._translation = self._translate()
        self._lock = threading.RLock()
        self._function: Function | None = None
        self._kernel: Kernel | None = None
        self._lies_otherwise = False
        _kernels.add(self)

    def _translate(self) -> Translation | None:
        return translate(
            self.python, self._source, self._names, self._types, self._orders, self._strided
        )

    @property
    def mlir(self) -> str:
        """The function as MLIR text."""
        return self.translation.text

    @property
    def function(self) -> Function:
        """The function as a program has it; positions of errors are those of the Python source."""
        with self._lock:
            if self._function is None:
                found = PythonFunction(self)
                if self.translation.promises:
                    kept_fact(lambda: self._check_promises(found), *self._promise_key)
                self._function = found
            return self._function

    def _check_promises(self, function: Function) -> None:
        from .promise_checks import check_promises  # the compiler

        check_promises(function.scop, self.translation.promises, self._source)

    @property
    def _promise_key(self) -> tuple[str, ...]:
        """The text and the loops that promise something, where they are in their functions."""
        places = [
            (each.depth, each.node.lineno - origin.first_line, origin.lines)
            for each in self.translation.promises
            for origin in (self._source.of_node(each.node),)
        ]
        return "kept promises", self.mlir, repr(places)

    def parsed(self) -> Function:
        """The text, as a program has its function."""
        # The compiler: code that is on disk is called without it.
        from ...dialects.parse import parse_module
        from ..text.relocation import relocate

        module = parse_module(self.mlir, self._source.file)
        nodes = self.translation.nodes
        relocate(module, list(map(self._source.location, nodes)), self._source.texts(nodes))
        return Program(module)[self.translation.name]

    @property
    def translation(self) -> Translation:
        """The function as text, with what it takes and returns."""
        assert self._translation is not None
        return self._translation

    def compile(
        self,
        schedule: Schedule | str | None = DEFAULT,
        *,
        threads: int | None = None,
        fast_math: bool = False,
        target: Target | None = None,
        check_bounds: bool = False,
        verify: bool = False,
    ) -> Kernel:
        """A kernel with a schedule; see `Function.compile`."""
        return self.function.compile(
            schedule,
            threads=threads,
            fast_math=fast_math,
            target=target,
            check_bounds=check_bounds,
            verify=verify,
        )

    def schedule(
        self, text: str = "", target: Target | None = None, *, fast_math: bool = False
    ) -> Schedule:
        """The schedule in a text; see `Function.schedule`."""
        return self.function.schedule(text, target, fast_math=fast_math)

    def explain(self, *args: object, threads: int | None = None, fast_math: bool = False) -> str:
        """Text on the loops as written, and on the schedule that a call with these arguments has.

        Raises what a call raises; runs nothing.
        """
        from .reports import explain  # decorating a function should cost no more than it must

        kernel, values = self._for_arrays_of(args)
        parameters = ", ".join(str(each) for each in self.translation.parameters)
        title = (
            f"{self._source.file}:{self._source.first_line}: {self.python.__name__}({parameters})"
        )
        return explain(title, kernel.function, values, threads=threads, fast_math=fast_math)

    def tune(
        self,
        *args: object,
        budget: float | None = None,
        threads: int | None = None,
        fast_math: bool = False,
        **options: Any,
    ) -> Result:
        """Searches for a faster schedule for arguments like these, which stay as they are.

        With a `budget` in seconds, candidates are run, and later calls use what was found
        (`schedule="auto"`); without one, a cost model chooses. `options` are others of
        `runtime.tuning.tune.TuningOptions`. Raises what `runtime.tuning.tune.tune` raises.
        """
        from ...runtime.tuning.tune import TuningOptions, tune  # as in `explain`

        known = [each.name for each in fields(TuningOptions)]
        for name in options:
            check_choice(self.python.__name__, "an option", name, known)
        kernel, values = self._for_arrays_of(args)
        given = TuningOptions(budget, threads, fast_math, **options)
        result = tune(kernel.function, values, given)
        if budget is not None:
            kernel.use(AUTO, threads=threads, fast_math=fast_math)
        return result

    def use(self, schedule: str, *, threads: int | None, fast_math: bool) -> None:
        """Gives later calls another schedule."""
        with self._lock:
            self._kernel = self.compile(schedule, threads=threads, fast_math=fast_math)

    def save(
        self,
        path: str | Path,
        schedule: Schedule | str | None = DEFAULT,
        *,
        sizes: Mapping[str, int] | None = None,
        threads: int | None = None,
        fast_math: bool = False,
    ) -> None:
        """Writes the function as MLIR text (.mlir), object file (.o) or shared library (.so).

        A C header is written beside the latter two; see `Function.build`.
        """
        check_path(self.python.__name__, "path", path)
        if Path(path).suffix == ".mlir":
            write_output(str(path), self.mlir)
        else:
            self.function.build(path, schedule, sizes=sizes, threads=threads, fast_math=fast_math)

    def _for_arrays_of(self, args: tuple[object, ...]) -> tuple[PythonKernel, tuple[Any, ...]]:
        """The kernel that a call runs, and its arguments, with arrays for the results behind."""
        kernel, passed = self, [in_memory(each) for each in self._positional(args, {})]
        if not all(map(fits, passed)):
            general = self._kernel or self._compiled()
            laid_out = self._as_it_lies(general, tuple(passed))
            if laid_out is not None:
                kernel, passed = laid_out
            elif self._copy:
                passed = [value if fits(value) else row_major(value) for value in passed]
        return kernel, (*passed, *allocation(kernel.translation)(tuple(passed)))

    def check(self, *args: object, **named: object) -> None:
        """Runs the kernel and the Python function on copies of the arguments.

        Raises AssertionError for the first element in which they differ by more than rounding,
        SourceError where a number from the enclosing scope has changed since the decoration.
        """
        self._check_numbers()
        given = self._positional(args, named)
        compare(self._called_positionally, self._python_on, given, self.translation)

    def _python_on(self, *args: object) -> Any:
        """The Python function on arguments in the order of the text."""
        names = dict(zip(self._signature.parameters, args, strict=True))
        bound = inspect.BoundArguments(self._signature, OrderedDict(names))
        return self.python(*bound.args, **bound.kwargs)

    def __call__(self, *args: object, **named: object) -> Any:
        """Runs the kernel, and returns what the function returns."""
        if AS_PYTHON.get():
            return self.python(*args, **named)
        return self._called_positionally(*self._positional(args, named))

    def _called_positionally(self, *args: Any) -> Any:
        """Runs the kernel on arguments in the order of the text."""
        kernel = self._kernel or self._compiled()
        if not self._lies_otherwise or all(map(fits, args)):
            try:
                return kernel(*args)
            except ArgumentValueError:
                passed = tuple(map(in_memory, args))
                if self._orders or self._strided or all(map(fits, passed)):
                    raise
                self._lies_otherwise = True  # as the arrays of later calls may: it is asked first
        return self._called_as_it_lies(kernel, args)

    def _called_as_it_lies(self, kernel: Kernel, args: tuple[Any, ...]) -> Any:
        """Calls code for arrays that lie in memory otherwise, or with leave on copies."""
        laid_out = self._as_it_lies(kernel, tuple(map(in_memory, args)))
        if laid_out is None:
            try:
                return kernel(*args)
            except ArgumentValueError as refusal:
                if self._copy:
                    return call_on_copies(kernel, args, refusal)
                hint = "no code is made for an array that lies in memory so"
                hint += "; loopwright.kernel(copy=True) copies it in each call"
                raise ArgumentValueError(f"{refusal}; {hint}") from None
        variant, passed = laid_out
        try:
            return as_given(variant(*passed), passed, args)
        except OverlappingArguments:
            # The gaps of one may be the elements of the other.
            if not variant.has_gaps or shared_elements(kernel, args):
                raise
            return as_given(variant.call_on_gaps(*passed), passed, args)

    def call_on_gaps(self, *args: Any) -> Any:
        """Runs the kernel on memory with gaps in which other arguments may have elements."""
        return (self._kernel or self._compiled()).call_on_gaps(*args)

    def _as_it_lies(
        self, kernel: Kernel, args: tuple[Any, ...]
    ) -> tuple[PythonKernel, list[Any]] | None:
        """The kernel for arrays that lie in memory so, and what it takes; None: there is none.

        Raises ArgumentTypeError, ArgumentValueError where shapes differ.
        """
        names = tuple(self._signature.parameters)
        for argument, value in zip(kernel.signature.arguments, args, strict=False):
            if isinstance(argument, ArrayArgument) and not fits(value):
                argument.check_shape(tuple(value.shape))
        orders = orders_of(names, args)
        pieces = {} if orders else self._pieces(kernel, args)
        if orders is None and pieces is None:
            return None
        passed = [
            permuted(value, orders[name])
            if orders and name in orders
            else pieces[name][1]
            if pieces and name in pieces
            else value
            for name, value in zip(names, args, strict=True)
        ]
        try:
            return self._laid_out(orders, pieces, args, passed), passed
        except SourceError:
            # Dense arrays have code; a gather needs an array with the extents of its memory.
            return None

    @property
    def has_gaps(self) -> bool:
        """Whether it is for arrays with gaps between their elements."""
        return bool(self._strided)

    def _pieces(
        self, kernel: Kernel, args: tuple[Any, ...]
    ) -> dict[str, tuple[Strided, Any]] | None:
        """How arrays with gaps lie in memory; None where one has none that code could be for.

        Raises ArgumentValueError where extents differ.
        """
        found: dict[str, tuple[Strided, Any]] = {}
        arguments = kernel.signature.arguments
        for argument, value in zip(arguments, args, strict=False):
            if isinstance(argument, ArrayArgument) and not fits(value):
                piece = strided(value, writes=argument.writes)
                if piece is None or (argument.writes and not piece[1].flags.writeable):
                    return None
                found[argument.place.name] = piece
        if isinstance(kernel.signature, PythonSignature):
            kernel.signature.check_extents(
                lambda use: args[use[0]] if use[1] is None else args[use[0]].shape[use[1]]
            )
        return found

    def _laid_out(
        self,
        orders: Mapping[str, Order] | None,
        pieces: Mapping[str, tuple[Strided, Any]] | None,
        args: Sequence[Any],
        passed: Sequence[Any],
    ) -> PythonKernel:
        """The kernel for arrays that lie in memory like these."""
        types, layouts = self._types, None
        if pieces:
            layouts = {name: piece[0] for name, piece in pieces.items()}
            types = fixed_types(self.translation.parameters, passed)
        key = (tuple((orders or {}).items()), tuple((layouts or {}).items()))
        key = (*key, tuple(types.items()) if pieces and types else ())
        with self._lock:
            if key not in self._layouts:
                self._layouts[key] = PythonKernel(
                    self.python, self._source, self._names, types, self._copy, orders, layouts
                )
            return self._layouts[key]

    def _compiled(self) -> Kernel:
        with self._lock, garbage_collected_seldom():
            if self._kernel is None:
                self._kernel = self.compile()
            return self._kernel

    def _positional(
        self, args: tuple[object, ...], named: Mapping[str, object]
    ) -> tuple[object, ...]:
        """The arguments in the order of the text, with defaults for those that are missing."""
        if not named and len(args) == self._count:
            return args
        try:
            bound = self._signature.bind(*args, **named)
        except TypeError as error:
            raise ArgumentCountError(f"{self.python.__name__}: {error}") from None
        bound.apply_defaults()
        return tuple(bound.arguments.values())

    def check_records(self) -> None:
        """Raises SourceError where a constant has changed that is not kept from the decoration."""
        self._check_numbers(records=True)

    def _check_numbers(self, *, records: bool = False) -> None:
        """Compares all constants; with `records`, those of classes, sequences and helpers."""
        name = self.python.__name__
        check_same(self.python, self.translation.numbers, name, records=records)
        for each in self.translation.called:
            is_plain = isinstance(each.kernel, PlainFunction)  # its names have values at calls
            if isinstance(each.kernel, PlainFunction) and each.kernel.has_no_numbers:
                continue
            of_kernel = records and not is_plain
            check_same(each.kernel.python, each.captured.numbers, name, records=of_kernel)

    def forget_lock(self) -> None:
        """In the child of a fork: what other threads held is free."""
        self._lock = threading.RLock()

    def __reduce__(self) -> tuple[object, ...]:
        """A kernel of a module is pickled by name, others with their source and constants."""
        name = self.python.__qualname__
        found: object = sys.modules.get(self.python.__module__)
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is self and self.python.__module__ != "__main__":
            return named_kernel, (self.python.__module__, name)
        used = self._used()
        modules = {n: v.__name__ for n, v in used.items() if isinstance(v, ModuleType)}
        others = {n: v for n, v in used.items() if not isinstance(v, ModuleType)}
        identity = (self.python.__module__, name)
        annotations = self.python.__annotations__
        function = cast(FunctionType, self.python)
        defaults = (function.__defaults__, function.__kwdefaults__)
        options = (self._types, self._copy, self._orders, self._strided)
        recipe = (
            type(self),
            options,
            self._source,
            modules,
            others,
            annotations,
            defaults,
            identity,
        )
        return pickled_again, recipe

    @property
    def source(self) -> PythonSource:
        """The source of the function."""
        return self._source

    @property
    def parameter_types(self) -> Mapping[str, ParameterType]:
        """The types of the arguments that have one."""
        return {each.name: each.type for each in self.translation.parameters}

    @property
    def names(self) -> Mapping[str, Any]:
        """What the names of the enclosing scopes mean."""
        return self._names

    def _used(self) -> Mapping[str, object]:
        """What the function uses of the enclosing scopes."""
        return self.translation.used

    def __repr__(self) -> str:
        parameters = ", ".join(str(each) for each in self.translation.parameters)
        return f"<PythonKernel {self.python.__name__}({parameters})>"

    def _repr_html_(self) -> str:
        """The parameters, and the affine text of the function, for notebooks."""
        parameters = element("p", ", ".join(str(each) for each in self.translation.parameters))
        body = join((parameters, block(self.mlir, MOST_ROWS, MOST_COLUMNS)))
        return notebook(f"Kernel {self.python.__name__}", body)


_kernels: WeakSet[PythonKernel] = WeakSet()


def _release_all() -> None:
    for each in list(_kernels):
        each.forget_lock()


after_fork_in_child(_release_all)
