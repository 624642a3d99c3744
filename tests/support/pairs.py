"""Random pairs of a program and a schedule: what compiled code does against the interpreter.

The seed of a program decides all: the program, its sizes, its schedules, the numbers of threads.
"""

from __future__ import annotations

import random
import re
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from loopwright.dialects.errors import SourceError
from loopwright.errors import OutOfBounds
from loopwright.passes.machine.target import Target
from loopwright.passes.polyhedral.bounds import BoundsError
from loopwright.passes.polyhedral.schedule_tree import loops
from loopwright.passes.schedules.schedule import Schedule
from loopwright.runtime.kernel import Kernel
from loopwright.runtime.program import Function

from .arithmetic import UndefinedBehaviourError
from .choice import SeededChooser, chance, choose
from .differential import (
    DifferenceError,
    Outcome,
    assert_same,
    build,
    compiled,
    function_of,
    interpretation,
    outcome,
)
from .interpreter import OutOfBoundsError, UnsupportedError
from .random_programs import (
    DEFAULT_SEEDS,
    WIDE_SEEDS,
    RandomProgram,
    seeded_program,
    seeded_sizes,
)
from .random_schedules import long_vectors, random_schedule
from .short_vectors import treat_short_loops_as_long
from .supervision import Tell, Verdict

SCHEDULES = 5
"""Schedules of each program: most of the time goes into its dependences."""

LARGE = 3
"""The schedule that is also run on rounded floats of large arrays."""

MISPLACED = 4
"""Runs of a program with subscripts in memory, of which one is that of no element."""

# What meets the forms of code generation: as a rule a vector loop with little around it.
VECTOR_STEPS = (
    *("vectorize",) * 4,
    "interchange",
    "tile",
    "parallel",
    "unroll-and-jam",
    "strip-mine",
)

SMALL_CACHES = {1: 1 << 10, 2: 2 << 10, 3: 4 << 10}
"""Caches that the arrays of random programs do not fit into."""

AT_ONCE = 1e-9
"""Seconds until threads begin, of machines for which small loops are shared out."""

CONVERSION = r"(?<!%near\d)(?<!%near\d\d)(?<!%near\d\d\d) = arith\.fpto"
"""Conversions to integers, but those of floats that are small, as they are subscripts."""

PAIR = "schedule"
"""What the names of verdicts on pairs begin with."""

SAME, REFUSED, INEXACT, WRONG, ERROR = "same", "refused", "inexact", "wrong", "error"

# What isl is not able to do is refused in one line, which is no failure.
REFUSALS = ("too complex", "isl leaves out instances")


@dataclass(frozen=True)
class Run:
    """Sizes, and what a program does with them; `any_order` says that no float was rounded.

    `misplaced` is what it does, for some numbers, where a subscript in memory is not one of the
    array: None where that is an access outside.
    """

    sizes: Mapping[str, int]
    expected: Outcome
    rounded: bool = False
    any_order: bool = True
    misplaced: tuple[Outcome | None, ...] = ()


def check_pairs(seed: int, tell: Tell) -> None:
    """Tells the verdicts on the program with this number as written, and on its schedules."""
    treat_short_loops_as_long(seed % 2 == 1)
    source = random.Random(seed)
    Checker(seed, seeded_program(seed, calls=True), SeededChooser(source), tell).check()


