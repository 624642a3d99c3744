"""Programs: modules of functions to compile."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import getitem
from pathlib import Path
from typing import Any, cast

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from ..lowering.llvm import Options
from ..passes.default.default_schedule import default_schedule
from ..passes.estimate.scheduling_context import SchedulingContext
from ..passes.machine.target import Target
from ..passes.polyhedral.bounds import check_bounds
from ..passes.polyhedral.dependences import Dependences
from ..passes.polyhedral.extents import infer_extents
from ..passes.polyhedral.isl_context import ISL_LOCK
from ..passes.polyhedral.raising.importing.import_function import import_module
from ..passes.schedules.schedule import Schedule, dependences_of
from ..support.cached_property import cached_property
from ..support.markup import MOST_COLUMNS, MOST_ROWS, block, notebook, table
from ..support.summaries import shortened, summary
from .calling.api_checks import (
    check_choice,
    check_flags,
    check_path,
    check_runs_here,
    check_sizes,
    check_target,
    check_text,
    check_threads,
)
from .calling.errors import BuildError, UnknownFunction
from .calling.signature import Signature
from .choosing.auto import auto_schedule
from .choosing.database import Question
from .choosing.default import choice_version, default_choice
from .choosing.explanation import explain_default
from .jit.compile import Source, Subject, read, schedule_from
from .jit.threads import default_threads
from .kernel import Kernel
from .library.build import Library, build

DEFAULT = "default"
"""The schedule that is chosen for the sizes: by the estimate, and a model where it is sure."""

RULES = "rules"
"""The same by the analytical estimate alone."""

AUTO = "auto"
"""The schedule that tuning has found for the sizes, else one that needs no run."""

CHOSEN = (DEFAULT, RULES, AUTO)
"""Schedules that depend on the sizes."""


class Function(Subject):
    """A function of a program; `kernel_class` is what it compiles to."""

    kernel_class: type[Kernel] = Kernel

    @cached_property
    def signature(self) -> Signature:
        """What a kernel takes and returns; raises SourceError, UnsupportedSignature."""
        return Signature.of(self.scop)

    @property
    def dependences(self) -> Dependences:
        """The dependences between statement instances; raises SourceError."""
        return dependences_of(self.scop)

    def checked_sizes(self, values: Sequence[object]) -> Mapping[str, int]:
        """The sizes in the arguments of a call, by name.

        Raises BoundsError where the program would leave an array, and what a call raises.
        """
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
        check_target(self.name, target)
        check_flags(self.name, fast_math=fast_math)
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
        check_choice(self.name, "how", how, CHOSEN)
        _check(self.name, threads, target, fast_math=fast_math)
        check_sizes(self.name, sizes, [size.name for size in self.scop.sizes])
        known = infer_extents(self.scop, sizes)
        return self._chooser(how, threads, fast_math, target or Target.host())(known)

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
        _check(self.name, threads, target, fast_math=fast_math)
        check_sizes(self.name, sizes, [size.name for size in self.scop.sizes])
        known = infer_extents(self.scop, sizes)
        original = Schedule.original(self.scop, target, reassociate=fast_math)
        return explain_default(original, SchedulingContext(known, threads or default_threads()))

    def _chooser(
        self, how: str, threads: int | None, fast_math: bool, target: Target
    ) -> Callable[[Mapping[str, int]], Schedule]:
        """What chooses a schedule once all sizes are known."""
        count = threads or default_threads()
        if how == RULES:
            return partial(
                default_schedule, self.scop, target=target, threads=count, reassociate=fast_math
            )

        def choose(sizes: Mapping[str, int]) -> Schedule:
            original = Schedule.original(self.scop, target, reassociate=fast_math)
            usual = partial(default_choice, original, str(self.module), sizes, count)
            if how == DEFAULT:
                return usual()
            question = Question.of(self.function, sizes, target, threads=count, fast_math=fast_math)
            return auto_schedule(original, question, usual)

        return choose

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
        _check(
            self.name,
            threads,
            target,
            fast_math=fast_math,
            check_bounds=check_bounds,
            verify=verify,
        )
        given, target = target, target or Target.host()
        check_runs_here(self.name, target)
        options = replace(_options(threads, fast_math), check_bounds=check_bounds)
        source = self.source(
            schedule, threads=threads, fast_math=fast_math, target=target, verify=verify
        )
        chosen = source.schedule
        sizes = chosen.run_time_sizes if isinstance(chosen, Schedule) else ()
        signature = replace(self.signature, tile_sizes=sizes)
        text = str(schedule) or None if isinstance(schedule, Schedule) else schedule
        again = {
            "threads": threads,
            "fast_math": fast_math,
            "target": given,
            "check_bounds": check_bounds,
            "verify": verify,
        }
        recipe = _compile_again, (self, text, again)
        return self.kernel_class(source, signature, options, target, recipe)

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

        Code for the default schedule is kept on disk.
        """
        _check(self.name, threads, target, fast_math=fast_math, verify=verify)
        target = target or Target.host()
        if isinstance(schedule, str) and schedule in CHOSEN:
            choose = self._chooser(schedule, threads, fast_math, target)
            is_kept = schedule == DEFAULT and not verify
            kept_as = choice_version(self.name, threads or default_threads()) if is_kept else None
            return Source(self, choose, verify, kept_as)
        if isinstance(schedule, str):
            schedule = self.schedule(schedule, target, fast_math=fast_math)
        elif schedule is not None and not isinstance(cast(object, schedule), Schedule):
            raise TypeError(f"{self.name}: a schedule is a Schedule or a text, not {schedule!r}")
        elif schedule is not None and schedule.program is not self.scop:
            raise ValueError(
                f"{self.name}: the schedule belongs to another function "
                f"('{schedule.program.name}'); make one with function.schedule(...)"
            )
        return Source(self, schedule, verify)

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


def _compile_again(function: Function, schedule: str | None, options: Mapping[str, Any]) -> Kernel:
    """A kernel that was pickled."""
    return function.compile(schedule, **options)


def _check(name: str, threads: int | None, target: Target | None, **flags: bool) -> None:
    """Raises TypeError, ValueError for arguments of another type, or out of range."""
    check_threads(name, threads)
    check_target(name, target)
    check_flags(name, **flags)


def _options(threads: int | None, fast_math: bool) -> Options:
    return Options(num_threads=threads or 0, fast_math=fast_math)


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
    _check(subject, threads, target, fast_math=fast_math, verify=verify)
    target = target or Target.host()
    options = _options(threads, fast_math)
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
        self.module = module = import_module(module)
        self._functions = {
            op.sym_name.data: Function(module, op)
            for op in module.ops
            if isinstance(op, func.FuncOp) and not op.is_declaration
        }

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


def load(source: str | Path) -> Program:
    """Reads a program from a file, or from its text (any string with a line break or a brace).

    Where there is no such file, `polybench/gemm` and `kernels/polybench/gemm.mlir` are the shipped
    kernel. Raises SourceError.
    """
    check_path("load", "source", source)
    return Program(read(_shipped(source) or source))


def _exists(name: str) -> bool:
    try:
        return Path(name).exists()
    except OSError:  # too long, or in a folder that may not be searched
        return False


def _shipped(source: str | Path) -> Path | None:
    """The file of a shipped kernel, if that is meant."""
    text = str(source)
    if "\n" in text or "{" in text or _exists(text):
        return None
    from ..kernels.catalogue import catalogue

    entry = catalogue().get(text.removeprefix("kernels/").removesuffix(".mlir"))
    return None if entry is None else entry.file
