"""The Session: load programs, ask what is legal and what is fast, run, tune, save.

Every method is a call of `loopwright serve` as well, with the same name, arguments and results:
`calls.py` reads them from here.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from types import NoneType
from typing import Annotated, Self

from ..costmodel.find import find_model
from ..costmodel.model_names import DEFAULT_MODEL
from ..errors import EvaluationError, TransformationError
from ..kernels.catalogue import catalogue
from ..passes.schedules.schedule import Schedule
from ..passes.search.result import Progress
from ..passes.syntax.pipeline import parse_pipeline
from ..runtime.calling.ranges import MOST_THREADS
from ..runtime.jit.generated_code import verified_loops
from ..runtime.jit.threads import default_threads
from ..runtime.program import Function, Program
from ..runtime.tuning.tune import TuningOptions, tune
from ..support.summaries import summary
from ..support.typed_values import check_kind
from .checked_arguments import checked
from .describing import describe_dependences, describe_program, describe_schedule, tuning_result
from .explaining import explain
from .files import AnyFiles
from .judging import judge
from .loaded_program import LoadedProgram, RunLimits
from .problems import CallError
from .records import (
    FORMS,
    Applied,
    DependenceList,
    Description,
    Explanation,
    LegalityAnswer,
    Loaded,
    LoopText,
    Measurement,
    PredictedSpeedup,
    Predictions,
    Saved,
    TuningResult,
    Verification,
)
from .shipped_kernels import standard_size
from .texts import Form, text_of
from .turns import measure_in_turns

ProgramName = Annotated[str, "the program, as `load` has named it"]
ScheduleText = Annotated[
    str,
    "the schedule: steps as a pipeline, 'tile{loops=i,j sizes=32,32},parallel{loops=it}'; "
    "empty: as written; 'default': the default one; 'rules': by the estimate alone; "
    "'auto': as tuned",
]
StepText = Annotated[str, "the next step (or several): 'interchange{loops=j,k}'"]

TUNING_SECONDS = 10.0
"""Of `tune`, when nothing is said."""

LONGEST_NAME = 200
"""Characters of the name that a call gives a program."""

MOST_PROGRAMS = 32
"""Programs of a session; the oldest is forgotten."""


class Session:
    """Programs, and questions about them. Results are records: frozen, with `to_json()`.

    Schedules are texts, so that a search keeps what it likes; programs that were asked about a
    schedule remember it, and check only what is added. Kernels run in child processes, which
    `close`, or leaving the context, ends.
    """

    def __init__(self, limits: RunLimits | None = None, files: AnyFiles | None = None) -> None:
        check_kind("Session: limits", limits, (RunLimits, NoneType), "RunLimits or None")
        check_kind("Session: files", files, (AnyFiles, NoneType), "AnyFiles or None")
        self.limits = limits or RunLimits()
        self._files = files or AnyFiles()
        self._programs: dict[str, LoadedProgram] = {}
        self.reserved: frozenset[str] = frozenset()
        """Names that programs do not get, as another process knows programs by them."""

    def __repr__(self) -> str:
        return summary(self, f"of {', '.join(self._programs) or 'no programs'}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends all child processes."""
        for program in self._programs.values():
            program.close()

    @checked
    def load(
        self,
        source: Annotated[
            str, "MLIR text, a file (.mlir; in Python .c, too), or a shipped kernel: polybench/gemm"
        ],
        sizes: Annotated[
            Mapping[str, float] | None,
            "values by name: sizes (n: 1000), extents (A_dim0: 64), scalars (alpha: 1.5)",
        ] = None,
        size: Annotated[str | None, "the size of a shipped kernel: MINI, SMALL ..."] = None,
        function: Annotated[str | None, "the function, where there are several"] = None,
        threads: Annotated[int | None, "threads of parallel loops; null: all CPUs"] = None,
        fast_math: Annotated[bool, "whether floating-point sums may be reassociated"] = False,
        name: Annotated[str | None, "what to call the program; null: its function's name"] = None,
    ) -> Loaded:
        """Reads a program; everything else is asked about programs that are loaded."""
        if name is not None and not (name.isprintable() and 0 < len(name) <= LONGEST_NAME):
            most = f"of at most {LONGEST_NAME} characters"
            raise CallError("input", f"the name of a program is one line {most}")
        entry = catalogue().get(source)
        found = self._files.read(source if entry is None else entry.text)
        chosen = _function(found, function)
        if threads is not None and not 1 <= threads <= MOST_THREADS:
            raise CallError("input", f"threads must be between 1 and {MOST_THREADS}")
        if entry is None and size is not None:
            raise CallError("input", "only shipped kernels have a size class", "give sizes")
        known = {size.name for size in chosen.scop.sizes}
        given: dict[str, float] = dict(sizes or {})
        scalars = {argument.place.name for argument in chosen.signature.arguments}
        for each in given:
            if each not in known | scalars:
                listing = ", ".join(sorted(known)) or "none"
                raise CallError("input", f"there is no size '{each}'; there are {listing}")
        if entry is not None:
            given = {**standard_size(entry, size), **given}
        program = LoadedProgram(
            self._free_name(name or chosen.name),
            chosen,
            tuple(found),
            entry,
            given,
            threads or default_threads(),
            fast_math,
        )
        result = program.loaded  # finds what cannot be a program
        self._keep(program)
        return result

    @checked
    def describe(self, program: ProgramName) -> Description:
        """Sizes, arrays, loops and statements of a program as it is written."""
        found = self._program(program)
        return describe_program(found.schedule(""), found.sizes)

    @checked
    def dependences(
        self,
        program: ProgramName,
        input_dependences: Annotated[bool, "also pairs of reads of one element (reuse)"] = False,
    ) -> DependenceList:
        """The exact dependences of a program, with distances."""
        scop = self._program(program).function.scop
        found = self._program(program).function.dependences
        chosen = [*found, *(found.input if input_dependences else ())]
        return DependenceList(describe_dependences(scop, chosen))

    @checked
    def legal(
        self, program: ProgramName, step: StepText, schedule: ScheduleText = ""
    ) -> LegalityAnswer:
        """Whether a step is legal after a schedule; if not, a witness, and repairs that are."""
        found = self._program(program)
        answer, after = judge(found.schedule(schedule), step)
        if after is not None:
            found.remember(after)
        return answer

    @checked
    def apply(self, program: ProgramName, step: StepText, schedule: ScheduleText = "") -> Applied:
        """The schedule with one more step; a step that is illegal is a problem that says why."""
        found = self._program(program)
        after = found.schedule(schedule).apply_all(parse_pipeline(step))
        return describe_schedule(found.remember(after))

    @checked
    def loops(
        self,
        program: ProgramName,
        schedule: ScheduleText = "",
        form: Annotated[Form, FORMS] = "tree",
    ) -> LoopText:
        """The loops of a scheduled program, as a tree or as code."""
        found = self._program(program)
        scheduled = found.schedule(schedule)
        text = text_of(found, scheduled, form)
        return LoopText(str(scheduled), form, tuple(text.rstrip("\n").split("\n")))

    @checked
    def predict(
        self,
        program: ProgramName,
        schedules: Annotated[tuple[str, ...], "the schedules"],
        model: Annotated[str, "the cost model: ensemble, or roofline"] = DEFAULT_MODEL,
    ) -> Predictions:
        """What a cost model says of schedules, without running them."""
        found = self._program(program)
        legal: dict[str, Schedule] = {}
        for text in schedules:
            try:
                legal[text] = found.schedule(text)
            except TransformationError:
                continue
        speedups = find_model(self._files.model(model)).predict(found.context, list(legal.values()))
        known = dict(zip(legal, map(float, speedups), strict=True))
        return Predictions(
            model, tuple(PredictedSpeedup(text, known.get(text)) for text in schedules)
        )

    @checked
    def explain(self, program: ProgramName, schedule: ScheduleText = "") -> Explanation:
        """What bounds the time of each nest, and which loops are parallel or what they carry."""
        found = self._program(program)
        return explain(found.schedule(schedule), found.context)

    @checked
    def time(self, program: ProgramName, schedule: ScheduleText = "") -> Measurement:
        """Runs a schedule and the program in turns, in a child process; compares them."""
        found = self._running_program(program)
        scheduled = found.schedule(schedule)
        for other in self._programs.values():
            if other is not found:
                other.close()
        evaluator = found.evaluator(self.limits)
        try:
            speedup, base = measure_in_turns(
                evaluator, found.context, found.schedule(""), scheduled
            )
        except EvaluationError:
            found.close()  # it would never run anything
            raise
        return Measurement(
            str(scheduled),
            speedup,
            base / speedup if speedup else None,
            base,
            evaluator.bound is not None,
            evaluator.failures.get(str(scheduled)),
            found.threads,
        )

    @checked
    def tune(
        self,
        program: ProgramName,
        seconds: Annotated[
            float | None, "for searching and running; 0: nothing is run; null: 10, if allowed"
        ] = None,
        search: Annotated[str | None, "the search algorithm; null: the usual one"] = None,
        model: Annotated[str, "the cost model that proposes"] = DEFAULT_MODEL,
        seed: Annotated[int, "random seed"] = 0,
        *,
        keep: bool = False,
        report: Callable[[Progress], None] = lambda _: None,
    ) -> TuningResult:
        """Searches for the fastest schedule, by cost model and runs.

        With `keep`, schedule 'auto' learns of it; `report` is told of the progress.
        """
        found = self._running_program(program)
        model, most = self._files.model(model), self.limits.tuning_seconds
        if seconds is None:
            seconds = min(TUNING_SECONDS, most)
        if not 0 <= seconds <= most:
            raise CallError("input", f"seconds must be between 0 and {most:g}, not {seconds:g}")
        values = found.arguments(self.limits)
        found.close()  # one program runs at a time
        options = TuningOptions(
            seconds or None,
            found.threads,
            found.fast_math,
            model,
            search,
            seed=seed,
            keep=keep,
            report=report,
            longest=self.limits.seconds,
            memory=self.limits.process_bytes,
        )
        result = tune(found.function, values, options, found.comparison(values))
        found.remember(result.best)
        return tuning_result(result)

    @checked
    def verify(self, program: ProgramName, schedule: ScheduleText = "") -> Verification:
        """Proves that the loops that are generated for a schedule are the program."""
        found = self._program(program)
        scheduled = found.schedule(schedule)
        source = found.function.source(scheduled, fast_math=found.fast_math, verify=True)
        _, verdict = verified_loops(source, scheduled, found.context.sizes)
        assert verdict is not None, "it was asked for"
        return Verification(str(scheduled), verdict.is_proved, str(verdict))

    @checked
    def save(
        self,
        program: ProgramName,
        path: Annotated[str, "the file"],
        schedule: ScheduleText = "",
        form: Annotated[Form, f"what to write: {FORMS}"] = "schedule",
    ) -> Saved:
        """Writes a schedule, or the loops it leads to, to a file."""
        found = self._program(program)
        text = text_of(found, found.schedule(schedule), form).rstrip("\n") + "\n"
        self._files.write(path, text)
        return Saved(path, form, len(text.encode()))

    def _program(self, name: str) -> LoadedProgram:
        if name not in self._programs:
            listing = ", ".join(self._programs) or "none"
            raise CallError(
                "unknown", f"no program '{name}' is loaded; there are {listing}", "load it"
            )
        return self._programs[name]

    def _running_program(self, name: str) -> LoadedProgram:
        """A program that takes a time: one that has statements."""
        found = self._program(name)
        if not found.function.scop.statements:
            raise CallError("input", f"'{name}' has no statements: there is nothing to time")
        return found

    def _free_name(self, wanted: str) -> str:
        taken = self._programs.keys() | self.reserved
        others = (f"{wanted}-{number}" for number in itertools.count(2))
        return next(name for name in itertools.chain((wanted,), others) if name not in taken)

    def _keep(self, program: LoadedProgram) -> None:
        while len(self._programs) >= MOST_PROGRAMS:
            self._programs.pop(next(iter(self._programs))).close()
        self._programs[program.name] = program


def _function(program: Program, name: str | None) -> Function:
    if name is not None:
        return program[name]
    if len(program) != 1:
        listing = ", ".join(program) or "none"
        raise CallError("input", f"choose a function: there are {listing}", "name the function")
    return next(iter(program.values()))
