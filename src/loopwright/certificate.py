# pyright: basic
"""Checks a certificate of `loopwright schedule --certificate`: is the loop nest the program?

This file and certificate_reader.py need islpy and nothing of the compiler. They read both texts,
compute all dependences anew, and prove for all sizes that each instance of each statement runs
exactly once and computes the same; that accesses to an element keep their order, or, where copies
come in, that each read sees the same last write; that partial results are begun, and combined once;
that no parallel or vector loop carries a dependence; that local arrays are accessed inside.
The format: docs/reference/certificates.md.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from argparse import ArgumentParser
from functools import reduce
from itertools import product
from pathlib import Path

import islpy as isl

if __package__:
    from .certificate_reader import Text, Values, require
else:  # Two files in a folder, without the compiler.
    from certificate_reader import Text, Values, require  # pyright: ignore[reportMissingImports]

FORMAT, VERSION, OPERATIONS = "loopwright certificate", 4, 500_000_000
SECONDS, BYTES = 300, 1 << 26  # Limits, as the number of operations.
_IN, _OUT = isl.dim_type.in_, isl.dim_type.out
# What partial results begin with; 0 where nothing is said.
_NEUTRAL = {"addf": "-0.000000e+00", "mulf": "1.000000e+00", "muli": 1, "andi": -1, "minui": -1}
_NEUTRAL |= {"maximumf": "-inf", "cmpmaxf": "-inf", "minimumf": "inf", "cmpminf": "inf"}
_NEUTRAL |= {"maxnumf": "nan", "minnumf": "nan"}
# The accesses, reads and writes, of copies, initialisations and combinations of partial results.
_ADDED = "rw", "w", "rrw"


def union(kind, parts):
    return reduce(kind.union, parts, kind("{}"))


def named(relation, one, other):
    """A relation of iterations as one of the accesses there."""
    return relation.set_tuple_name(_IN, one.name).set_tuple_name(_OUT, other.name)


def later(pairs, one, other, ties=False):
    """Of pairs of iterations, those whose first is at the later time, or at the same."""
    found = isl.Map.empty(pairs.get_space())
    for a, b in zip(one, other, strict=False):
        if a[0] == b[0] == "i":  # The same loop: what differs before it is gone.
            found = found.union(pairs.order_gt(_IN, int(a[1:]), _OUT, int(b[1:])))
            pairs = pairs.equate(_IN, int(a[1:]), _OUT, int(b[1:]))
        elif a != b:
            ties = int(a) > int(b)
            break
    return found.union(pairs) if ties else found


def neutral(kind, element):
    """The constant with which partial results of a reduction begin, as it is printed."""
    half = 1 << (int(element.strip("bfi")) - 1)
    value = (_NEUTRAL | {"maxsi": -half, "minsi": half - 1}).get(kind, 0)
    return ("false", "true")[value % 2] if element == "i1" else f"{value} : {element}"


class Check:
    """The proof that the nest is the program."""

    def __init__(self, data):
        self.is_fast, self.reordered, self.values = data["fast_math"] is True, set(), Values()
        self.program, self.nest = (Text(data, part, self.values) for part in ("program", "nest"))
        self.statements = {each.name: each for each in self.program.statements}
        require(len(self.statements) == len(self.program.statements), "statements of one name")
        self.sites = self.nest.statements
        for site in self.sites:
            site.origin = site.origin and self.statements[site.origin]
        self.calls, added = ([s for s in self.sites if bool(s.origin) is e] for e in (True, False))
        require({s.kinds for s in added} <= {*_ADDED}, "neither a statement nor a copy")
        self.copies, self.firsts, self.lasts = ([s for s in added if s.kinds == e] for e in _ADDED)
        every = (*self.program.statements, *self.sites)
        self.steps = {each: each.reduction(self.is_fast or not each.origin) for each in every}
        self.partials = {first.accesses[0].array for first in self.firsts}
        self.parts = {}  # A combination -> its partial result.
        for last in self.lasts:
            (part,) = (each for each in last.accesses if each.number not in self.steps[last][1])
            operation, operands = self.values.nodes[last.stored[0]]
            own = rf"arith.{self.steps[last][0]} .* : {part.element}"
            loads = {self.values.number(f"load {k}") for k in (0, 1)}
            is_one = {*operands} == loads and len({each.element for each in last.accesses}) == 1
            is_known = is_one and re.fullmatch(own, operation) and part.array in self.partials
            require(is_known, "a combination of something else")
            self.parts[last] = part
        # Which arrays of the program the places of an array of the nest stand for; None: copies.
        self.users: dict[str, set[str | None]]
        self.users = {f"_{array}": {f"_{array}"} for array in data["arrays"]}
        self._find_buffers()
        for copy in (each for each in self.copies if each.accesses[1].array not in self.buffers):
            for access in copy.accesses:
                self.users.setdefault(access.array, set()).add(None)
        self.events = {}  # The program's accesses, by name -> its instances, accesses of the nest.
        for site in self.calls:
            self._correspond(site, site.origin)
        # Instances that need not run: others compute the same, or they copy what is read elsewhere.
        same, run = data["same"].items(), {site.origin for site in self.calls}
        self.same = {self.statements[k]: self.statements[k].map(k, text) for k, text in same}
        left, plain = (s for s in self.program.statements if s not in run), [self.program.copied]
        self.left = [each for each in left if (each.kinds, each.stored) == ("rw", plain)]

    def _correspond(self, site, origin):
        """A statement of the nest computes what one of the program does, from the same accesses."""
        require(site.kinds == origin.kinds, f"accesses of {origin.name}")
        require(site.stored == origin.stored, f"something else than {origin.name} is computed")
        self.steps[site] = self.steps[site] if self.steps[site] == self.steps[origin] else ("", ())
        for access, other in zip(site.accesses, origin.accesses, strict=True):
            require(access.element == other.element, f"elements of {access.array}")
            ends = [*self.ends(site.instances.reverse(), access)]
            self.events[other.name] = self.events.get(other.name, []) + ends
            for array in (access.array, *(end.array for _, end in ends)):
                self.users.setdefault(array, set()).add(other.array)

    def _find_buffers(self):
        """Local arrays that copies alone write, outside of tiles, and the last copies for reads."""
        self.buffers = {copy.accesses[1].array for copy in self.copies} & set(self.nest.extents)
        for access in self.nest.accesses:
            is_copied = access.site in self.copies or not access.is_write
            if not is_copied or any(loop.size for loop in access.site.block.loops):
                self.buffers.discard(access.array)
        self.sources = self.flow(self.nest.accesses, self.buffers, {})
        copied = (isl.UnionSet(c.domain.set_tuple_name(c.accesses[1].name)) for c in self.copies)
        is_whole = self.sources.range().is_subset(union(isl.UnionSet, copied))
        require(is_whole, "an element is read that no copy has written")

    def ends(self, reached, access):
        """Where instances make an access: reads of copies, when these are made; what changes a
        partial result, when it is combined.
        """
        if access.array not in self.partials | self.buffers:
            yield reached, access
        for source, target in (copy.accesses for copy in self.copies):
            if access.array == target.array and access.array in self.buffers:
                event = isl.UnionMap(reached.set_tuple_name(_OUT, access.name))
                copied = isl.UnionSet(source.site.domain.set_tuple_name(target.name))
                last = event.apply_range(self.sources.intersect_range(copied))
                if not last.is_empty():
                    last = isl.Map.from_union_map(last).set_tuple_name(_OUT, source.site.name)
                    yield from self.ends(last, source)
        for last, part in self.parts.items():
            if access.array == part.array:
                place = access.place.apply_range(part.place.reverse())
                whole = last.accesses[self.steps[last][1][access.is_write]]
                yield from self.ends(reached.apply_range(place), whole)

    def run(self):
        for check in (self.check_coverage, self.check_extents, self.check_loops, self.check_same):
            check()
        for array in sorted(self.partials):
            self.check_partials(array)
        arrays = {access.array for access in self.program.accesses}
        others = {a.array for s in self.left for a in s.accesses}
        others |= {a.array for s in self.same for a in s.accesses if a.is_write}
        others |= {array for array in arrays - others if not self.is_direct(array)}
        for array in arrays - others:
            try:
                self.check_order(array)
            except ValueError:
                if not any(array in self.users.get(buffer, ()) for buffer in self.buffers):
                    raise
                others.add(array)  # The values of copies may be right, in whatever order.
        if others:
            self.check_dataflow(others)
        return self.reordered

    def check_coverage(self):
        """Every instance of every statement runs exactly once, and no other one."""
        for name, statement in self.statements.items():
            sites, groups = [site for site in self.calls if site.origin is statement], {}
            rest, parts = statement.domain, []
            for number, site in enumerate(sites):
                own = site.instances.reverse()
                require(own.domain().is_subset(rest), f"{name} runs where it does not")
                for one in sites[: number + 1]:
                    pairs = one.apart(site, one.instances.apply_range(own))
                    pairs = pairs if one is not site else pairs.subtract(site.domain.identity())
                    require(pairs.is_empty(), f"{name} runs twice")
                tiles = tuple((k, loop) for k, loop in enumerate(site.block.loops) if loop.size)
                begins = own.apply_range(site.map("", ", ".join(f"i{k}" for k, _ in tiles)))
                groups[tiles] = groups.get(tiles, begins).union(begins) if tiles else begins
                parts += [] if tiles else [own.domain()]
            groups.pop((), None)
            # Where tiles begin is unknown: what runs does so wherever among the last values.
            for tiles, begins in groups.items():
                last, first = (", ".join(f"{each}{k}" for k, _ in tiles) for each in "ij")
                each = " and ".join(f"i{k} - {loop.size} < j{k} <= i{k}" for k, loop in tiles)
                tile = isl.Map(f"{self.nest.space} -> {{ [{last}] -> [{first}] : {each} }}")
                missing = begins.lexmax().apply_range(tile).subtract(begins).domain()
                parts.append(begins.domain().subtract(missing))
            if statement in self.same or statement in self.left:
                continue
            for part in sorted(parts, key=isl.Set.n_basic_set):  # Simple ones leave less to others.
                rest = rest.subtract(part).coalesce()
            require(rest.is_empty(), f"{name} does not run: {rest}")

    def check_extents(self):
        """Local arrays are accessed inside their extents, arguments where the program does."""
        touched = (access.place.range() for access in self.program.accesses)
        inside = union(isl.UnionSet, (*touched, *self.nest.extents.values()))
        for access in self.nest.accesses:
            is_inside = isl.UnionSet(access.place.range()).is_subset(inside)
            require(is_inside, f"{access.array} is accessed outside")

    def check_loops(self):
        """No two iterations of a parallel loop conflict, and no lanes of a vector, in lockstep."""
        for one, other in product(self.sites, self.sites):
            for depth, loop in enumerate(one.block.loops):
                if loop not in other.block.loops or not loop.kind:
                    continue
                is_vector = loop.kind == " vector"
                inside = [*one.block.loops[depth + 1 :], *other.block.loops[depth + 1 :]]
                # Masks say which lanes run an iteration; but steps begin where the loop does.
                steps = [each for each in inside if each.size or " mod " in each.bounds]
                varies = any(re.search(rf"\bi{depth}\b", each.bounds) for each in steps)
                require(not (is_vector and varies), "lanes of a vector have different loops inside")
                is_free = one is not other and one.origin and other.origin
                for a, b, pairs in one.conflicts(other):
                    for outer in range(depth):
                        pairs = pairs.equate(_IN, outer, _OUT, outer)
                    pairs = pairs.order_lt(_IN, depth, _OUT, depth)
                    if is_vector:  # Behind the value of the loop.
                        own, theirs = (each.time[len(loop.time) :] for each in (a, b))
                        pairs = later(pairs, own, theirs, ties=True)
                        if is_free and not pairs.is_empty() and self.are_free(one, a, other, b):
                            self.reordered |= {one.origin.name, other.origin.name}
                            continue  # One statement takes all of its steps before the other.
                    require(pairs.is_empty(), f"a parallel or vector loop carries {a.array}")

    def check_same(self):
        """Instances compute what those do that stand for them, from values that are the same."""
        for site, first in self.same.items():
            is_earlier = later(first.reverse(), site.time, site.time).is_empty()
            is_known = is_earlier and first.range().is_subset(site.domain)
            require(is_known, f"no instance stands for {site.name}")
            accesses = [a for a in self.program.accesses if a.is_write or a.site is site]
            wanted = self.flow(accesses, {a.array for a in site.accesses}, {})
            wanted = self.settled(wanted, same=self.same)
            for access in site.accesses:
                own = isl.UnionSet(site.domain.set_tuple_name(access.name))
                own = wanted.intersect_domain(own)
                is_same = isl.UnionMap(named(first, access, access)).apply_range(own).is_subset(own)
                require(is_same, f"instances of {site.name} compute other values")

    def settled(self, found, copies=(), same=()):
        """Last writes; of copies, those of what they read; as those that stand for them."""
        link = [named(copy.domain.identity(), *copy.accesses[::-1]) for copy in copies]
        link = union(isl.UnionMap, link).apply_range(found)
        for write in (each for site in same for each in site.accesses if each.is_write):
            link = link.union(named(same[write.site], write, write))
        link = link.subtract(link.range().identity())
        for _ in (*copies, *same):
            found = found.subtract_range(link.domain()).union(found.apply_range(link))
        require(found.intersect_range(link.domain()).is_empty(), "copies of copies without end")
        return found

    def are_free(self, one, access, other, to):
        """Whether two accesses are of steps of a reduction that may change places."""
        (kind, first), (same, second) = self.steps[one], self.steps[other]
        return kind == same and access.number in first and to.number in second

    def is_direct(self, array):
        """Whether elements of an array stand for places of the nest one to one, without copies."""
        links, is_local = [], array in self.program.extents
        for access in (each for each in self.program.accesses if each.array == array):
            for reached, end in self.events.get(access.name, ()):
                element = reached.reverse().apply_range(access.place)
                if not is_local and not element.is_subset(end.place):
                    return False
                links += [element.reverse().apply_range(end.place)] if is_local else []
        link = union(isl.UnionMap, links)
        is_alone = all(users == {array} for users in self.users.values() if array in users)
        return is_alone and link.is_single_valued() and link.is_injective()

    def check_order(self, array):
        """Accesses to an element of which one is a write keep their order, but for reductions."""
        for one, other in product(self.program.statements, self.program.statements):
            for a, b, pairs in one.conflicts(other, array):
                is_free = self.are_free(one, a, other, b)
                pairs = later(pairs.reverse(), b.time, a.time).reverse()
                events = self.events.get(a.name, ()), self.events.get(b.name, ())
                for (reached, own), (to, end) in () if pairs.is_empty() else product(*events):
                    found = pairs.apply_domain(reached).apply_range(to)
                    wrong = own.site.apart(end.site, later(found, own.time, end.time))
                    is_kept = is_free or wrong.is_empty()
                    require(is_kept, f"{array}: accesses run in another order: {wrong}")
                    self.reordered |= set() if wrong.is_empty() else {one.name, other.name}

    def check_partials(self, array):
        """Partial results begin as neutral elements, and are combined once, after all steps."""
        uses, constants = ([], [], []), set()  # Initialisations, steps, combinations.
        for access in (each for each in self.nest.accesses if each.array == array):
            site, (kind, steps) = access.site, self.steps[access.site]
            stage = 0 if site in self.firsts else 2 if access is self.parts.get(site) else 1
            require(stage != 1 or access.number in steps, f"a use of {array}")
            uses[stage].append(access)
            constant = f"arith.constant {neutral(kind, access.element)}" if stage else ""
            constants.add(self.values.number(constant) if stage else site.stored[0])
            self.reordered |= {site.origin.name} if site.origin else set()
        is_neutral = len(constants) == 1 and array in self.nest.extents
        require(is_neutral, f"{array} begins as something else")
        places = [union(isl.UnionMap, (each.place for each in stage)) for stage in uses]
        is_once = places[0].is_injective() and places[2].is_injective()
        require(is_once, f"{array} is begun or combined twice")
        begun, changed, combined = (each.range() for each in places)
        is_whole = changed.is_subset(combined) and combined.is_subset(begun)
        require(is_whole, f"{array} is not begun or not combined")
        first, then, last = uses
        for a, b in (*product(first, then + last), *product(then, last)):
            pairs = a.site.apart(b.site, a.place.apply_range(b.place.reverse()))
            wrong = later(pairs, a.site.time, b.site.time, ties=True)
            require(wrong.is_empty(), f"{array} is used in another order")

    def check_dataflow(self, arrays):
        """Each read of the arrays sees the value of the same last write, through all copies."""
        places = {place for place, users in self.users.items() if users & {None, *arrays}}
        users = (s for s in self.sites if places & {access.array for access in s.accesses})
        is_known = not any(loop.size for site in users for loop in site.block.loops)
        require(is_known and not places & self.partials, "copies in tiles, or of partial results")
        program, nest = self.program.accesses, self.nest.accesses
        ends = {}  # Argument -> its elements that are accessed, by the nest as well.
        for access in program:
            if access.array in arrays - set(self.program.extents):
                known = ends.get(access.array, access.place.range())
                ends[access.array] = known.union(access.place.range()).coalesce()
        names = [union(isl.UnionSet, (each.place.range() for each in program + nest)).identity()]
        for site in self.calls:
            for own, other in zip(site.accesses, site.origin.accesses, strict=True):
                names.append(named(site.instances, own, other))
        names = union(isl.UnionMap, names)
        found = self.settled(self.flow(nest, places, ends), self.copies)
        found = self.settled(names.reverse().apply_range(found).apply_range(names), same=self.same)
        wanted = self.settled(self.flow(program, arrays, ends), self.left, self.same)
        # Each read is in `found`, and has one write in `wanted`: so a subset is the whole.
        is_same = found.is_subset(wanted)
        require(is_same, f"{', '.join(arrays)}: a read sees the value of another write")

    def flow(self, accesses, arrays, ends):
        """Reads and elements at the end -> their last writes, or the elements as they were."""
        accesses = [access for access in accesses if access.array in arrays]
        reads = [(name, name, (), each.identity()) for name, each in ends.items()]
        reads += [(a.name, a.array, a.time, a.place) for a in accesses if not a.is_write]
        writes, times, found = [a for a in accesses if a.is_write], isl.UnionMap("{}"), []
        width = max((len(write.time) for write in writes), default=0)
        for write in writes:
            time = [*write.time] + ["0"] * (width - len(write.time))
            time = write.site.map("", ", ".join(time)).set_tuple_name(_IN, write.name)
            times = times.union(time)
        for name, array, time, place in reads:
            place, pairs = place.set_tuple_name(_IN, name), isl.UnionMap("{}")
            for write in (write for write in writes if write.array == array):
                earlier = place.apply_range(write.place.reverse())
                earlier = later(earlier, time, write.time, ties=True)
                pairs = pairs.union(earlier.set_tuple_name(_OUT, write.name))
            last = pairs.apply_range(times).lexmax().apply_range(times.reverse())
            pairs = pairs.intersect(last).coalesce()
            found += [pairs, isl.UnionMap(place).subtract_domain(pairs.domain())]
        return union(isl.UnionMap, found)


def main(arguments=None):
    """Checks a file; returns the exit code."""
    parser = ArgumentParser(description="Checks a certificate of loopwright schedule.")
    parser.add_argument("file", help="what `loopwright schedule --certificate` has written")
    file = parser.parse_args(arguments).file
    child = os.fork()  # isl ends the process at some inputs.
    if not child:
        os._exit(verdict(file))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code not in (0, 1):
        print(f"{file}: rejected: isl took longer than {SECONDS} s, or ended the process ({code})")
    return int(code != 0)


def verdict(file):
    isl.DEFAULT_CONTEXT.set_max_operations(OPERATIONS)
    signal.alarm(SECONDS)  # Ends the process: Python runs no handler while isl computes.
    try:
        with Path(file).open("rb") as stream:
            data = json.loads(stream.read(BYTES))
        require((data["format"], data["version"]) == (FORMAT, VERSION), "another format")
        others = ", ".join(sorted(Check(data).run())) or "none"
        text = f"accepted; reductions in another order: {others}"
    except Exception as error:  # Whatever goes wrong, nothing is proved.
        text = f"rejected: {str(error) or type(error).__name__}"
    print(f"{file}: {text}", flush=True)
    return int(text.startswith("rejected"))


if __name__ == "__main__":
    sys.exit(main())