@dataclass
class Checker:
    """The checks of one program."""

    seed: int
    program: RandomProgram
    chooser: SeededChooser
    tell: Tell
    agreed: bool = True
    step: str = ""

    def check(self) -> None:
        """Tells the verdicts."""
        narrow = self.program.has_only_narrow_floats
        runs = [run for run in (self._run(), self._run(rounded=narrow)) if run is not None]
        if not runs:
            self.tell(Verdict(self.seed, "program", INEXACT))
            return
        with self._verdict("program"):
            function = function_of(self.program)
            for run in runs:
                note = self._step("the program as written", sizes=run.sizes)
                kernel = build(function, None, 1)
                found = outcome(self.program, kernel, run.sizes, rounded=run.rounded)
                assert_same(run.expected, found, note)
                self._check_misplaced(kernel, run, note)
            if self.program.sizes and not self.program.has_floats:
                sizes = self._large_sizes()
                self._step("the program as written", sizes=sizes)
                runs.append(Run(sizes, compiled(self.program, function, sizes)))
        if not self.agreed:
            return
        with self._verdict("dependences"):
            self._step("dependences")
            _ = function.dependences
        for number in range(SCHEDULES if self.agreed else 0):
            with self._verdict(f"{PAIR} {number}"):
                self._check_schedule(function, runs[number % len(runs)], number)

    def _run(self, *, rounded: bool = False) -> Run | None:
        """Sizes at which all f32 and f64 are exact, and the results; None after a few attempts."""
        for _ in range(3):
            sizes = seeded_sizes(self.program, self.chooser.source)
            try:
                expected, after = interpretation(self.program, sizes, rounded=rounded)
            except (UndefinedBehaviourError, UnsupportedError):
                # A float that does not fit an integer, or a program that runs for too long.
                continue
            if after.exact:
                numbers = range(MISPLACED if self.program.has_lookups and not rounded else 0)
                misplaced = tuple(self._misplaced(sizes, number) for number in numbers)
                return Run(sizes, expected, rounded, after.any_order, misplaced)
        return None

    def _misplaced(self, sizes: Mapping[str, int], number: int) -> Outcome | None:
        try:
            return interpretation(self.program, sizes, misplaced=number)[0]
        except OutOfBoundsError:
            return None

    def _check_misplaced(self, kernel: Kernel, run: Run, note: str) -> None:
        """An access outside of an array ends in an error of one line; what is not made, in none."""
        for number, expected in enumerate(run.misplaced):
            own = f"{note}\nmisplaced subscript {number}"
            try:
                found = outcome(self.program, kernel, run.sizes, misplaced=number)
            except OutOfBounds as error:
                if expected is not None or "\n" in str(error):
                    raise DifferenceError(f"{own}: {error}") from error
                continue
            if expected is None:
                raise DifferenceError(f"{own}: no error")
            assert_same(expected, found, own)

    def _large_sizes(self) -> dict[str, int]:
        """Sizes larger than most tiles, which would take the interpreter too long."""
        choices = (17, 32, 41) if self.program.depth <= 2 else (9, 17, 40)
        return {name: choose(self.chooser, choices) for name in self.program.sizes}

    def _check_schedule(self, function: Function, run: Run, number: int) -> None:
        by_default = DEFAULT_SEEDS <= self.seed < WIDE_SEEDS
        fast_math = chance(self.chooser, 40 if by_default else 20) and run.any_order
        target = _target(random.Random(self.seed + number), by_default)
        threads = choose(self.chooser, (1, 2, 3, 2)) if by_default else 0
        schedule = self._schedule(function, run, number, target, fast_math, threads)
        parallel = any(loop.parallel for loop in loops(schedule.tree))
        threads = threads or (choose(self.chooser, (1, 2, 3)) if parallel else 1)
        options = {"fast_math": fast_math, "check_bounds": chance(self.chooser, 40)}
        facts = {"threads": threads, "target": target.name, **options}
        note = self._step("compile and run", pipeline=schedule, sizes=run.sizes, **facts)
        kernel = build(function, schedule, threads, target=target, **options)
        found = outcome(self.program, kernel, run.sizes, rounded=run.rounded)
        assert_same(run.expected, found, note)
        self._check_misplaced(kernel, run, note)
        if number % 3 == 0 and not fast_math and self._is_rounded_alike:
            sizes = self._large_sizes() if number == LARGE else run.sizes
            note = self._step("rounded floats", pipeline=schedule, sizes=sizes, **facts)
            written = build(function, None, 1)
            first, again = (
                outcome(self.program, each, sizes, rounded=True) for each in (written, kernel)
            )
            assert_same(first, again, note)

    @property
    def _is_rounded_alike(self) -> bool:
        """Whether schedules give the same bits, and no float may be too large for an integer."""
        text = self.program.text
        return self.program.has_floats and not re.search(f"fastmath|{CONVERSION}", text)

    def _schedule(
        self,
        function: Function,
        run: Run,
        number: int,
        target: Target,
        fast_math: bool,
        threads: int,
    ) -> Schedule:
        """The default schedule, for `threads` if there are any, or another one."""
        if threads or chance(self.chooser, 25 if self.program.of_kinds else 8):
            threads = threads or 2
            facts = {"threads": threads, "fast_math": fast_math, "target": target.name}
            self._step("default schedule", sizes=run.sizes, **facts)
            sizes = function.checked_sizes(self.program.make_arguments(run.sizes))
            return function.default_schedule(
                sizes, threads=threads, fast_math=fast_math, target=target
            )
        original = function.schedule("", target, fast_math=fast_math)
        if self.program.of_kinds and number == LARGE and chance(self.chooser, 75):
            return long_vectors(self.chooser, original)
        names = VECTOR_STEPS if self.program.of_kinds and chance(self.chooser, 50) else None
        return random_schedule(
            self.chooser,
            original,
            self.chooser.integer(1, 8),
            names,
            watch=lambda before, step: self._step(
                "apply", pipeline=f"{before},{step}".strip(","), fast_math=fast_math
            ),
        )

    def _step(self, name: str, **facts: object) -> str:
        """Tells what is done next; a note on how to do it again."""
        facts = {key: str(value) for key, value in facts.items()}
        self.step = "\n".join([f"at: {name}", *(f"{key}: {facts[key]}" for key in facts)])
        self.tell(self.step)
        return self.step

    @contextmanager
    def _verdict(self, name: str) -> Iterator[None]:
        """Tells how a check ended; `agreed` says whether it found nothing."""
        verdict, detail = SAME, ""
        try:
            yield
        except DifferenceError as error:
            verdict, detail = WRONG, str(error)
        except SourceError as error:
            expected = any(text in error.message for text in REFUSALS)
            verdict = REFUSED if expected and not isinstance(error, BoundsError) else ERROR
            detail = f"{error.message}\n{self.step}\n{error}"
        except Exception as error:
            verdict = ERROR
            detail = f"{type(error).__name__}: {error}\n{self.step}\n{traceback.format_exc()}"
        self.agreed = verdict == SAME
        self.tell(Verdict(self.seed, name, verdict, detail))


def _target(source: random.Random, by_default: bool) -> Target:
    """This machine as it is, with small caches, or what programs for any with AVX2 are for.

    Default schedules are for other machines that it can stand for, too, also where threads start at
    once: their parts may be small.
    """
    host = Target.host()
    if by_default:
        others = (Target.named(name) for name in ("zen3", "zen4"))
        targets = [host, *(each for each in others if each.features <= host.features)]
        target = source.choice(targets)
        at_once = replace(target, fork_join=AT_ONCE, thread_wake=AT_ONCE)
        return at_once if source.random() < 0.7 else target
    others = (host, replace(host, caches=SMALL_CACHES))
    narrow = Target.named("generic-avx2")
    runs = "avx2" in host.features and narrow.architecture == host.architecture
    return source.choice((*others, host, replace(narrow, caches=SMALL_CACHES) if runs else host))
