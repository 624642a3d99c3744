"""Driver of the default schedule: whole-program orders, a strategy per nest, the best estimate."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from math import inf

from ..estimate.estimate import estimate
from ..estimate.moved_lines import moved_line_seconds
from ..estimate.scheduled_program import ScheduledProgram
from ..estimate.scheduling_context import SchedulingContext
from ..estimate.stages import stages
from ..machine.target import Target
from ..polyhedral.isl_context import ISL_LOCK, TooComplexError, bounded
from ..polyhedral.schedule_tree import (
    Loop,
    Tree,
    functions_text,
    loops,
    nest_of,
    nests,
    statements,
)
from ..polyhedral.scop import Scop
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule, Steps
from ..transformations.affine_schedule import AffineSchedule, begin_affine_schedules
from ..transformations.parallel import Parallel
from .border_peeling import peeled_borders
from .double_buffering import double_buffered
from .even_sums import even_sums
from .guard_splitting import split_at_guards, with_guards
from .hoisted_recurrences import with_hoisted_recurrences
from .input_reuse import fuse_for_input_reuse
from .jammed_loops import jammed_loops
from .modulo_unrolling import modulo_unrolled
from .offsets import separated_offsets
from .outermost_parallel import mark_parallel
from .rounded_subscripts import cut_at_rounding
from .row_strips import orders_by_rows
from .strategies import ALWAYS_COMPETING, COMPETING, FALLBACKS, FOR_OPAQUE, STRATEGIES, Strategy

PROFITABLE = 2_000
"""A program with fewer statement instances stays as it was written."""

GAIN = 0.9
"""A schedule in another order must be estimated to take this part of the time of the program as it
was written. Where no other is that good, one in the same order need not be slower: marked vectors
take as long as those of LLVM, which does not make them everywhere that the estimate believes. Where
some loops have no marked vectors, it makes worse ones of these beside the others."""

UNSURE = 1.35
"""So many times as long may loops take as they were written that have conditions at their borders:
LLVM makes vectors of some, under masks, and none of others."""

ALIKE = 1.02
"""Estimates that differ by so much say nothing."""

RUNNERS_UP, CLOSE, CLEARLY = 2, 2.0, 0.6
"""So many candidates are jammed beside the best one, that take at most so many times as long. They
are better if they then take this part of its time: what gains by jamming waits for something, and
the estimate of waiting is the less certain one."""

FUSIONS = ("minimal", "balanced", "maximal")
"""How affine scheduling fuses, from what takes it least time to what takes it most."""

PATIENCE = 2
"""Seconds for affine scheduling, which takes a tenth of that for most programs."""


MOST_SPLIT = 2
"""So many orders are tried with nests split at their conditions as well."""

MOST_SECONDS = 20.0
"""CPU time for all candidates; the best so far is taken then."""


def default_schedule(
    scop: Scop,
    sizes: Mapping[str, int],
    target: Target | None = None,
    *,
    threads: int,
    reassociate: bool = False,
) -> Schedule:
    """A good schedule of a program for these sizes and so many threads, found without running it.

    It has no transformations where the program is best left as it was written, small ones above
    all. The same arguments give the same schedule, unless affine scheduling takes longer than
    `PATIENCE`. Raises SourceError.
    """
    original = Schedule.original(scop, target, reassociate=reassociate)
    context = SchedulingContext(sizes, threads)
    with ISL_LOCK:
        return choose(original, context, candidates(original, context))


def choose(
    original: Schedule, context: SchedulingContext, candidates: Iterable[Schedule]
) -> Schedule:
    """The candidate with the best estimate, or the original where none is clearly better; jammed.

    Loops are unrolled and jammed last, where that is clearly better (`jammed_loops`).
    """
    return jammed_best(best_candidates(original, context, candidates), context)[1]


def best_candidates(
    original: Schedule, context: SchedulingContext, candidates: Iterable[Schedule]
) -> list[Schedule]:
    """The candidate with the best estimate, and those close to it that jamming may bring forward.

    Where none is clearly better than the original, it is the best one that runs in the original
    order and is not estimated to be slower, else the original, alone.
    """
    kept, least_kept, written = original, inf, inf
    better: list[tuple[float, int, Schedule]] = []
    with suppress(TooComplexError), bounded(seconds=MOST_SECONDS):
        if not is_profitable(original, context):
            return [original]
        written = estimate(original, context)
        if peeled_borders(original, context) is not None:
            written *= UNSURE
        order = functions_text(original.tree)
        for number, candidate in enumerate(candidates):
            seconds = estimate(candidate, context) + moved_line_seconds(candidate, context)
            if seconds < GAIN * written:
                better.append((seconds, number, candidate))
            is_alike = seconds < written or (
                seconds <= ALIKE * written and not _is_partly_marked(candidate, context)
            )
            is_best_kept = is_alike and seconds < least_kept
            if is_best_kept and functions_text(candidate.tree) == order:
                kept, least_kept = candidate, seconds
    if not better:
        return [kept]
    ranked = sorted([*better, (written, -1, original)])[: 1 + RUNNERS_UP]
    return [schedule for seconds, _, schedule in ranked if seconds <= CLOSE * ranked[0][0]]


def _is_partly_marked(schedule: Schedule, context: SchedulingContext) -> bool:
    """Whether some loops have marked vectors, and others are left to LLVM."""
    has_vectors = any(loop.vector is not None for loop in loops(schedule.tree))
    return has_vectors and not ScheduledProgram(schedule, context).is_explicit


def jammed_best(
    candidates: Sequence[Schedule], context: SchedulingContext
) -> tuple[Schedule, Schedule]:
    """The candidate that is best with loops jammed, and what it is then; the first if in doubt.

    The first as it is where the program does little, or isl takes long.
    """
    found, least = (candidates[0], candidates[0]), inf
    with suppress(TooComplexError), bounded(seconds=MOST_SECONDS):
        if not is_profitable(candidates[0], context):
            return found
        for candidate in candidates:
            jammed = jammed_loops(candidate, context)
            seconds = estimate(jammed, context)
            if seconds < least:
                found, least = (candidate, jammed), CLEARLY * seconds
    return found


def is_profitable(original: Schedule, context: SchedulingContext) -> bool:
    """Whether a program does so much at these sizes that a schedule can gain anything."""
    statistics = context.statistics(original.scop)
    return sum(each.work for each in statistics.statements.values()) >= PROFITABLE


@dataclass(frozen=True)
class NestAnswer:
    """The answer of a strategy for the nest of some statements, and the schedule before it."""

    names: tuple[str, ...]
    strategy: Strategy
    before: Schedule
    schedule: Schedule

    @property
    def steps(self) -> Steps:
        """What the strategy does to its nest; it leaves all other nests alone."""
        return self.schedule.transformations[len(self.before.transformations) :]

    def on(self, schedule: Schedule, context: SchedulingContext) -> Schedule | None:
        """The strategy's answer in a schedule that other nests have changed, perhaps."""
        if schedule is self.before:
            return self.schedule
        return self.strategy(schedule, nest_of(schedule.tree, self.names[0]), context)


