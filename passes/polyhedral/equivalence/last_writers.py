"""Array dataflow: for each read of a program, and for what it leaves behind, the last writer."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import reduce

import islpy as isl
from xdsl.ir.affine import AffineMap

from ..array_dataflow import ArrayAccesses
from ..isl_context import coalesced
from ..schedule_tree import Leaf, Sequence
from ..scop import Access, AccessKind, Array, Scop, Statement
from ..unimodular import UnimodularStatements
from .terms import Input, Load, Term, Undefined, stored_terms

_IN, _OUT, _SET = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set


@dataclass(frozen=True, eq=False)
class Source:
    """Where instances of a read find their value: a term, and the instance that computes it.

    `relation` leads from instances of the reading statement to those of the term's statement, or
    to elements of the argument.
    """

    term: Term
    relation: isl.Map


@dataclass(eq=False)
class LastWriters:
    """The last writers of all that a program reads.

    `outputs` are the sets of elements of arrays that are read when the program has ended.
    """

    program: Scop
    outputs: list[tuple[Array, isl.Set]]
    _found: dict[Access, list[Source]] = field(
        default_factory=dict[Access, list[Source]], init=False
    )
    _accesses: dict[Array, ArrayAccesses] = field(
        default_factory=dict[Array, ArrayAccesses], init=False
    )

    def __post_init__(self) -> None:
        taken = {statement.name for statement in self.program.statements}
        self.ends = [_end(self.program, array, elements, taken) for array, elements in self.outputs]
        statements = [end.statement for end in self.ends]
        self.scop = replace(
            self.program,
            statements=(*self.program.statements, *statements),
            tree=Sequence((self.program.tree, *(Leaf(each.name) for each in statements))),
        )
        self._statements = UnimodularStatements(self.scop)
        self._by_name = {statement.name: statement for statement in self.scop.statements}
        self._stored = {s.name: stored_terms(s) for s in self.program.statements}

    def sources(self, load: Load) -> list[Source]:
        """Where a load finds its value; their domains are all instances of its statement."""
        found = self._found.get(load.access)
        if found is None:
            found = self._found[load.access] = self._compute(load.statement, load.access)
        return found

    def _compute(self, statement: Statement, read: Access) -> list[Source]:
        found: list[Source] = []
        rest = read.relation
        earlier = statement.accesses[: statement.accesses.index(read)]
        for store in _stores(earlier, read.array):
            hit = rest.intersect(store.relation)
            if not hit.is_empty():
                same = hit.domain().identity()
                found.append(Source(self._stored[statement.name][store], same))
                rest = rest.subtract(hit)
        if rest.is_empty():
            return found
        unwritten = rest.domain()
        for part in self._last_before(read.array, rest):
            unwritten = unwritten.subtract(part.domain())
            found += self._by_store(rest, read.array, part)
        if not unwritten.is_empty():
            found.append(self._initial(read.array, rest.intersect_domain(unwritten)))
        return found

    def _last_before(self, array: Array, read: isl.Map) -> list[isl.Map]:
        """`{ S[i] -> T[j] }`: the last instance that has written the element, by statement."""
        if array not in self._accesses:
            self._accesses[array] = ArrayAccesses(self.scop, array, self._statements)
        accesses = self._accesses[array]
        if accesses.writes.is_empty():
            return []
        sink = isl.UnionMap.from_map(read)
        parts = accesses.last_before(accesses.writes, sink).reverse().get_map_list()
        return [coalesced(parts.get_at(n)) for n in range(parts.n_map())]

    def _by_store(self, read: isl.Map, array: Array, writers: isl.Map) -> list[Source]:
        """The stores of one statement that are the last ones: the later of two in one instance."""
        name = writers.get_tuple_name(_OUT)
        assert name is not None
        statement = self._by_name[name]
        stores = _stores(statement.accesses, array)
        if len(stores) == 1:
            return [Source(self._stored[name][stores[0]], writers)]
        found: list[Source] = []
        for store in stores:
            hit = writers.intersect(read.apply_range(store.relation.reverse()))
            if not hit.is_empty():
                found.append(Source(self._stored[name][store], hit))
                writers = writers.subtract(hit)
        return found

    def _initial(self, array: Array, read: isl.Map) -> Source:
        if array.argument is None:
            return Source(Undefined(array.name), read)
        return Source(Input(array.argument), read.set_tuple_name(_OUT, f"argument{array.argument}"))


def _stores(accesses: tuple[Access, ...], array: Array) -> list[Access]:
    """The stores to an array, the last one first."""
    return [
        access
        for access in reversed(accesses)
        if access.array is array and access.kind is AccessKind.WRITE
    ]


def _end(scop: Scop, array: Array, elements: isl.Set, taken: set[str]) -> Load:
    """A statement that reads elements of an array when all others have run."""
    name = f"final_{array.name}"
    while name in taken:
        name += "_"
    taken.add(name)
    rank = elements.dim(_SET)
    domain = elements.set_tuple_name(name)
    relation = domain.identity().set_tuple_name(_OUT, array.name)
    subscripts = AffineMap.identity(rank)
    # No operation of the program; nobody asks for it.
    access = Access(AccessKind.READ, array, subscripts, relation, scop.func)
    loops = tuple(f"x{n}" for n in range(rank))
    return Load(Statement(name, loops, domain, (access,), ()), access)


def written(scop: Scop, array: Array) -> isl.Set | None:
    """The elements of an array that a program writes, if there are stores to it."""
    ranges = [
        access.relation.range()
        for statement in scop.statements
        for access in statement.writes
        if access.array is array
    ]
    return coalesced(reduce(isl.Set.union, ranges)) if ranges else None
