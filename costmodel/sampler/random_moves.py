"""Random legal moves, one of each kind of transformation.

A move proposes transformations until one of them can be applied, and gives the schedule after it,
or None where a few attempts have failed. Where there are several nests, it changes one or all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from random import Random

from ...passes.polyhedral import schedule_tree
from ...passes.polyhedral.isl_context import bounded
from ...passes.polyhedral.schedule_tree import Loop, Tree, chain, chains, loops, walk
from ...passes.schedules.errors import TransformationError
from ...passes.schedules.schedule import Schedule, Transformation
from ...passes.schedules.unrolled_copies import MOST_COPIES, copies
from ...passes.search.space.strides import is_contiguous
from ...passes.search.space.trees import innermost_loops
from ...passes.transformations.affine_schedule import AffineSchedule
from ...passes.transformations.distribute import Distribute
from ...passes.transformations.fuse import Fuse
from ...passes.transformations.interchange import Interchange
from ...passes.transformations.pack import Pack
from ...passes.transformations.parallel import Parallel
from ...passes.transformations.reverse import Reverse
from ...passes.transformations.skew import Skew
from ...passes.transformations.tile import Tile
from ...passes.transformations.unroll import Unroll
from ...passes.transformations.unroll_and_jam import UnrollAndJam
from ...passes.transformations.vectorize import Vectorize
from ...passes.transformations.wavefront import Wavefront

ATTEMPTS = 4
"""Proposals of one move, at most."""

ALL_NESTS = 0.65
"""Moves that are made in every nest, where possible, rather than in one."""

TILE_SIZES = (8, 16, 32, 32, 64, 64, 128, 256)
REGISTER_TILE_SIZES = (2, 3, 4, 4, 6, 8)
UNROLL_FACTORS = (2, 4, 4, 8, 8, 16)

MOST_JAMMED = 4
"""Only this many of the innermost loops of a chain take part in register tiles."""

TOWARDS_CONTIGUOUS = 0.6
"""Interchanges that bring a loop over contiguous elements inside, where there is none yet."""

STRIDED_VECTORS = 0.2
"""Loops over elements that are not contiguous which are vectorised all the same."""

SCHEDULER_SECONDS = 3

OPERATIONS = 5_000_000
"""Of isl, about a second, until a step is too complex: packing once took more than 20 seconds."""


_ForLoop = Callable[[Random, Schedule, Loop], Iterator[Transformation]]
_ForChain = Callable[[Random, Schedule, Sequence[Loop]], Iterator[Transformation]]


def first_legal(schedule: Schedule, proposals: Iterable[Transformation]) -> Schedule | None:
    """The schedule after the first proposal that can be applied, of a few."""
    for number, proposal in enumerate(proposals):
        if number == ATTEMPTS:
            break
        try:
            with bounded(OPERATIONS):
                return schedule.apply(proposal)
        except TransformationError:
            continue
    return None


def affine_schedule(random: Random, schedule: Schedule) -> Schedule | None:
    """A variant of the whole order by isl's scheduler, instead of the program's."""
    fusion = random.choice(("minimal", "balanced", "maximal"))
    parallel = random.random() < 0.3
    step = AffineSchedule(fusion=fusion, outer_parallel=parallel, seconds=SCHEDULER_SECONDS)
    return first_legal(schedule, [step])


def fuse(random: Random, schedule: Schedule) -> Schedule | None:
    """Two loops that follow each other become one."""
    pairs = [
        pair
        for node in walk(schedule.tree)
        if isinstance(node, schedule_tree.Sequence)
        for pair in pairwise(node.children)
    ]
    found = [(a, b) for a, b in pairs if isinstance(a, Loop) and isinstance(b, Loop)]
    random.shuffle(found)
    return first_legal(
        schedule,
        (
            Fuse(_names(schedule, pair), shift="auto" if random.random() < 0.4 else "none")
            for pair in found
        ),
    )


def distribute(random: Random, schedule: Schedule) -> Schedule | None:
    """The parts of the body of a loop, or of a chain, get loops of their own."""
    found = [
        members[random.randrange(len(members)) :]
        for members in chains(schedule.tree)
        if isinstance(members[-1].body, schedule_tree.Sequence)
    ]
    random.shuffle(found)
    return first_legal(schedule, (Distribute(_names(schedule, members)) for members in found))


def interchange(random: Random, schedule: Schedule) -> Schedule | None:
    """Two loops of a chain change places."""
    return _per_chain(random, schedule, 2, _interchanges)


def _interchanges(
    random: Random, schedule: Schedule, members: Sequence[Loop]
) -> Iterator[Transformation]:
    pairs = _shuffled_pairs(random, len(members))
    if random.random() < TOWARDS_CONTIGUOUS and not is_contiguous(schedule, members[-1]):
        last = len(members) - 1
        pairs.sort(
            key=lambda pair: pair[1] != last or not is_contiguous(schedule, members[pair[0]])
        )
    for first, second in pairs:
        names = list(_names(schedule, members[first : second + 1]))
        names[0], names[-1] = names[-1], names[0]
        yield Interchange(tuple(names))


def reverse(random: Random, schedule: Schedule) -> Schedule | None:
    """A loop runs backwards."""
    found = list(loops(schedule.tree))
    random.shuffle(found)
    return first_legal(schedule, (Reverse(_names(schedule, [loop])) for loop in found))


def skew(random: Random, schedule: Schedule) -> Schedule | None:
    """A loop is skewed by one further out, or two loops become wavefronts."""
    return _per_chain(random, schedule, 2, _skews)


def _skews(random: Random, schedule: Schedule, members: Sequence[Loop]) -> Iterator[Transformation]:
    for first, second in _shuffled_pairs(random, len(members)):
        names = _names(schedule, members[first : second + 1])
        factor = random.choice((1, 1, 1, 2))
        if second == first + 1 and random.random() < 0.3:
            yield Wavefront(names, factors=(factor, 1))
        else:
            yield Skew(names, factors=(factor,) * (len(names) - 1))


def tile(random: Random, schedule: Schedule) -> Schedule | None:
    """Some loops of a chain are tiled, the outermost or the innermost of it more often."""
    return _per_chain(random, schedule, 1, _tiles)


def _tiles(random: Random, schedule: Schedule, members: Sequence[Loop]) -> Iterator[Transformation]:
    plain = [loop for loop in members if not loop.parallel]
    while True:
        count = random.choice((1, 2, 2, 2, 3, 3)) if len(plain) > 1 else 1
        count = min(count, len(plain))
        start = random.choice((0, len(plain) - count, random.randint(0, len(plain) - count)))
        names = _names(schedule, plain[start : start + count])
        yield Tile(names, sizes=tuple(random.choice(TILE_SIZES) for _ in names))


def wavefront_of_tiles(random: Random, schedule: Schedule) -> Schedule | None:
    """The outermost two loops of a chain run as wavefronts, the inner one in parallel."""
    found = [members for members in chains(schedule.tree) if len(members) > 2]
    random.shuffle(found)
    for members in found:
        names = _names(schedule, members[:2])
        skewed = first_legal(schedule, [Wavefront(names, factors=(1, 1))])
        if skewed is not None:
            parallel = first_legal(skewed, [Parallel(names[1:])])
            if parallel is not None:
                return parallel
    return None


def register_tile(random: Random, schedule: Schedule) -> Schedule | None:
    """Loops around innermost ones are unrolled and jammed; those over tiles are not."""
    return _per_chain(random, schedule, 2, _jams)


def _jams(random: Random, schedule: Schedule, members: Sequence[Loop]) -> Iterator[Transformation]:
    tiles = {loop.within.tile for loop in members if loop.within is not None}
    free = [
        loop
        for loop in members[-MOST_JAMMED:-1]
        if loop.unroll is None and not loop.parallel and loop.name not in tiles
    ]
    while free:
        factor = random.choice(REGISTER_TILE_SIZES)
        if copies(schedule.tree) * factor > MOST_COPIES:
            return
        yield UnrollAndJam(_names(schedule, [random.choice(free)]), factor=factor)


def pack(random: Random, schedule: Schedule) -> Schedule | None:
    """What one iteration of a loop uses of an array is copied, transposed now and then."""
    tiled = {loop.within.tile for loop in loops(schedule.tree) if loop.within is not None}
    around = [loop for loop in loops(schedule.tree) if loop.name in tiled]
    if not around:
        return None
    return first_legal(schedule, _packs(random, schedule, around))


def _packs(random: Random, schedule: Schedule, around: Sequence[Loop]) -> Iterator[Transformation]:
    while True:
        loop = random.choice(around)
        inside = {*schedule_tree.statements(loop)}
        arrays = sorted(
            {
                access.array.name: len(access.array.shape)
                for statement in schedule.scop.statements
                if statement.name in inside
                for access in statement.accesses
                if not access.array.is_local
            }.items()
        )
        if not arrays:
            return
        array, rank = random.choice(arrays)
        order = tuple(random.sample(range(rank), rank)) if random.random() < 0.3 else ()
        yield Pack(_names(schedule, [loop]), array=array, order=order)


def parallel(random: Random, schedule: Schedule) -> Schedule | None:
    """The outermost loop of a nest that can be, seldom one further in, runs in parallel."""
    result = None
    everywhere = random.random() < ALL_NESTS
    current = schedule
    for root in _roots(schedule.tree):
        found = list(chain(root))
        if len(found) > 1 and random.random() < 0.2:
            found = found[1:]
        changed = first_legal(current, (Parallel(_names(current, [loop])) for loop in found[:3]))
        if changed is not None:
            current = result = changed
            if not everywhere:
                break
    return result


def vectorize(random: Random, schedule: Schedule) -> Schedule | None:
    """Innermost loops run in the lanes of vectors."""
    return _innermost(random, schedule, _vectorizations)


def _vectorizations(random: Random, schedule: Schedule, loop: Loop) -> Iterator[Transformation]:
    if not is_contiguous(schedule, loop) and random.random() >= STRIDED_VECTORS:
        return
    names = _names(schedule, [loop])
    step = Vectorize(names).resolve(schedule)
    width = step.width or 2
    yield Vectorize(
        names, width=max(2, random.choice((width, width, width, width // 2, 2 * width)))
    )


def unroll(random: Random, schedule: Schedule) -> Schedule | None:
    """Innermost loops are unrolled by a factor."""
    return _innermost(random, schedule, _unrollings)


def _unrollings(random: Random, schedule: Schedule, loop: Loop) -> Iterator[Transformation]:
    room = MOST_COPIES // copies(schedule.tree)
    factors = [factor for factor in UNROLL_FACTORS if factor <= room]
    if factors:
        yield Unroll(_names(schedule, [loop]), factor=random.choice(factors))


def _innermost(random: Random, schedule: Schedule, propose: _ForLoop) -> Schedule | None:
    """A move on every innermost loop where it is legal, or on one of them."""
    found = [
        loop
        for loop in innermost_loops(schedule.tree)
        if not loop.parallel and loop.vector is None and loop.unroll is None
    ]
    if random.random() >= ALL_NESTS and found:
        found = [random.choice(found)]
    result = None
    for loop in found:
        current = result or schedule
        changed = first_legal(current, propose(random, current, loop))
        result = changed or result
    return result


def _per_chain(
    random: Random, schedule: Schedule, least: int, propose: _ForChain
) -> Schedule | None:
    """A move on every chain of at least so many loops where it is legal, or on one of them."""
    everywhere = random.random() < ALL_NESTS
    count = len(chains(schedule.tree))
    order = list(range(count))
    random.shuffle(order)
    result = None
    for position in order:
        current = result or schedule
        found = chains(current.tree)
        if len(found) != count:
            break
        members = found[position]
        if len(members) < least:
            continue
        changed = first_legal(current, propose(random, current, members))
        result = changed or result
        if changed is not None and not everywhere:
            break
    return result


def _roots(tree: Tree) -> list[Loop]:
    """The outermost loops; those inside of it where there is a single one around several."""
    match tree:
        case schedule_tree.Sequence(children):
            return [child for child in children if isinstance(child, Loop)]
        case Loop(body=schedule_tree.Sequence(children)):
            inner = [child for child in children if isinstance(child, Loop)]
            return [tree, *inner]
        case Loop():
            return [tree]
        case schedule_tree.Leaf():
            return []


def _shuffled_pairs(random: Random, count: int) -> list[tuple[int, int]]:
    pairs = [(first, second) for second in range(count) for first in range(second)]
    random.shuffle(pairs)
    return pairs


def _names(schedule: Schedule, members: Iterable[Loop]) -> tuple[str, ...]:
    return tuple(schedule.short_name(loop) for loop in members)