def candidates(
    original: Schedule, context: SchedulingContext, starts: Iterable[Schedule] | None = None
) -> Iterator[Schedule]:
    """Orders, by default all of `orders`, with every nest scheduled; each schedule once.

    At most two for each order, with the first answers and `_best_answers`. Where all of them leave
    conditions to the last strategy, there are two more for the first orders, split there.
    """
    for _, schedule in answered_candidates(original, context, starts):
        yield schedule


AnsweredSchedule = tuple[Sequence[NestAnswer], Schedule]
"""A schedule, and the first answers for the nests of its order."""


def answered_candidates(
    original: Schedule, context: SchedulingContext, starts: Iterable[Schedule] | None = None
) -> Iterator[AnsweredSchedule]:
    """`candidates`, with the first answers for the nests of their order."""
    seen = {original}
    tried: set[str] = set()
    unanswered: list[tuple[Schedule, list[tuple[str, ...]]]] = []
    for order in orders(original, context) if starts is None else starts:
        # The steps that lead to an order do not matter, nor do the names of its loops.
        functions = functions_text(order.tree)
        if functions in tried:
            continue
        tried.add(functions)
        answers = yield from _scheduled(order, context, seen)
        left = [answer.names for answer in answers if answer.strategy is STRATEGIES[-1]]
        unanswered.append((order, left))
    if not all(left for _, left in unanswered):
        return
    guarded = [(order, with_guards(order, left, context)) for order, left in unanswered]
    if all(names for _, names in guarded):
        for order, names in guarded[:MOST_SPLIT]:
            parts = split_at_guards(order, names, context)
            if parts is not None:
                yield from _scheduled(parts, context, seen)


