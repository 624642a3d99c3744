"""Working sets of programs whose domains, tiles and accesses are boxes, without isl.

What runs between two instances is a union of boxes: the iterations of one loop between the two in
the same iteration of all loops further out, and so on inwards. An access takes boxes to boxes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from ....passes.polyhedral.reuses import Carrier, Group, paths
from ....passes.polyhedral.schedule_tree import Loop, Tree
from ....passes.polyhedral.scop import Access, Scop
from .box_statements import Digit, NotABoxError, Subscript, box_statement, loop_digit
from .boxes import Box, Interval, union_size

MOST_JUMPS = 64
"""Values that are tried for an iterator until it is left to isl."""

Time = tuple[int, ...]
"""When an instance runs: loops and places in sequences, outermost first."""


@dataclass(frozen=True)
class Couples:
    """Iterators of a source by those of a target.

    `tied` by subscripts, `{target: (source, distance)}`; `free` by common loops only.
    """

    tied: Mapping[int, tuple[int, int]]
    free: Mapping[int, int]


class BoxProgram:
    """A program under a schedule; raises NotABoxError where a set is no box.

    With `hull`, domains count as the boxes around them, a subscript of several iterators as used
    again by the next iteration of each, and reuses between loops that change places do not count.
    """

    def __init__(
        self, scop: Scop, tree: Tree, sizes: Mapping[str, int], *, hull: bool = False
    ) -> None:
        self.paths = paths(tree)
        self._arrays = scop.arrays
        self._hull = hull
        self._statements = {
            name: statement
            for name in self.paths
            if (statement := box_statement(scop, name, sizes, hull)) is not None
        }
        self._digits = {
            name: tuple(
                loop_digit(entry.schedule[name], sizes) if isinstance(entry, Loop) else entry
                for entry in self.paths[name]
            )
            for name in self._statements
        }

    def counts(
        self, group: Group, carrier: Carrier
    ) -> tuple[Mapping[str, int], Mapping[str, int]] | None:
        """Elements of each array from the first source to its first and last target; None: none."""
        if group.source not in self._statements or group.target not in self._statements:
            return None
        pairs = [
            (couples, point)
            for before, after in product(group.sources, group.targets)
            if (couples := self._couples(group, before, after, carrier)) is not None
            if (point := self._source(group, couples, carrier)) is not None
        ]
        if not pairs:
            return None
        first = min((point for _, point in pairs), key=lambda p: self._time(group.source, p))
        fixed = tuple((value, value) for value in first)
        targets = [
            self._time(group.target, end)
            for couples, _ in pairs
            if self._source(group, couples, carrier, fixed) is not None
            for end in self._targets(group, couples, carrier, first)
        ]
        begin = self._time(group.source, first)
        return self._touched(begin, min(targets)), self._touched(begin, max(targets))

    def _time(self, name: str, point: tuple[int, ...]) -> Time:
        return tuple(
            entry if isinstance(entry, int) else entry.of(point[entry.iterator])
            for entry in self._digits[name]
        )

    def _couples(
        self, group: Group, before: Access, after: Access, carrier: Carrier
    ) -> Couples | None:
        """Which iterators of source and target belong together; None: there is no reuse."""
        try:
            return self._exact_couples(group, before, after, carrier)
        except NotABoxError:
            if self._hull:
                return None
            raise

    def _exact_couples(
        self, group: Group, before: Access, after: Access, carrier: Carrier
    ) -> Couples | None:
        tied: dict[int, tuple[int, int]] = {}
        own = self._statements[group.source].subscripts[id(before)]
        its = self._statements[group.target].subscripts[id(after)]
        for one, other in zip(own, its, strict=True):
            if len(one) == 1 and len(other) == 1:
                if one != other:
                    return None
                continue
            if self._hull and len(one) > 2 and one == other:
                continue
            if len(one) != 2 or len(other) != 2 or one[0][1] != other[0][1]:
                raise NotABoxError
            (source, factor), (_, constant) = one
            (target, _), (_, its_constant) = other
            distance, rest = divmod(constant - its_constant, factor)
            if rest:
                return None
            if tied.setdefault(target, (source, distance)) != (source, distance):
                raise NotABoxError
        if len({source for source, _ in tied.values()}) != len(tied):
            raise NotABoxError
        free: dict[int, int] = {}
        for entry, its_entry in self._shared(group, carrier.depth):
            source, target = entry.iterator, its_entry.iterator
            if target in tied:
                if tied[target][0] != source:
                    raise NotABoxError
            elif free.setdefault(target, source) != source:
                raise NotABoxError
        taken = [source for source, _ in tied.values()]
        if len({*taken, *free.values()}) != len(taken) + len(free):
            raise NotABoxError
        return Couples(tied, free)

    def _shared(self, group: Group, depth: int) -> Iterator[tuple[Digit, Digit]]:
        """The loops around both, up to and with the carrier."""
        own, its = self._digits[group.source], self._digits[group.target]
        for one, other in zip(own[: depth + 1], its[: depth + 1], strict=False):
            if isinstance(one, Digit) and isinstance(other, Digit):
                yield one, other

    def _constraints(
        self, group: Group, target: int, carrier: Carrier
    ) -> tuple[list[tuple[Digit, Digit]], tuple[Digit, Digit] | None]:
        """What loops ask of an iterator of the target: to be the same, and to be later."""
        same: list[tuple[Digit, Digit]] = []
        later: tuple[Digit, Digit] | None = None
        for depth, (one, other) in enumerate(
            zip(self._digits[group.source], self._digits[group.target], strict=False)
        ):
            if depth > carrier.depth:
                break
            if isinstance(one, Digit) and isinstance(other, Digit) and other.iterator == target:
                if one.size != other.size:
                    raise NotABoxError
                if depth < carrier.depth:
                    same.append((one, other))
                else:
                    later = one, other
        return same, later

    def _source(
        self, group: Group, couples: Couples, carrier: Carrier, box: Box | None = None
    ) -> tuple[int, ...] | None:
        """The first instance of the source that has a target; in a box, by default in all."""
        tied, free = couples.tied, couples.free
        domain = self._statements[group.source].domain if box is None else box
        point = [low for low, _ in domain]
        its_domain = self._statements[group.target].domain
        for target, bounds in enumerate(its_domain):
            same, later = self._constraints(group, target, carrier)
            if target in tied:
                source, distance = tied[target]
                found = _first_tied(domain[source], bounds, distance, same, later)
            elif target in free:
                source = free[target]
                found = _first_free(domain[source], bounds, same, later)
            else:
                continue
            if found is None:
                return None
            point[source] = found
        return tuple(point)

    def _targets(
        self, group: Group, couples: Couples, carrier: Carrier, source: tuple[int, ...]
    ) -> Iterator[tuple[int, ...]]:
        """The first and the last target of an instance that has one."""
        tied, free = couples.tied, couples.free
        ends: list[Interval] = []
        for target, (low, high) in enumerate(self._statements[group.target].domain):
            if target in tied:
                its_source, distance = tied[target]
                low = high = source[its_source] + distance
            elif target in free:
                same, later = self._constraints(group, target, carrier)
                low, high = _room(source[free[target]], (low, high), same, later)
            ends.append((low, high))
        yield tuple(low for low, _ in ends)
        yield tuple(high for _, high in ends)

    def _touched(self, begin: Time, end: Time) -> dict[str, int]:
        """Different elements of each array from one time to another, both included."""
        boxes: dict[str, list[Box]] = {}
        for name, statement in self._statements.items():
            parts = list(_between(self._digits[name], statement.domain, begin, end))
            for access in statement.accesses:
                subscripts = statement.subscripts[id(access)][access.array.scope_depth :]
                found = boxes.setdefault(access.array.name, [])
                found += [tuple(_image(each, part) for each in subscripts) for part in parts]
        return {array.name: union_size(boxes.get(array.name, ())) for array in self._arrays}


def _between(
    digits: tuple[Digit | int, ...], domain: Box, begin: Time | None, end: Time | None
) -> Iterator[Box]:
    """The instances from one time to another as boxes; None is as early or late as can be."""
    box = list(domain)
    for depth, entry in enumerate(digits):
        first = None if begin is None or depth >= len(begin) else begin[depth]
        last = None if end is None or depth >= len(end) else end[depth]
        if first is None and last is None:
            break
        if isinstance(entry, int):
            if (first is not None and entry < first) or (last is not None and entry > last):
                return
            begin = begin if entry == first else None
            end = end if entry == last else None
            continue
        if first is not None and first == last:
            _cut(box, entry, first, first)
            continue
        # In the first and in the last iteration, not all runs.
        if first is not None:
            inside = list(box)
            _cut(inside, entry, first, first)
            yield from _rest(digits, depth, inside, begin, None)
        if last is not None:
            inside = list(box)
            _cut(inside, entry, last, last)
            yield from _rest(digits, depth, inside, None, end)
        _cut(
            box,
            entry,
            None if first is None else first + 1,
            None if last is None else last - 1,
        )
        break
    if all(low <= high for low, high in box):
        yield tuple(box)


def _rest(
    digits: tuple[Digit | int, ...],
    depth: int,
    box: list[Interval],
    begin: Time | None,
    end: Time | None,
) -> Iterator[Box]:
    """The same inside of one iteration of the loop at `depth`."""
    if any(low > high for low, high in box):
        return
    yield from _between(
        digits[depth + 1 :],
        tuple(box),
        None if begin is None else begin[depth + 1 :],
        None if end is None else end[depth + 1 :],
    )


def _cut(box: list[Interval], digit: Digit, first: int | None, last: int | None) -> None:
    """Leaves the values of an iterator for which the loop's value is between two others."""
    low, high = box[digit.iterator]
    if first is not None:
        low = max(low, digit.first(first))
    if last is not None:
        high = min(high, digit.first(last + 1) - 1)
    box[digit.iterator] = low, high


