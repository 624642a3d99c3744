"""Programs: modules of functions to compile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import getitem
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ..lowering.llvm.options import Options
from ..passes.machine.target import Target
from ..support.cached_property import cached_property
from ..support.markup import MOST_COLUMNS, MOST_ROWS, block, notebook, table
from ..support.summaries import shortened, summary
from .calling.api_checks import (
    check_choice,
    check_options,
    check_path,
    check_runs_here,
    check_sizes,
    check_text,
)
from .calling.errors import BuildError, UnknownFunction
from .calling.signature import Signature
from .choosing.choice_version import choice_version
from .choosing.schedule_names import CHOSEN, DEFAULT
from .jit.kept_programs import KeptProgram, find_program, keep_program
from .jit.kept_signature import kept_signature
from .jit.source import Source, Subject
from .jit.threads import default_threads
from .kernel import Kernel
from .program_text import program_text

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.dialects.func import FuncOp

    from ..passes.polyhedral.dependences import Dependences
    from ..passes.schedules.schedule import Schedule
    from .library.build import Library

# The compiler is imported where there is something to compile: code that was made before, for the
# same text and sizes, is found on disk and called without it. What needs the compiler has the
# imports in its functions.


class Function(Subject):
    """A function of a program; `kernel_class` is what it compiles to."""

    kernel_class: type[Kernel] = Kernel

    @cached_property
    def signature(self) -> Signature:
        """What a kernel takes and returns; raises SourceError, UnsupportedSignature."""
        from .calling.derived_signature import signature_of

        return signature_of(self.scop)

    @property
    def dependences(self) -> Dependences:
        """The dependences between statement instances; raises SourceError."""
        from ..passes.schedules.schedule import dependences_of

        return dependences_of(self.scop)

    def checked_sizes(self, values: Sequence[object]) -> Mapping[str, int]:
        """The sizes in the arguments of a call, by name.

        Raises BoundsError where the program would leave an array, and what a call raises.
        """
        from ..passes.polyhedral.bounds import check_bounds
        from ..passes.polyhedral.isl_context import ISL_LOCK

        sizes = self.signature.sizes_of(values).of(self.scop)
        with ISL_LOCK:
            check_bounds(self.scop, sizes)
        return sizes

    def schedule(
        self, text: str = "", target: Target | None = None, *, fast_math: bool = False
    ) -> Schedule:
        """The schedule in a text: a pipeline of passes, compact notation or `schedule.sequence`.

        With `fast_math`, it may reassociate floating-point operations. Raises SourceError,
        TransformationError.
        """
        check_text(self.name, "a schedule", text)
        check_options(self.name, None, target, fast_math=fast_math)
        from .jit.reading import schedule_from

        return schedule_from(self.scop, text, target or Target.host(), reassociate=fast_math)

    def default_schedule(
        self,
        sizes: Mapping[str, int],
        *,
        threads: int | None = None,
        fast_math: bool = False,
        target: Target | None = None,
    ) -> Schedule:
        """What `schedule="default"` means for these sizes; see `choose_schedule`."""
        return self.choose_schedule(
            DEFAULT, sizes, threads=threads, fast_math=fast_math, target=target
        )

    def choose_schedule(
        self,
        how: str,
        sizes: Mapping[str, int],
        *,
        threads: int | None = None,
        fast_math: bool = False,
        target: Target | None = None,
    ) -> Schedule:
        """What `schedule="default"`, `"rules"` or `"auto"` means for sizes and so many threads.

        Sizes, by name, that are not given are the smallest that the program needs. The schedule has
        no transformations where the program is best left as it was written. Raises SourceError,
        LearningError.
        """
        from ..passes.polyhedral.extents import infer_extents

        check_choice(self.name, "how", how, CHOSEN)
        check_options(self.name, threads, target, fast_math=fast_math)
        check_sizes(self.name, sizes, [size.name for size in self.scop.sizes])
        known = infer_extents(self.scop, sizes)
        count = threads or default_threads()
        return self._choose(how, target or Target.host(), count, fast_math, known)

    def explain_default(
        self,
        sizes: Mapping[str, int],
        *,
        threads: int | None = None,
        fast_math: bool = False,
        target: Target | None = None,
    ) -> str:
        """Text on how `schedule="default"` is decided for these sizes.

        The best candidates, the times that the model predicts, and which features make the
        difference. The decision is made anew. Raises SourceError.
        """
        from ..passes.estimate.scheduling_context import SchedulingContext
        from ..passes.polyhedral.extents import infer_extents
        from ..passes.schedules.schedule import Schedule
        from .choosing.explanation import explain_default

        check_options(self.name, threads, target, fast_math=fast_math)
        check_sizes(self.name, sizes, [size.name for size in self.scop.sizes])
        known = infer_extents(self.scop, sizes)
        original = Schedule.original(self.scop, target, reassociate=fast_math)
        return explain_default(original, SchedulingContext(known, threads or default_threads()))

    def _choose(
        self, how: str, target: Target, threads: int, fast_math: bool, sizes: Mapping[str, int]
    ) -> Schedule:
        from .choosing.choices import CHOICES

        return CHOICES[how](self, sizes, target, threads, fast_math=fast_math)

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
        """A kernel that runs this function.

        `schedule` is a Schedule of this function, its text as a pipeline of passes such as
        `"tile{loops=i,j sizes=32,32},parallel{loops=it}"`, in compact notation such as
        `"T2(L0,L1,32,32)P(L0)"` or as a `schedule.sequence`, or None for the loops as written. When
        nothing is said, one is chosen for the sizes of each specialisation; a learned model has a
        say. `"rules"` is the choice without it, `"auto"` what tuning has found, else what a longer
        search with the model or `"default"` finds (`choose_schedule`).
        `threads` run the parallel loops; None leaves the number to the OpenMP runtime.
        With `fast_math`, floating-point operations may be reassociated and approximated. Code is
        generated for `target`, by default this machine. With `check_bounds`, every access of the
        generated code, also to its local arrays, is checked when it runs: a call raises OutOfBounds
        for the first that would leave its array. That is slow, and for tests of the compiler.
        With `verify`, each specialisation proves that the loops it has generated are the program
        (docs/reference/validation.md): a violation raises ValidationError, `Kernel.verdict` is the
        answer.

        Raises SourceError, TransformationError, UnsupportedSignature; ValueError for a number of
        threads below 1 or above 1024, a target of another architecture, or a schedule of another
        function.
        """
        check_options(
            self.name,
            threads,
            target,
            fast_math=fast_math,
            check_bounds=check_bounds,
            verify=verify,
        )
        given, target = target, target or Target.host()
        check_runs_here(self.name, target)
        options = Options(num_threads=threads or 0, fast_math=fast_math, check_bounds=check_bounds)
        source = self.source(
            schedule, threads=threads, fast_math=fast_math, target=target, verify=verify
        )
        if source.kept_as is not None:
            self.keep()
        chosen = source.schedule
        sizes = () if chosen is None else chosen.run_time_sizes
        signature = replace(self.signature, tile_sizes=sizes)
        text = schedule if schedule is None or isinstance(schedule, str) else str(schedule) or None
        again = partial(  # of a kernel that was pickled
            self.compile,
            text,
            threads=threads,
            fast_math=fast_math,
            target=given,
            check_bounds=check_bounds,
            verify=verify,
        )
        return self.kernel_class(source, signature, options, target, (again, ()))

    def keep(self) -> None:
        """Keeps what a later process can do without the compiler for, where it has the text."""

    def build(
        self,
        path: str | Path,
        schedule: Schedule | str | None = DEFAULT,
        *,
        sizes: Mapping[str, int] | None = None,
        threads: int | None = None,
        fast_math: bool = False,
        target: Target | None = None,
        prefix: str = "",
        verify: bool = False,
    ) -> Library:
        """Writes this function as an object file (.o) or shared library (.so) for C programs.

        A C header is written beside it. `sizes` fixes sizes by name; all others are passed when the
        function is called. The default schedule needs to know all of them: otherwise the loops stay
        as written. The name in C begins with `prefix`. All else is as for `compile`.

        Raises SourceError, TransformationError, UnsupportedSignature, BoundsError, BuildError,
        OSError; ValueError as `compile`.
        """
        pairs = [(self, schedule)]
        return _build(pairs, path, sizes, threads, fast_math, target, prefix, verify)

    def source(
        self,
        schedule: Schedule | str | None,
        *,
        threads: int | None = None,
        fast_math: bool = False,
        target: Target | None = None,
        verify: bool = False,
    ) -> Source:
        """What `compile` compiles: this function with a schedule, checked; raises the same.

        Code for the default schedule, and for none, is kept on disk.
        """
        check_options(self.name, threads, target, fast_math=fast_math, verify=verify)
        target = target or Target.host()
        if isinstance(schedule, str) and schedule in CHOSEN:
            count = threads or default_threads()
            choose = partial(self._choose, schedule, target, count, fast_math)
            is_kept = schedule == DEFAULT and not verify
            kept_as = choice_version(self.name, count) if is_kept else None
            return Source(self, None, choose, verify, kept_as)
        if schedule is None:
            return Source(self, None, None, verify, None if verify else f"{self.name} as written")
        if isinstance(schedule, str):
            return Source(self, self.schedule(schedule, target, fast_math=fast_math), verify=verify)
        from ..passes.schedules.schedule import Schedule

        if not isinstance(cast(object, schedule), Schedule):
            raise TypeError(f"{self.name}: a schedule is a Schedule or a text, not {schedule!r}")
        if schedule.program is not self.scop:
            raise ValueError(
                f"{self.name}: the schedule belongs to another function "
                f"('{schedule.program.name}'); make one with function.schedule(...)"
            )
        return Source(self, schedule, verify=verify)

    def __reduce__(self) -> tuple[object, ...]:
        """A function is pickled with its program."""
        return getitem, (Program(self.module), self.name)

    def __repr__(self) -> str:
        return summary(self, self.name)

    def _repr_html_(self) -> str:
        """The text, for notebooks."""
        return notebook(f"Function {self.name}", block(str(self), MOST_ROWS, MOST_COLUMNS))

    def __str__(self) -> str:
        """The function as MLIR text."""
        return str(self.function)


def _build(
    functions: Sequence[tuple[Function, Schedule | str | None]],
    path: str | Path,
    sizes: Mapping[str, int] | None,
    threads: int | None,
    fast_math: bool,
    target: Target | None,
    prefix: str,
    verify: bool,
) -> Library:
    if not functions:
        raise BuildError(f"there is no function to build '{path}' of")
    subject = functions[0][0].name
    check_path(subject, "path", path)
    check_sizes(subject, sizes)
    check_text(subject, "prefix", prefix)
    check_options(subject, threads, target, fast_math=fast_math, verify=verify)
    from .library.build import build

    target = target or Target.host()
    options = Options(num_threads=threads or 0, fast_math=fast_math)
    sources = [
        function.source(
            schedule, threads=threads, fast_math=fast_math, target=target, verify=verify
        )
        for function, schedule in functions
    ]
    return build(sources, path, sizes or {}, options, target, prefix)


class Program(Mapping[str, Function]):
    """The functions of a module, by name."""

    def __init__(self, module: ModuleOp) -> None:
        from ..passes.polyhedral.raising.importing.import_function import import_module
        from .jit.reading import functions_of

        self._parsed = import_module(module)
        self._functions = {name: Function(*found) for name, found in functions_of(self._parsed)}

    @property
    def module(self) -> ModuleOp:
        """The functions as operations."""
        return self._parsed

    def __getitem__(self, name: str) -> Function:
        """The function called `name`; raises UnknownFunction (a KeyError)."""
        try:
            return self._functions[name]
        except KeyError:
            raise UnknownFunction(name, list(self._functions)) from None

    def build(
        self,
        path: str | Path,
        schedules: Mapping[str, Schedule | str | None] | None = None,
        *,
        sizes: Mapping[str, int] | None = None,
        threads: int | None = None,
        fast_math: bool = False,
        target: Target | None = None,
        prefix: str = "",
        verify: bool = False,
    ) -> Library:
        """Writes several functions as one object file (.o) or shared library (.so), with a header.

        `schedules` names the functions and gives the schedule of each; without it, these are all
        functions, each with its default schedule. All else is as for `Function.build`, which says
        what is raised; besides, UnknownFunction.
        """
        chosen = dict.fromkeys(self, DEFAULT) if schedules is None else schedules
        pairs = [(self[name], schedule) for name, schedule in chosen.items()]
        return _build(pairs, path, sizes, threads, fast_math, target, prefix, verify)

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)

    def __reduce__(self) -> tuple[object, ...]:
        """A program is pickled as text."""
        return load, (f"{self}\n",)

    def __repr__(self) -> str:
        return summary(self, f"of {', '.join(self) or 'no functions'}")

    def _repr_html_(self) -> str:
        """The functions with what they take, for notebooks."""
        shown = list(self._functions.values())[:MOST_ROWS]
        rows = [["function", "arguments"]]
        rows += [
            [f.name, shortened(str(f.function.function_type.inputs), MOST_COLUMNS)] for f in shown
        ]
        return notebook("Program", table(rows), len(self))

    def __str__(self) -> str:
        """The program as MLIR text."""
        return str(self.module)


class StoredFunction(Function):
    """A function of a program with a text; it is parsed when it must be."""

    def __init__(self, program: StoredProgram, name: str) -> None:
        self._program = program
        self._name = name

    @property
    def name(self) -> str:
        """The name of the function."""
        return self._name

    @property
    def text(self) -> str:
        """What the module is made of."""
        return self._program.printed

    @cached_property
    def _parsed(self) -> tuple[ModuleOp, FuncOp]:
        from .jit.reading import functions_of

        return dict(functions_of(self._program.module))[self._name]

    @cached_property
    def signature(self) -> Signature:
        """What a kernel takes and returns; raises SourceError, UnsupportedSignature."""
        if self._program.is_parsed:
            return super().signature
        return kept_signature(self.name, self.text, lambda: super(StoredFunction, self).signature)

    def keep(self) -> None:
        """Keeps what a later process can do without the compiler for."""
        self._program.keep()
        kept_signature(self.name, self.text, lambda: self.signature)


class StoredProgram(Program):
    """A program with a text, whose functions may be known from disk: it is parsed when it must be.

    `file` is what messages call the text. Raises SourceError.
    """

    def __init__(self, text: str, file: str) -> None:
        self._source = text, file
        self._known = find_program(text)
        self.is_parsed = False
        names = self._first_read.names if self._known is None else self._known.names
        self._functions = {name: StoredFunction(self, name) for name in names}

    @cached_property
    def _parsed(self) -> ModuleOp:
        from .jit.reading import read_module

        self.is_parsed = True  # and can be changed from now on
        return read_module(*self._source)

    @cached_property
    def _first_read(self) -> KeptProgram:
        """The program of the text, before anybody has the module."""
        from .jit.reading import functions_of

        names = tuple(name for name, _ in functions_of(self.module))
        return KeptProgram(names, str(self.module))

    @property
    def printed(self) -> str:
        """The program as MLIR text."""
        return str(self) if self._known is None or self.is_parsed else self._known.printed

    def keep(self) -> None:
        """Keeps which functions the text has; not of a program that was read before it."""
        if self._known is None:
            self._known = self._first_read
            keep_program(self._source[0], self._known)


def load(source: str | Path) -> Program:
    """Reads a program from a file, or from its text (any string with a line break or a brace).

    Where there is no such file, `polybench/gemm` and `kernels/polybench/gemm.mlir` are the shipped
    kernel. Raises SourceError.
    """
    check_path("load", "source", source)
    return StoredProgram(*program_text(source))