def orders(original: Schedule, context: SchedulingContext) -> Iterator[Schedule]:
    """Orders of the whole program, without marks, the first its own.

    Those of the program with invariant recurrences hoisted, its remainders unrolled, or offsets of
    products separated, if it has any; then with double buffers.
    """
    changed = (
        with_hoisted_recurrences(original, context)
        or modulo_unrolled(original)
        or separated_offsets(original)
    )
    if changed is not None:
        yield original
    yield from _orders(changed or original, context)
    doubled = double_buffered(original)
    if doubled is not None:
        yield from _orders(doubled, context)


def _orders(original: Schedule, context: SchedulingContext) -> Iterator[Schedule]:
    begin_affine_schedules(original, FUSIONS)
    yield original
    peeled = peeled_borders(original, context)
    if peeled is not None:
        yield peeled
    for fusion in FUSIONS:
        try:
            order = original.apply(AffineSchedule(fusion=fusion, seconds=PATIENCE))
        except TransformationError:
            break
        # Who replays it may wait as long as usual.
        steps = (*original.transformations, AffineSchedule(fusion=fusion))
        order = replace(order, transformations=steps)
        yield order
        even = even_sums(order, context)
        if even is not None:
            yield even
    cut = cut_at_rounding(original, context)
    if cut is not None:
        yield cut
    yield fuse_for_input_reuse(original, context)
    yield from orders_by_rows(original, context)


def alternatives(
    original: Schedule, context: SchedulingContext, starts: Iterable[Schedule] | None = None
) -> Iterator[Schedule]:
    """What `candidates` leaves out, for who can run schedules: less likely to be good.

    Every order for one thread, and with a strategy for one nest that is asked after the one whose
    answer `candidates` takes.
    """
    alone = replace(context, threads=1, nests={})
    for order in orders(original, context) if starts is None else starts:
        groups = _groups(order)
        if context.threads > 1:
            yield _schedule(order, alone, groups)
        for names in groups:
            others = [group for group in groups if group != names]
            for _, answer in islice(_answers(order, names, context), 1, None):
                yield _schedule(answer, context, others)


def schedule_nests(schedule: Schedule, context: SchedulingContext) -> Schedule:
    """Every top-level nest under the first strategy that has an answer for it."""
    return _schedule(schedule, context, _groups(schedule))


def other_answers(
    answers: Sequence[NestAnswer], context: SchedulingContext
) -> Iterator[tuple[NestAnswer, Steps]]:
    """What strategies have for a nest besides the first answer, and the steps of the nests behind.

    The nests before have their first answers. Fallbacks are asked for nests that they compete for.
    """
    for number, first in enumerate(answers):
        behind = tuple(step for answer in answers[number + 1 :] for step in answer.steps)
        asked = _strategies(first.before, first.names)
        others = asked[asked.index(first.strategy) + 1 :]
        if first.strategy in COMPETING:
            others = tuple(dict.fromkeys((*FALLBACKS, *others)))
        nest = nest_of(first.before.tree, first.names[0])
        for strategy in others:
            found = None if strategy is first.strategy else strategy(first.before, nest, context)
            if found is not None:
                yield NestAnswer(first.names, strategy, first.before, found), behind


def _first_answers(order: Schedule, context: SchedulingContext) -> Iterator[NestAnswer]:
    """Every nest under the first strategy that has an answer for it, one after the other."""
    schedule = order
    for names in _groups(order):
        found = next(_answers(schedule, names, context), None)
        if found is not None:
            strategy, answer = found
            yield NestAnswer(names, strategy, schedule, answer)
            schedule = answer


def _scheduled(
    order: Schedule, context: SchedulingContext, seen: set[Schedule]
) -> Generator[AnsweredSchedule, None, list[NestAnswer]]:
    """What is new of both kinds of answers; returns the first ones."""
    answers = list(_first_answers(order, context))
    first = answers[-1].schedule if answers else order
    # Of two that are estimated alike, the first is chosen.
    for candidate in (_best_answers(order, answers, context), first):
        if candidate not in seen:
            seen.add(candidate)
            yield answers, candidate
    return answers