def _image(subscript: Subscript, box: Box) -> Interval:
    low = high = 0
    for iterator, factor in subscript:
        if iterator < 0:
            low, high = low + factor, high + factor
        else:
            ends = factor * box[iterator][0], factor * box[iterator][1]
            low, high = low + min(ends), high + max(ends)
    return low, high


def _first_tied(
    own: Interval,
    its: Interval,
    distance: int,
    same: list[tuple[Digit, Digit]],
    later: tuple[Digit, Digit] | None,
) -> int | None:
    """The least x with `y = x + distance` in its bounds, the same and later where loops ask so."""
    value, last = max(own[0], its[0] - distance), min(own[1], its[1] - distance)
    for _ in range(MOST_JUMPS):
        before = value
        for one, other in same:
            step = distance + other.shift - one.shift
            rest = (value + one.shift) % one.size
            if abs(step) >= one.size:
                return None
            if rest + step >= one.size:
                value += one.size - rest
            elif rest + step < 0:
                value += -step - rest
        if later is not None:
            one, other = later
            step = distance + other.shift - one.shift
            rest = (value + one.shift) % one.size
            if step <= 0:
                return None
            if rest + step < one.size:
                value += one.size - step - rest
        if value > last:
            return None
        if value == before:
            return value
    raise NotABoxError


