# pyright: basic
"""Checks a certificate of `loopwright schedule --certificate`: is the loop nest the program?

This file and certificate_reader.py need islpy and nothing of the compiler. They read both texts,
compute all dependences anew, and prove for all sizes that each instance of each statement runs
exactly once and computes the same; that accesses to an element keep their order, or, where copies
come in, that each read sees the same last write; that partial results are begun, and combined once;
that no parallel or vector loop carries a dependence; and that local arrays are accessed inside
their extents. The format: docs/reference/certificates.md.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from argparse import ArgumentParser
from functools import reduce
from itertools import chain, groupby, product
from pathlib import Path

import islpy as isl

if __package__:
    from .certificate_reader import Text, require, split
else:  # Two files in a folder, without the compiler.
    from certificate_reader import Text, require, split  # pyright: ignore[reportMissingImports]

FORMAT, VERSION, OPERATIONS = "loopwright certificate", 2, 500_000_000
SECONDS, BYTES = 300, 1 << 26  # Limits, as the number of operations.
_IN, _OUT = isl.dim_type.in_, isl.dim_type.out
# What may be accumulated, exactly in any order or not; through which operands of an operation.
_EXACT = re.findall(r"\w+", "addi muli maximumf minimumf maxsi maxui minsi minui andi ori xori")
_INEXACT = re.findall(r"\w+", "addf mulf maxnumf minnumf cmpmaxf cmpminf")
_STEPS = {f"arith.{kind}": (kind, 0, 1) for kind in (*_EXACT, *_INEXACT)}
_STEPS |= {"arith.subf": ("addf", 0), "math.fma": ("addf", 2), "arith.subi": ("addi", 0)}
# Which accesses are writes: those of copies, initialisations and combinations of partial results.
_ADDED = (False, True), (True,), (False, False, True)


def union(kind, parts):
    return reduce(kind.union, parts, kind("{}"))


def later(pairs, one, other, ties=False):
    """Of pairs of iterations, those whose first is at the later time, or at the same."""
    found = isl.Map.empty(pairs.get_space())
    for a, b in zip(one, other, strict=False):
        if a[0] == b[0] == "i":  # The same loop: what differs before it is gone.
            found = found.union(pairs.order_gt(_IN, int(a[1:]), _OUT, int(b[1:])))
            pairs = pairs.equate(_IN, int(a[1:]), _OUT, int(b[1:]))
        elif a != b:  # In two branches of a condition, which meet in no iteration, any.
            ties = "i" in a + b or int(a) > int(b)
            break
    return found.union(pairs) if ties else found


def neutral(kind, element):
    """The constant with which partial results of a reduction begin, as it is printed."""
    bits = int(element.strip("bfi"))
    infinity = {32: 0x7F800000, 64: 0x7FF0 << 48}.get(bits, 0)
    values: dict = {"addf": "-0.000000e+00", "mulf": "1.000000e+00", "minimumf": hex(infinity)}
    values |= dict.fromkeys(("maximumf", "cmpmaxf"), hex(infinity | 1 << (bits - 1)))
    values |= {"cmpminf": hex(infinity), "maxsi": -(1 << (bits - 1))}
    quiet = {32: 1 << 22}.get(bits, 1 << 51)
    values |= dict.fromkeys(("maxnumf", "minnumf"), hex(infinity | quiet))
    values |= {"minsi": (1 << (bits - 1)) - 1, "muli": 1, "andi": -1, "minui": -1}
    value = values.get(kind, 0)
    require(infinity or isinstance(value, int) or value[0] != "0", f"{kind} of {element}")
    return ("false", "true")[value % 2] if element == "i1" else f"{value} : {element}"


class Statement:
    """Stores that run together; in the nest, `instances` of the `origin`, or a copy without one."""

    def __init__(self, text, name, stores, origin=None):
        self.text, self.name, self.origin, self.block = text, name, origin, stores[0].block
        require(all(store.block is self.block for store in stores), f"{name}: several blocks")
        self.values, self.nodes = [store.value for store in stores], {}
        for value in self.values:
            self._reach(value)
        accesses = [n.access for n in self.nodes.values() if n.template == "load"]
        accesses += [store.access for store in stores]
        self.accesses = sorted(accesses, key=lambda access: access.number)
        self.kinds = tuple(access.is_write for access in self.accesses)
        conditions = " and ".join(["1=1", *self.block.conditions])
        self.domain = isl.Set(self.written("", f" : {conditions}")).intersect_params(text.context)
        self.pairs = [(a, self.map(f"{a.array}[{', '.join(a.subscripts)}]")) for a in self.accesses]
        self.places = {access.number: place for access, place in self.pairs}
        self.time = stores[0].access.time
        start, _, arguments = stores[0].instance
        if origin is not None:
            require(len(arguments) == len(origin.block.loops), f"instances of {origin.name}")
            self.instances = self.map(f"{origin.name}[{', '.join(arguments)}]")
        own = (a.time[:-1] == [*self.block.time] and a.number > start for a in self.accesses)
        require(start < 0 or all(own), f"accesses of {name} in other blocks")

    def _reach(self, node):
        for each in node.operands if id(node) not in self.nodes else ():
            self._reach(each)
        self.nodes[id(node)] = node

    def written(self, target, rest=""):
        dims = ", ".join(f"i{k}" for k in range(len(self.block.loops)))
        return f"{self.text.space} -> {{ {self.name}[{dims}]{target and ' -> '}{target}{rest} }}"

    def map(self, target):
        return isl.Map(self.written(target)).intersect_domain(self.domain)

    def timed(self, time):
        return self.map(f"[{', '.join([*time] + ['0'] * (self.text.width - len(time)))}]")

    def event(self, p, relation):
        return isl.UnionMap(relation.set_tuple_name(_IN, f"{self.name}_{p}"))

    def conflicts(self, other, array=None):
        """Accesses to the same array, one of them a write, with the pairs of instances."""
        for (a, at), (b, to) in product(self.pairs, other.pairs):
            if a.array == b.array and array in (None, a.array) and (a.is_write or b.is_write):
                yield a, b, self.apart(other, at.apply_range(to.reverse()))

    def apart(self, other, pairs):
        """Of pairs of iterations, those of tiles that are the same or at least their size apart."""
        same, cases = ["1=1"], []
        for k, loop in enumerate(self.block.loops):
            if loop.size and loop in other.block.loops:
                apart = f"i{k} >= j{k} + {loop.size}", f"j{k} >= i{k} + {loop.size}"
                cases += [" and ".join([*same, each]) for each in apart]
                same.append(f"i{k} = j{k}")
        target = f"{other.name}[{', '.join(f'j{k}' for k in range(len(other.block.loops)))}]"
        condition = " or ".join([*cases, " and ".join(same)])
        return (
            pairs.intersect(type(pairs)(self.written(target, f" : {condition}")))
            if cases
            else pairs
        )

    def reduction(self, is_fast):
        """What is accumulated, and the accesses for it, if steps may be reordered."""
        nodes, top = self.nodes.values(), self.values[0]
        store = next(a for a in self.accesses if a.is_write)
        same = [n for n in nodes if n.template == "load" and n.access[1:3] == store[1:3]]
        if len(self.values) != 1 or len(same) != 1 or same[0].access.time[:-1] != store.time[:-1]:
            return "", ()
        kind, found, node = _STEPS.get(top.template.split()[0], ("",))[0], [], same[0]
        while node is not top:  # Only operations of this kind use it on the way, each once.
            users = [(n, k) for n in nodes for k, each in enumerate(n.operands) if each is node]
            own, *passing = _STEPS.get(users[0][0].template.split()[0], ("",))
            if len(users) != 1 or own != kind or users[0][1] not in passing:
                return "", ()
            found.append(node := users[0][0])
        flags = [re.search(r"fastmath<(.*?)>", node.template) for node in found]
        free = all(each and {"fast", "reassoc"} & set(split(each[1])) for each in flags)
        free = found and (free or is_fast or kind in _EXACT)
        return (kind, (same[0].access, store)) if free else ("", ())


class Check:
    """The proof that the nest is the program."""

    def __init__(self, data):
        parameters, texts = data["parameters"], (data["program"], data["nest"])
        require(texts[0][0] == texts[1][0], "program and nest have other arguments")
        self.is_fast, self.reordered, self.table = data["fast_math"] is True, set(), {}
        names = *parameters, *data["tile_sizes"]
        is_known = len(names) == len({*names}) and all(re.match("[A-Za-z]", name) for name in names)
        require(is_known, "names of parameters")
        own = parameters, data["tile_sizes"]
        self.program, self.nest = Text(texts[0], *own, "p"), Text(texts[1], *own, "n")
        self.nest.context = self.program.context
        self.program.width = self.nest.width = max(self.program.width, self.nest.width)
        stores, self.statements, self.sites = self.program.stores, {}, []
        numbers = sorted(number for each in data["statements"].values() for number in each)
        require(numbers == [*range(len(stores))], "the statements are not the program's stores")
        for name, own in data["statements"].items():
            own = [stores[number] for number in own]
            require(re.fullmatch(r"S\w*", name), f"the name {name}")  # None of an array.
            self.statements[name] = Statement(self.program, name, own)
        for (start, name, _), own in groupby(self.nest.stores, lambda store: store.instance):
            require(start >= 0, "a store of no instance")
            origin = name and self.statements[name]
            self.sites.append(Statement(self.nest, f"_{len(self.sites)}", [*own], origin))
        self.calls, added = ([s for s in self.sites if bool(s.origin) is e] for e in (True, False))
        self.copies, self.firsts, self.lasts = ([s for s in added if s.kinds == e] for e in _ADDED)
        require(all(site.kinds in _ADDED for site in added), "neither a statement nor a copy")
        # Arrays of partial results, and the program's arrays that these are combined into.
        self.partials, self.moved = {first.accesses[0].array for first in self.firsts}, set()
        self.parts = {}  # A combination -> its load and store, its partial result.
        for last in self.lasts:
            kind, step = last.reduction(True)
            parts = [access for access in last.accesses if access not in step]
            is_plain = len(parts) == 1 and parts[0].array in self.partials
            is_plain &= {each.template for each in last.values[0].operands} == {"load"}
            operation = last.values[0].template
            is_plain &= operation.startswith(f"arith.{kind} ")
            is_plain &= operation.endswith(f" : {self.nest.elements[last.accesses[0].array]}")
            require(is_plain, "a combination of something else than partial results")
            self.parts[last] = step, parts[0]
        # Which arrays of the program the places of an array of the nest stand for; None: copies.
        self.users = {array: {array} for array in self.program.arrays}
        for copy in self.copies:
            for access in copy.accesses:
                self.users.setdefault(access.array, set()).add(None)
        for site in self.calls:
            require(site.kinds == site.origin.kinds, f"accesses of {site.origin.name}")
            own = site.instances.reverse()
            site.ends = [[*self.ends(own, site, access)] for access in site.accesses]
            site.when = [(own, site, None)], site.ends[site.kinds.index(True)]
            for own, ends, other in zip(
                site.accesses, site.ends, site.origin.accesses, strict=True
            ):
                kinds = self.nest.elements[own.array], self.program.elements[other.array]
                require(kinds[0] == kinds[1], f"elements of {own.array}")
                for array in (access.array for _, _, access in ends):
                    self.users.setdefault(array, set()).add(other.array)
                self.moved |= {other.array} if own.array in self.partials else set()
        for site in added:
            kinds = {self.nest.elements[access.array] for access in site.accesses}
            require(len(kinds) == 1, f"elements of {site.accesses[0].array}")

    def ends(self, reached, site, access):
        """Where instances make an access: what changes a partial result, when it is combined."""
        if access.array not in self.partials:
            yield reached, site, access
        for last, (step, part) in self.parts.items():
            if access.array == part.array:
                place = site.places[access.number].apply_range(last.places[part.number].reverse())
                yield from self.ends(reached.apply_range(place), last, step[access.is_write])

    def run(self):
        for check in (self.check_values, self.check_coverage, self.check_extents, self.check_loops):
            check()
        for array in sorted(self.partials):
            self.check_partials(array)
        direct = {array for array in self.program.arrays if self.is_direct(array)}
        for array in direct:
            self.check_order(array)
        if others := set(self.program.arrays) - direct:
            self.check_dataflow(others)
        return self.reordered

    def numbers(self, statement, load, index):
        """The numbers of stored values: equal where the same is computed from the same loads."""
        found = {}
        for key, node in statement.nodes.items():
            if node.template in ("load", "index"):
                found[key] = (load if node.template == "load" else index)(statement, node.access)
            else:
                value = node.template, *(found[id(each)] for each in node.operands)
                found[key] = self.table.setdefault(value, len(self.table))
        return [found[id(value)] for value in statement.values]

    def copied_value(self, copy, value):
        """What a copy makes of a value; without a copy, the value."""
        if copy is None:
            return value
        return self.numbers(copy, lambda *_: value, lambda *_: require(False, "a copied index"))[0]

    def check_values(self):
        """Each statement of the nest computes what that of the program does from its loads."""
        copies = {}  # Array -> one of the copies to it, which all make the same of a value.
        for site in (*self.copies, *self.calls):
            copy = None if site.origin else site
            value = self.copied_value(copy, "x")
            for array in (access.array for access in site.accesses if access.is_write):
                same = value == self.copied_value(copies.setdefault(array, copy), "x")
                require(same and (value == "x" or array in self.nest.extents), f"copies to {array}")
        copied = (self.copied_value(copies.get(c.accesses[0].array), "x") for c in self.copies)
        require({*copied} <= {"x"}, "a copy of products")

        def load(statement, access):
            number = f"load {statement.accesses.index(access)}"
            return self.copied_value(copies.get(access.array), number)

        for site in self.calls:
            to_origin = isl.PwMultiAff.from_map(site.instances)

            def index(statement, text, site=site, to_origin=to_origin):
                value = isl.PwAff(statement.written(f"[{text}]"))
                value = value if statement is site else value.pullback_pw_multi_aff(to_origin)
                return str(value.gist(site.domain).coalesce())

            own, wanted = (self.numbers(each, load, index) for each in (site, site.origin))
            require(own == wanted, f"the nest computes something else than {site.origin.name}")

    def check_coverage(self):
        """Every instance of every statement runs exactly once, and no other one."""
        for name, statement in self.statements.items():
            rest, sites, parts, groups = statement.domain, [], [], {}
            for site in (site for site in self.calls if site.origin is statement):
                require(site.instances.range().is_subset(rest), f"{name} runs where it does not")
                for one in (*sites, site):
                    pairs = one.apart(site, one.instances.apply_range(site.instances.reverse()))
                    pairs = pairs if one is not site else pairs.subtract(site.domain.identity())
                    require(pairs.is_empty(), f"{name} runs twice")
                sites.append(site)
                loops = [(k, loop) for k, loop in enumerate(site.block.loops) if loop.size]
                begins = site.map(f"[{', '.join(f'i{k}' for k, _ in loops)}]")
                begins = site.instances.reverse().apply_range(begins)
                groups.setdefault(tuple(loop for _, loop in loops), []).append(begins)
            # Where tiles begin is unknown: an instance runs if it does in any with its value.
            for loops, begins in groups.items():
                if not loops:
                    parts += [each.domain() for each in begins]
                    continue
                whole, tiles = reduce(isl.Map.union, begins), isl.Map.from_domain(statement.domain)
                dims = ", ".join(f"i{k}" for k in range(len(loops)))
                for k, loop in enumerate(loops):
                    last = whole.apply_range(isl.Map(f"{{ [{dims}] -> [i{k}] }}")).lexmax()
                    tile = f"{{ [last] -> [i] : last - {loop.size} < i <= last }}"
                    tile = isl.Map(f"{self.nest.space} -> {tile}")
                    tiles = tiles.flat_range_product(last.apply_range(tile))
                parts.append(whole.domain().subtract(tiles.subtract(whole).domain()))
            for part in sorted(parts, key=isl.Set.n_basic_set):  # Simple ones leave less to others.
                rest = rest.subtract(part).coalesce()
            require(rest.is_empty(), f"{name} does not run: {rest.sample_point()}")

    def check_extents(self):
        """Local arrays are accessed inside their extents, arguments where the program does."""
        touched = (place.range() for each in self.statements.values() for _, place in each.pairs)
        inside = union(isl.UnionSet, (*touched, *self.nest.extents.values()))
        for access, place in (pair for site in self.sites for pair in site.pairs):
            is_inside = isl.UnionSet(place.range()).is_subset(inside)
            require(is_inside, f"{access.array} is accessed outside")

    def check_loops(self):
        """No two iterations of a parallel loop conflict, and no lanes of a vector, in lockstep."""
        for one, other in product(self.sites, self.sites):
            for depth, loop in enumerate(one.block.loops):
                if loop not in other.block.loops or not (loop.parallel or loop.vector):
                    continue
                bounds = [each.bounds for s in (one, other) for each in s.block.loops[depth + 1 :]]
                fixed = not any(re.search(rf"\bi{depth}\b", each) for each in bounds)
                require(loop.parallel or fixed, "lanes of a vector have different loops inside")
                for a, b, pairs in one.conflicts(other):
                    for outer in range(depth):
                        pairs = pairs.equate(_IN, outer, _OUT, outer)
                    pairs = pairs.order_lt(_IN, depth, _OUT, depth)
                    if not loop.parallel:
                        own, theirs = (each.time[loop.depth + 1 :] for each in (a, b))
                        pairs = later(pairs, own, theirs, ties=True)
                    require(pairs.is_empty(), f"a parallel or vector loop carries {a.array}")

    def is_direct(self, array):
        """Whether elements of an array stand for places of the nest one to one, without copies."""
        is_local = array in self.program.extents
        links = []
        for site in self.calls:
            for (access, place), ends in zip(site.origin.pairs, site.ends, strict=True):
                for reached, end, own in ends if access.array == array else ():
                    element = place.intersect_domain(reached.domain())
                    own = reached.apply_range(end.places[own.number])
                    if not is_local and not own.is_equal(element):
                        return False
                    links += [element.reverse().apply_range(own)] if is_local else []
        link = union(isl.UnionMap, links)
        is_alone = all(users == {array} for users in self.users.values() if array in users)
        return is_alone and link.is_single_valued() and link.is_injective()

    def check_order(self, array):
        """Accesses to an element of which one is a write keep their order, but for reductions."""
        order = {}  # The names of reductions, of their steps, or none -> pairs in program order.
        steps = {each: each.reduction(self.is_fast) for each in self.statements.values()}
        for (one, (kind, first)), (other, (same, second)) in product(steps.items(), steps.items()):
            for a, b, pairs in one.conflicts(other, array):
                ordered = later(pairs.reverse(), b.time, a.time).reverse()
                names = (one.name, other.name) if a in first and b in second else ()
                names = frozenset(names if kind == same else ())
                moved = [
                    each in step and bool(self.partials) for each, step in ((a, first), (b, second))
                ]
                order.setdefault((names, *moved), []).append(ordered)
        order = [(names, union(isl.UnionMap, each).coalesce()) for names, each in order.items()]
        for ((names, *moved), pairs), a, b in product(order, self.calls, self.calls):
            for (reached, one, _), (to, other, _) in product(a.when[moved[0]], b.when[moved[1]]):
                found = pairs.apply_domain(reached).apply_range(to)
                if not found.is_empty():
                    wrong = later(isl.Map.from_union_map(found), one.time, other.time)
                    wrong = one.apart(other, wrong)
                    is_kept = names or wrong.is_empty()
                    require(is_kept, f"{array}: accesses run in another order: {wrong}")
                    self.reordered |= set() if wrong.is_empty() else names

    def check_partials(self, array):
        """Partial results begin as neutral elements, and are combined once, after all steps."""
        uses, kinds = ([], [], []), set()  # Initialisations, steps, combinations.
        for site in self.sites:
            kind, step = site.reduction(site.origin is None or self.is_fast)
            wanted = site.origin.reduction(self.is_fast)[1] if site.origin else step
            others = (site.origin or site).accesses
            for (access, place), other in zip(site.pairs, others, strict=True):
                if access.array == array:
                    stage = 0 if site in self.firsts else 1 if access in step else 2
                    is_step = stage == 1 and other in wanted
                    require(is_step or (stage != 1 and not site.origin), f"a use of {array}")
                    uses[stage].append((site, place))
                    self.reordered |= {site.origin.name} if site.origin else set()
                    kinds |= {kind} if stage else set()
        (kind,) = kinds
        constant = f"arith.constant {neutral(kind, self.nest.elements[array])}"
        is_neutral = all(site.values[0].template == constant for site, _ in uses[0])
        require(is_neutral and array in self.nest.extents, f"{array} begins as something else")
        ranges = [union(isl.UnionSet, (place.range() for _, place in each)) for each in uses]
        for (_, one), (_, other) in chain(product(uses[0], uses[0]), product(uses[2], uses[2])):
            apart = one.is_injective() if one is other else one.range().is_disjoint(other.range())
            require(apart, f"{array} is begun or combined twice")
        is_whole = ranges[1].is_subset(ranges[2]) and ranges[2].is_subset(ranges[0])
        require(is_whole, f"{array} is not begun or not combined")
        for first, then in ((0, 1), (0, 2), (1, 2)):
            for (one, at), (other, to) in product(uses[first], uses[then]):
                pairs = one.apart(other, at.apply_range(to.reverse()))
                wrong = later(pairs, one.time, other.time, ties=True)
                require(wrong.is_empty(), f"{array} is used in another order")

    def check_dataflow(self, arrays):
        """Each read of the arrays sees the value of the same last write, through all copies."""
        places = {place for place, users in self.users.items() if users & {None, *arrays}}
        users = (site for site in self.sites if places & {access.array for access in site.accesses})
        is_known = not any(loop.size for site in users for loop in site.block.loops)
        require(is_known and not arrays & self.moved, "copies in tiles, or of partial results")
        program = [pair for each in self.statements.values() for pair in each.pairs]
        every = program + [pair for each in self.sites for pair in each.pairs]
        elements = union(isl.UnionSet, (place.range() for _, place in every))
        ends = {}  # Argument -> its elements that are accessed, by the nest as well.
        for access, place in program:
            if access.array in arrays - set(self.program.extents):
                known = ends.get(access.array, place.range())
                ends[access.array] = known.union(place.range()).coalesce()
        names = [elements.identity()]
        for site, p in ((s, p) for s in self.calls for p in range(len(s.accesses))):
            target = site.instances.set_tuple_name(_OUT, f"{site.origin.name}_{p}")
            names.append(site.event(p, target))
        sources = ((c, c.domain.identity()) for c in self.copies)
        link = [c.event(1, each.set_tuple_name(_OUT, f"{c.name}_0")) for c, each in sources]
        link, names = union(isl.UnionMap, link), union(isl.UnionMap, names)
        direct = found = self.flow(self.sites, places, ends)
        for _ in self.copies:
            through = found.apply_range(link).apply_range(direct)
            found = found.subtract_range(link.domain()).union(through)
        # Each read is in `found`, and has one write in `wanted`: so a subset is the whole.
        wanted = self.flow(self.statements.values(), arrays, ends)
        is_same = names.reverse().apply_range(found).apply_range(names).is_subset(wanted)
        is_same &= found.intersect_range(link.domain()).is_empty()
        require(is_same, f"{', '.join(arrays)}: a read sees the value of another write")

    def flow(self, statements, arrays, ends):
        """Reads and elements at the end -> their last writes, or the elements as they were."""
        uses = [(s, p, a, place) for s in statements for p, (a, place) in enumerate(s.pairs)]
        writes = [use for use in uses if use[2].is_write and use[2].array in arrays]
        times = union(isl.UnionMap, (s.event(p, s.timed(a.time)) for s, p, a, _ in writes))
        reads = [(name, name, (), each.identity()) for name, each in ends.items()]
        for s, p, access, place in uses:
            if access.array in arrays and not access.is_write:
                reads.append((f"{s.name}_{p}", access.array, access.time, place))
        found = []
        for name, array, time, place in reads:
            place, pairs = place.set_tuple_name(_IN, name), isl.UnionMap("{}")
            for s, p, access, to in writes:
                if access.array == array:
                    earlier = later(place.apply_range(to.reverse()), time, access.time, ties=True)
                    pairs = pairs.union(earlier.set_tuple_name(_OUT, f"{s.name}_{p}"))
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
