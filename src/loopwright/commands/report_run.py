"""The page of `loopwright report`, once its arguments are known to be right."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, ClassVar

from ..passes.polyhedral.extents import infer_extents
from ..passes.schedules.errors import IllegalTransformation
from ..passes.schedules.schedule import Schedule
from ..reports.measurements import measure_kernel, measure_program, schedules, tuned_schedule
from ..reports.page import render
from ..reports.steps import prefixes
from ..reports.subject import Subject
from ..reports.tuned_path import measured_path, predicted_path
from ..runtime.bench.case import NotApplicable
from ..runtime.bench.peers.choosing import select_peers
from ..runtime.bench.selection import SelectionError
from ..runtime.choosing.schedule_names import CHOSEN, DEFAULT
from ..runtime.jit.threads import default_threads
from ..runtime.machine import measured as machines
from ..runtime.program import Function
from ..session.shipped_kernels import comparison, standard_size
from ..support.json_records import Document
from ..support.output_files import write_output
from ..support.progress import ProgressLine
from . import UsageError
from .common import (
    one_function,
    pairs,
    read_schedule,
    source_text,
)
from .json_output import emit
from .program_inputs import argument_values, load_inputs
from .shipped import (
    STANDARD_INPUT,
    check_size_names,
    find_kernel,
    shown,
    size_value,
    sized_kernel,
    with_standard_extents,
)


@dataclass(frozen=True)
class ReportDocument(Document):
    """Result of `loopwright report`."""

    document: ClassVar[str] = "report"

    file: Annotated[Path, "the page"]
    bytes: Annotated[int, "how long it is"]
    summary: Annotated[Mapping[str, str], "the facts at its top"]
    illegal: Annotated[str | None, "the illegal step that it explains, if there is one"]


def write_report(arguments: argparse.Namespace) -> int:
    """Writes the page, and says where it is."""
    output = Path(arguments.output)
    with ProgressLine() as progress:
        progress.update("reading the program")
        subject = _measured(arguments, make_subject(arguments), progress.update)
        facts = summary(subject)
        page = render(subject, facts, progress.update)
    write_output(output, page)
    illegal = None if subject.illegal is None else str(subject.illegal)
    emit(ReportDocument(output, len(page.encode()), dict(facts), illegal))
    print(f"{output}: {len(page.encode()) / 1e3:.0f} kB")
    if subject.illegal is not None:
        print(subject.illegal)
    return 0


def make_subject(arguments: argparse.Namespace) -> Subject:
    """What the arguments ask a report of; raises as the other commands do."""
    function = one_function(arguments)
    entry = find_kernel(arguments.file)
    sizes = _sizes(arguments, function)
    threads = arguments.threads or default_threads()
    illegal: IllegalTransformation | None = None
    try:
        schedule, chosen = _schedule(arguments, function, sizes, threads)
    except IllegalTransformation as error:
        illegal, chosen = error, "given, up to the illegal step"
        schedule = function.schedule(error.steps_before, fast_math=arguments.fast_math)
    return Subject(
        title=arguments.file if arguments.file != STANDARD_INPUT else shown(arguments.file),
        text=source_text(arguments),
        function=function,
        schedule=schedule,
        chosen=chosen,
        sizes=sizes,
        threads=threads,
        fast_math=arguments.fast_math,
        illegal=illegal,
        entry=entry,
    )


def _measured(
    arguments: argparse.Namespace, subject: Subject, report: Callable[[str], None]
) -> Subject:
    """The subject with its times and those of the tuned schedule's steps, unless told not to."""
    try:
        peers = select_peers(arguments.peers)
    except SelectionError as error:
        raise UsageError(str(error)) from error
    if peers and subject.entry is None:
        raise UsageError("--peers is for shipped kernels")
    context = subject.context
    if context is None:
        return replace(subject, unmeasured=subject.needs_sizes)
    report("looking at the tuning database")
    tuned = tuned_schedule(subject)
    states = [] if tuned is None else prefixes(tuned)
    path = predicted_path(states, context) if states else []
    subject = replace(subject, tuned=tuned, path=path, machine=machines.load())
    if arguments.no_runs:
        return replace(subject, unmeasured="Nothing was measured (--no-runs).")
    chosen = schedules(subject)
    entry, function = subject.entry, subject.function
    is_standard = _is_standard(arguments, subject)
    has_steps = len(states) > 1
    values: list[object] = []
    if has_steps or not is_standard:
        values = argument_values(arguments, function, load_inputs(arguments))
    if is_standard:
        try:
            times = measure_kernel(subject, chosen, peers, arguments.seconds, report)
        except NotApplicable as error:
            return replace(subject, unmeasured=f"Not measured: {error}")
    else:
        times = measure_program(subject, chosen, values, arguments.seconds, report)
    if has_steps:
        report("the steps of the tuned schedule")
        compared = None if entry is None else comparison(entry, function, values)
        path = measured_path(path, states, context, function, values, compared)
    return replace(subject, measured=times, path=path)


def _is_standard(arguments: argparse.Namespace, subject: Subject) -> bool:
    """Whether a shipped kernel has its standard arguments, which the harness makes."""
    if subject.entry is None or arguments.input:
        return False
    return set(pairs("--set", arguments.set)) <= set(subject.entry.parameters)


def summary(subject: Subject) -> list[tuple[str, str]]:
    """The facts at the top of the page."""
    function = subject.function
    sizes = ", ".join(
        f"{p.name} = {subject.sizes[p.name]}"
        for p in function.scop.parameters
        if p.name in subject.sizes
    )
    steps = len(subject.schedule.transformations)
    return [
        ("function", function.name),
        ("sizes", sizes or ("not given" if function.scop.parameters else "constant")),
        ("threads", str(subject.threads)),
        ("schedule", f"{subject.chosen}, {steps} step{'s' * (steps != 1)}"),
        ("target", subject.schedule.target.processor),
    ]


def _sizes(arguments: argparse.Namespace, function: Function) -> dict[str, int]:
    """The sizes that are known: given, of the size class, or following from these."""
    entry = sized_kernel(arguments)
    sizes = {} if entry is None else standard_size(entry, arguments.size)
    names = {size.name for size in function.scop.sizes}
    arrays = {array.name for array in function.scop.arrays}
    scalars = {each.place.name for each in function.signature.arguments} - arrays
    check_size_names(arguments, names, scalars)
    for name, text in pairs("--set", arguments.set).items():
        if name in names:
            if not text.isdecimal():
                raise UsageError(f"--set {name}: a size is a number, got '{text}'")
            sizes[name] = size_value(name, text)
    known = with_standard_extents(arguments.file, function, sizes)
    return infer_extents(function.scop, {n: size for n, size in known.items() if n in names})


def _schedule(
    arguments: argparse.Namespace, function: Function, sizes: dict[str, int], threads: int
) -> tuple[Schedule, str]:
    """The schedule, and how it was chosen."""
    if arguments.pipeline is None and arguments.schedule_file is None:
        if any(size.name not in sizes for size in function.scop.sizes):
            return function.schedule(
                fast_math=arguments.fast_math
            ), "as written (sizes are unknown)"
        schedule = function.choose_schedule(
            DEFAULT, sizes, threads=threads, fast_math=arguments.fast_math
        )
        return schedule, DEFAULT
    schedule = read_schedule(
        arguments, function, sizes, threads=threads, fast_math=arguments.fast_math
    )
    assert schedule is not None, "there is an option that gives one"
    return schedule, arguments.pipeline if arguments.pipeline in CHOSEN else "given"