def _first_free(
    own: Interval,
    its: Interval,
    same: list[tuple[Digit, Digit]],
    later: tuple[Digit, Digit] | None,
) -> int | None:
    """The least x for which there is a y in its bounds, the same and later where loops ask so."""
    if later is not None and any(
        later[0].size % one.size == 0
        and (later[0].shift - one.shift) % one.size == 0
        and later[1].shift - later[0].shift == other.shift - one.shift
        for one, other in same
    ):
        return None
    value = own[0]
    for _ in range(MOST_JUMPS):
        if value > own[1]:
            return None
        low, high = _room(value, its, same, later)
        if low <= high:
            return value
        # Nothing changes until one of the loops goes on.
        digits = [one for one, _ in (*same, *([] if later is None else [later]))]
        if not digits:
            return None
        value = min(digit.first(digit.of(value) + 1) for digit in digits)
    raise NotABoxError


def _room(
    value: int,
    its: Interval,
    same: list[tuple[Digit, Digit]],
    later: tuple[Digit, Digit] | None,
) -> Interval:
    """The values of y that go with a value of x."""
    low, high = its
    for one, other in same:
        place = one.of(value)
        low, high = max(low, other.first(place)), min(high, other.first(place + 1) - 1)
    if later is not None:
        one, other = later
        low = max(low, other.first(one.of(value) + 1))
    return low, high