def _best_answers(
    order: Schedule, answers: Sequence[NestAnswer], context: SchedulingContext
) -> Schedule:
    """Every nest with what is best for it, one after the other."""
    schedule = order
    for first in answers:
        best = _best_answer(first, schedule, context)
        schedule = first.schedule if best == first.schedule else best
    return schedule


def _best_answer(first: NestAnswer, schedule: Schedule, context: SchedulingContext) -> Schedule:
    """A nest under its first strategy, or under a rival that is estimated to be clearly better.

    Or not slower, and simpler: what memory bounds gains nothing by more steps. Rivals of
    `COMPETING`, and of what does not clearly better the nest as it is, are all `FALLBACKS`, and
    that nest; such a strategy that is a fallback itself has no preference. Rivals of others are
    `ALWAYS_COMPETING`.
    """
    nest = nest_of(schedule.tree, first.names[0])
    names = first.names
    own = None if first.strategy in FALLBACKS else first.on(schedule, context)
    own = None if own is None else _shared_out(own, names, context)
    seconds = inf if own is None else estimate(own, context)
    competes = first.strategy in COMPETING or (
        own is not None and seconds >= GAIN * estimate(schedule, context)
    )
    proposed = (
        each(schedule, nest, context) for each in (FALLBACKS if competes else ALWAYS_COMPETING)
    )
    rivals = [_shared_out(rival, names, context) for rival in proposed if rival is not None]
    if competes:
        rivals.append(schedule)
    rated = ((estimate(rival, context), rival) for rival in rivals)
    least, best = min(rated, key=lambda each: each[0], default=(inf, None))
    if best is None or own is None:
        return best or own or schedule
    is_better = least < GAIN * seconds or (least <= seconds and _is_simpler(best, own))
    return best if is_better else own


def _shared_out(schedule: Schedule, names: tuple[str, ...], context: SchedulingContext) -> Schedule:
    """Nests and their stages on all threads that a strategy left to one, if that is better.

    Strategies ask for as many instances as pay whatever these compute.
    """
    left = tuple(
        name
        for name in names
        if not any(loop.parallel for loop in loops(_stage_of(schedule, name)))
    )
    shared = mark_parallel(schedule, left, context, 0)
    if shared is schedule or estimate(shared, context) >= estimate(schedule, context):
        return schedule
    return shared


def _stage_of(schedule: Schedule, name: str) -> Tree:
    """The nest around a statement, or the stage of it."""
    nest = nest_of(schedule.tree, name)
    parts = stages(nest) if isinstance(nest, Loop) else (nest,)
    return next(part for part in parts if name in statements(part))


def _is_simpler(schedule: Schedule, other: Schedule) -> bool:
    """Whether a schedule has fewer steps than another, but no fewer parallel loops."""
    own, others = schedule.transformations, other.transformations
    shares = [sum(isinstance(step, Parallel) for step in steps) for steps in (own, others)]
    return len(own) < len(others) and shares[0] >= shares[1]


def _groups(schedule: Schedule) -> list[tuple[str, ...]]:
    """The statements of each top-level nest."""
    return [statements(nest) for nest in nests(schedule.tree)]


def _schedule(
    schedule: Schedule, context: SchedulingContext, groups: Iterable[tuple[str, ...]]
) -> Schedule:
    for names in groups:
        _, schedule = next(_answers(schedule, names, context), (None, schedule))
    return schedule


def _answers(
    schedule: Schedule, names: tuple[str, ...], context: SchedulingContext
) -> Iterator[tuple[Strategy, Schedule]]:
    """The strategies with what they make of the nest of these statements, in their order."""
    nest = nest_of(schedule.tree, names[0])
    for strategy in _strategies(schedule, names):
        scheduled = strategy(schedule, nest, context)
        if scheduled is not None:
            yield strategy, scheduled


def _strategies(schedule: Schedule, names: Iterable[str]) -> tuple[Strategy, ...]:
    """What is asked for the nest of these statements."""
    is_opaque = any(schedule.scop.statement(name).is_opaque for name in names)
    return FOR_OPAQUE if is_opaque else STRATEGIES
