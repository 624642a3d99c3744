"""Results of a session's calls: what a program is, what is legal, what is fast."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from ..support.json_records import Record

FORMS = "tree, schedule, mlir, c, llvm or asm"
"""The forms of texts."""


@dataclass(frozen=True)
class Place(Record):
    """A position in a text that was given."""

    file: Annotated[str, "the file, or `<string>` and the like for texts"]
    line: Annotated[int, "counted from 1"]
    column: Annotated[int, "counted from 1"]
    text: Annotated[str | None, "the line"]


@dataclass(frozen=True)
class Problem(Record):
    """Why a call has no result."""

    code: Annotated[
        str,
        "what kind of mistake: `illegal`, `malformed`, `source`, `input`, `bounds`, `failed`, "
        "`unknown`, `type`, `path`, `too_large`, `too_complex`, `time`, `memory`, `crash`, "
        "`busy`, `learning`, `missing_extra`, `internal`",
    ]
    message: Annotated[str, "one line: what, why"]
    place: Annotated[Place | None, "where in a text that was given"]
    remedy: Annotated[str | None, "what to do instead"]


@dataclass(frozen=True)
class Size(Record):
    """A symbolic size of a program."""

    name: Annotated[str, "its name"]
    value: Annotated[int | None, "as given or inferred; null: not known"]


@dataclass(frozen=True)
class Loaded(Record):
    """A program that can be asked about."""

    program: Annotated[str, "what all other calls name it by"]
    function: Annotated[str, "the name of the function"]
    functions: Annotated[tuple[str, ...], "all functions of the text or file"]
    sizes: Annotated[tuple[Size, ...], "the symbolic sizes"]
    threads: Annotated[int, "threads that run parallel loops"]
    fast_math: Annotated[bool, "whether floating-point sums may be reassociated"]


@dataclass(frozen=True)
class ArrayFacts(Record):
    """An array of a program."""

    name: Annotated[str, "its name"]
    element: Annotated[str, "the type of its elements"]
    shape: Annotated[tuple[str, ...], "its extents"]
    is_local: Annotated[bool, "whether the function allocates it"]


@dataclass(frozen=True)
class StatementFacts(Record):
    """A statement of a program."""

    name: Annotated[str, "its name"]
    loops: Annotated[tuple[str, ...], "the loops around it, outermost first"]
    domain: Annotated[str, "its instances, as an isl set"]
    writes: Annotated[tuple[str, ...], "the elements it writes"]
    reads: Annotated[tuple[str, ...], "the elements it reads"]
    reduction: Annotated[bool, "whether it accumulates"]


@dataclass(frozen=True)
class Description(Record):
    """The polyhedral model of a program, as it is written."""

    function: Annotated[str, "the name of the function"]
    parameters: Annotated[tuple[str, ...], "the sizes that loops and subscripts depend on"]
    sizes: Annotated[tuple[Size, ...], "all sizes, extents of arrays among them"]
    arrays: Annotated[tuple[ArrayFacts, ...], "the arrays"]
    loops: Annotated[tuple[str, ...], "the loops, by the names that steps use"]
    statements: Annotated[tuple[StatementFacts, ...], "the statements, in textual order"]


@dataclass(frozen=True)
class DependenceFacts(Record):
    """A dependence between instances of two statements."""

    kind: Annotated[str, "flow, anti, output, or input (two reads)"]
    source: Annotated[str, "the statement that runs first"]
    target: Annotated[str, "the statement that must run later"]
    array: Annotated[str, "the array"]
    distance: Annotated[
        tuple[str, ...],
        "along each common loop: a number where it is constant, else its sign (+ - 0+ 0- *)",
    ]
    reduction: Annotated[bool, "whether it only orders the steps of a reduction"]
    memory_based: Annotated[bool, "whether other writes to the element may lie in between"]
    relation: Annotated[str, "the pairs of instances, as an isl map"]


@dataclass(frozen=True)
class DependenceList(Record):
    """The dependences of a program."""

    dependences: Annotated[tuple[DependenceFacts, ...], "one per kind, pair and array"]


@dataclass(frozen=True)
class Instance(Record):
    """An instance of a statement."""

    statement: Annotated[str, "the statement"]
    iteration: Annotated[Mapping[str, int], "the values of the loops around it"]


@dataclass(frozen=True)
class ViolationFacts(Record):
    """The dependence that an illegal step violates, with the smallest pair of instances."""

    kind: Annotated[str, "of the dependence: flow, anti or output"]
    array: Annotated[str, "through which array"]
    source: Annotated[Instance, "what must run first"]
    target: Annotated[Instance, "what must run later"]
    sizes: Annotated[Mapping[str, int], "sizes with which these instances exist"]
    why: Annotated[str, "what the step would do to them"]
    loop: Annotated[str | None, "the loop at fault"]


Kind = Literal["before", "instead", "fast-math"]
"""Kinds of repairs."""


@dataclass(frozen=True)
class Repair(Record):
    """Steps that were tried, and are legal where an illegal one is not."""

    steps: Annotated[str, "the steps to make in place of the illegal one"]
    schedule: Annotated[str, "the whole schedule with them"]
    kind: Annotated[
        Kind,
        "the wanted step after others; another step; or the wanted step with sums reassociated "
        "(load the program with fast_math)",
    ]


@dataclass(frozen=True)
class LegalityAnswer(Record):
    """Whether a step is legal after a schedule."""

    legal: Annotated[bool, "whether it can be made"]
    schedule: Annotated[str | None, "the schedule with it, if it can"]
    problem: Annotated[Problem | None, "why not"]
    violation: Annotated[ViolationFacts | None, "the witness, where a dependence is violated"]
    repairs: Annotated[tuple[Repair, ...], "what would be legal instead: each was tried"]


@dataclass(frozen=True)
class Applied(Record):
    """A schedule, and the loops it leads to."""

    schedule: Annotated[str, "the schedule, as a pipeline of passes"]
    steps: Annotated[int, "how many steps it has"]
    loops: Annotated[tuple[str, ...], "the loops that the next step can name"]


@dataclass(frozen=True)
class LoopText(Record):
    """A program with a schedule as text."""

    schedule: Annotated[str, "the schedule"]
    form: Annotated[str, FORMS]
    lines: Annotated[tuple[str, ...], "the text, line by line"]


@dataclass(frozen=True)
class PredictedSpeedup(Record):
    """What a cost model says of a schedule."""

    schedule: Annotated[str, "the schedule"]
    speedup: Annotated[float | None, "over the program as written, on one thread; null: illegal"]


@dataclass(frozen=True)
class Predictions(Record):
    """What a cost model says of several schedules."""

    model: Annotated[str, "the cost model"]
    predictions: Annotated[tuple[PredictedSpeedup, ...], "in the order of the question"]


@dataclass(frozen=True)
class Measurement(Record):
    """A schedule that was run, or not."""

    schedule: Annotated[str, "the schedule"]
    speedup: Annotated[float, "over the program as written; 0: it cannot be run"]
    seconds: Annotated[float | None, "of the shortest run"]
    baseline_seconds: Annotated[float, "of the program as written"]
    is_bound: Annotated[bool, "whether the program as written took longer, and was ended"]
    failure: Annotated[str | None, "why it cannot be run: wrong results, crash, time, memory"]
    threads: Annotated[int, "threads that run parallel loops"]


@dataclass(frozen=True)
class NestExplanation(Record):
    """What bounds the time of a loop nest, by the analytical estimate."""

    statements: Annotated[tuple[str, ...], "the statements of the nest"]
    seconds: Annotated[float, "the estimate"]
    in_core_seconds: Annotated[float, "operations, ports and latencies with all data in cache"]
    traffic_seconds: Annotated[
        Mapping[str, float], "of the traffic from each level: L2, L3, memory"
    ]
    bound: Annotated[str, "`in-core` or the level that takes longest"]


@dataclass(frozen=True)
class LoopExplanation(Record):
    """A loop of the schedule, and what it could do."""

    name: Annotated[str, "its name"]
    around: Annotated[tuple[str, ...], "the statements inside"]
    marks: Annotated[tuple[str, ...], "parallel, vectors of 8, unrolled by 4 ..."]
    is_parallel: Annotated[bool, "whether its iterations are independent"]
    carries: Annotated[str | None, "a dependence between its iterations, where they are not"]


@dataclass(frozen=True)
class Explanation(Record):
    """Why a schedule is as fast as it is, and what stands in the way of more."""

    schedule: Annotated[str, "the schedule"]
    seconds: Annotated[float, "the estimate of the whole program"]
    nests: Annotated[tuple[NestExplanation, ...], "the top-level nests"]
    loops: Annotated[tuple[LoopExplanation, ...], "all loops, outermost first"]


@dataclass(frozen=True)
class PathStepFacts(Record):
    """A step of the way to a schedule."""

    step: Annotated[str, "the step; empty: as written"]
    predicted: Annotated[float | None, "the speed-up with all steps up to it, as predicted"]
    measured: Annotated[float | None, "the same, as measured"]


@dataclass(frozen=True)
class TuningResult(Record):
    """The best schedule that a search has found."""

    schedule: Annotated[str, "the schedule; empty: as written"]
    speedup: Annotated[float, "over the program as written, measured or else predicted"]
    predicted: Annotated[float, "as the cost model says"]
    measured: Annotated[float | None, "as it ran"]
    default: Annotated[float | None, "the measured speed-up of the default schedule"]
    candidates: Annotated[int, "schedules that were looked at"]
    measurements: Annotated[int, "schedules that were run"]
    seconds: Annotated[float, "what the search took"]
    ended: Annotated[str, "done, time or interrupted"]
    remarks: Annotated[tuple[str, ...], "what the search could not do here"]
    path: Annotated[tuple[PathStepFacts, ...], "the way to the schedule"]


@dataclass(frozen=True)
class Verification(Record):
    """Whether the generated loops are proved to be the program."""

    schedule: Annotated[str, "the schedule"]
    proved: Annotated[bool, "whether they are"]
    verdict: Annotated[str, "proved, perhaps but for steps; violated, where; or not known, why"]


@dataclass(frozen=True)
class Saved(Record):
    """A file that was written."""

    path: Annotated[str, "where"]
    form: Annotated[str, FORMS]
    bytes: Annotated[int, "how long it is"]
