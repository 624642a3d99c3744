"""What to do instead of an illegal step: a small table of candidates, tried one after the other."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..polyhedral.schedule_tree import Loop, Sequence, chain, loops, statements
from .registry import all_transformations
from .transformation import Transformation, TransformationError

if TYPE_CHECKING:
    from .schedule import Schedule

_FACTORS = (1, 2, -1, 3)
_OFFSETS = (1, -1, 2, -2, 3, 4)


@dataclass(frozen=True)
class Advice:
    """Steps that are legal: `before` come first, `step` is the illegal one or one in its place."""

    before: tuple[Transformation, ...]
    step: Transformation

    def describe(self, illegal: Transformation) -> str:
        """One clause, such as `skew{loops=t,i factors=1} makes it legal`."""
        first = ",".join(map(str, self.before))
        if not first:
            return f"{self.step} is legal"
        return (
            f"{first} makes it legal" if self.step == illegal else f"{first},{self.step} is legal"
        )


def advise(schedule: Schedule, illegal: Transformation) -> str | None:
    """What makes an illegal step legal, or comes close to it; None where nothing was found."""
    for candidates in _CANDIDATES.get(illegal.name, ()):
        for advice in candidates(schedule, illegal):
            if _is_legal(schedule, (*advice.before, advice.step)):
                return advice.describe(illegal)
    return None


def _is_legal(schedule: Schedule, steps: tuple[Transformation, ...]) -> bool:
    try:
        schedule.apply_all(steps)
    except TransformationError:
        return False
    return True


def _make(name: str, names: tuple[str, ...], **options: Any) -> Transformation:
    return all_transformations()[name](names, **options)


def _expanded(schedule: Schedule, illegal: Transformation) -> Iterator[Advice]:
    """The step after each iteration of its loops has been given local arrays of its own."""
    arrays = (array.name for array in schedule.scop.arrays if array.is_local)
    steps = [_make("expand", illegal.loops, array=name) for name in arrays]
    legal = tuple(step for step in steps if schedule.legal(step))
    for step in legal:
        yield Advice((step,), illegal)
    yield Advice(legal, illegal)


def _skewed(schedule: Schedule, illegal: Transformation) -> Iterator[Advice]:
    """The step after inner loops have been skewed with respect to outer ones.

    Where the step is about one loop, inner ones are those directly inside.
    """
    found = schedule.find_loops(illegal.loops)
    members = chain(found[0]) if len(found) == 1 else found
    ordered = sorted(members, key=lambda loop: len(schedule.outer(loop)))
    names = [schedule.short_name(loop) for loop in ordered]
    for outer, inner in itertools.combinations(names, 2):
        for factor in _FACTORS:
            yield Advice((_make("skew", (outer, inner), factors=(factor,)),), illegal)
    if len(names) < 3:
        return
    for factors in itertools.product((1, 2), repeat=len(names) - 1):
        first = _make("skew", tuple(names), factors=factors)
        second = _make("skew", tuple(names[1:]), factors=(1,) * (len(names) - 2))
        yield Advice((first,), illegal)
        yield Advice((first, second), illegal)


def _other_loop(schedule: Schedule, illegal: Transformation) -> Iterator[Advice]:
    """The step on another loop around or inside the loop: threads outermost, vectors innermost."""
    for loop in schedule.find_loops(illegal.loops):
        others = [*schedule.outer(loop), *list(loops(loop))[1:]]
        for other in others[::-1] if illegal.name == "vectorize" else others:
            name = schedule.short_name(other)
            yield Advice((), dataclasses.replace(illegal, loops=(name,)))


def _shifted_statements(schedule: Schedule, illegal: Transformation) -> Iterator[Advice]:
    """The step after the last statements of a loop have been shifted along it."""
    for name in illegal.loops:
        names = statements(schedule.loop(name))
        for start in range(1, len(names)):
            for offset in _OFFSETS:
                options = {"offset": offset, "statements": names[start:]}
                yield Advice((_make("shift", (name,), **options),), illegal)


def _shifted_loops(schedule: Schedule, illegal: Transformation) -> Iterator[Advice]:
    """The step after all loops from one on have been shifted."""
    for start in range(1, len(illegal.loops)):
        for offset in _OFFSETS:
            yield Advice((_make("shift", illegal.loops[start:], offset=offset),), illegal)


def _as_shifted_as_needed(_: Schedule, illegal: Transformation) -> Iterator[Advice]:
    """The same fusion with a shift of its own for each loop."""
    yield Advice((), dataclasses.replace(illegal, shift="auto"))


def _distributed(schedule: Schedule, illegal: Transformation) -> Iterator[Advice]:
    """The step on those loops that can take it, after what the loop contains has been separated."""
    if len(illegal.loops) != 1:
        return
    loop = schedule.loop(illegal.loops[0])
    members = chain(loop)
    if not isinstance(members[-1].body, Sequence):
        return
    names = tuple(schedule.short_name(member) for member in members)
    for after in ((), *((cut,) for cut in _cuts(members[-1].body))):
        first = _make("distribute", names, after=after)
        if not _is_legal(schedule, (first,)):
            continue
        distributed = schedule.apply(first)
        copies = [
            distributed.short_name(other)
            for other in loops(distributed.tree)
            if other.name == loop.name and set(statements(other)) < set(statements(loop))
        ]
        steps = {name: dataclasses.replace(illegal, loops=(name,)) for name in copies}
        legal = tuple(name for name, step in steps.items() if distributed.legal(step))
        if legal:
            yield Advice((first,), dataclasses.replace(illegal, loops=legal))


def _legal_cuts(schedule: Schedule, illegal: Transformation) -> Iterator[Advice]:
    """The same distribution with fewer parts: cuts that are legal alone are so together."""
    body = schedule.chain(illegal.loops)[-1].body
    steps = {name: _make("distribute", illegal.loops, after=(name,)) for name in _cuts(body)}
    legal = tuple(name for name, step in steps.items() if schedule.legal(step))
    if legal:
        yield Advice((), _make("distribute", illegal.loops, after=legal))


def _cuts(body: object) -> list[str]:
    """The last statement of each part but the last."""
    parts = body.children if isinstance(body, Sequence) else ()
    return [statements(part)[-1] for part in parts[:-1]]


def _wavefronts(schedule: Schedule, illegal: Transformation) -> Iterator[Advice]:
    """The step along wavefronts of the loop and the one around it."""
    for name in illegal.loops:
        loop = schedule.loop(name)
        pairs: list[tuple[Loop, ...]] = [chain(o)[:2] for o in (*schedule.outer(loop)[-1:], loop)]
        for pair in pairs:
            names = tuple(schedule.short_name(member) for member in pair)
            if len(names) == 2:
                step = dataclasses.replace(illegal, loops=names[1:])
                for factor in (1, 2, 3):
                    yield Advice((_make("wavefront", names, factors=(factor, 1)),), step)


_Candidates = Callable[["Schedule", Transformation], Iterator[Advice]]

_CANDIDATES: Mapping[str, tuple[_Candidates, ...]] = {
    "tile": (_expanded, _skewed),
    "interchange": (_expanded, _skewed),
    "unroll-and-jam": (_expanded, _skewed),
    "wavefront": (_expanded, _skewed),
    "reverse": (_expanded,),
    "parallel": (_expanded, _other_loop, _shifted_statements, _distributed, _wavefronts),
    "vectorize": (_expanded, _other_loop, _shifted_statements, _distributed),
    "fuse": (_shifted_loops, _as_shifted_as_needed),
    "distribute": (_expanded, _legal_cuts),
}
