"""Sums in any order: all summands of a value, through accumulators, as a multiset.

A value that is computed as a sum of what its statement loads, where these are sums again, is one
sum of what is none. Its summands are instances of terms; statements that accumulate are followed
along the whole chain of their instances at once.

    S: for k: s += A[k] * B[k]      { final[] -> S[k] : 0 <= k < n }   with the term A[k] * B[k]

Two sums are equal if their summands correspond one to one, and are equal. Which ones correspond is
guessed from the elements of arrays that they load.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import reduce

import islpy as isl

from ..isl_context import coalesced
from .last_writers import LastWriters
from .reassociation import Combination, Reassociation, constant, is_neutral, operands
from .terms import Apply, Input, Load, Term, Undefined, loads

_IN, _OUT = isl.dim_type.in_, isl.dim_type.out

# Paths to summands; unrolled accumulations of the largest kernels have some dozens.
_MOST = 500


class NoSumError(Exception):
    """The summands of a value cannot be found."""


@dataclass(frozen=True, eq=False)
class Summand:
    """A term, and at which instances it is added: `relation` leads there from those of the sum.

    Each pair is one summand, with its sign.
    """

    term: Term
    relation: isl.Map
    sign: int


@dataclass(frozen=True, eq=False)
class _Edge:
    """A sum that another one has as a summand."""

    target: Term
    relation: isl.Map
    sign: int


@dataclass(eq=False)
class _Node:
    """A term that is a sum, or a load of one: what it adds itself, and the sums that it adds."""

    term: Term
    domain: isl.Set
    own: list[Summand] = field(default_factory=list[Summand])
    edges: list[_Edge] = field(default_factory=list[_Edge])


@dataclass
class Sums:
    """The sums of a program."""

    writers: LastWriters
    rules: Reassociation
    _found: dict[tuple[Term, Combination], list[Summand]] = field(
        default_factory=dict[tuple[Term, Combination], list[Summand]], init=False
    )

    def summands(self, term: Term, combination: Combination) -> list[Summand]:
        """The summands of a term in each instance of its statement; raises NoSumError."""
        key = term, combination
        if key not in self._found:
            graph = self._graph(term, combination)
            self._found[key] = list(_Paths(graph, term).summands(combination))
        return self._found[key]

    def _graph(self, term: Term, combination: Combination) -> dict[Term, _Node]:
        nodes: dict[Term, _Node] = {}
        waiting = [term]
        while waiting:
            each = waiting.pop()
            if each in nodes or isinstance(each, Input | Undefined):
                continue
            node = nodes[each] = _Node(each, each.statement.domain)
            for operand, sign in operands(each, combination, self.rules):
                self._add(node, operand, sign, combination)
            waiting += [edge.target for edge in node.edges]
        return nodes

    def _add(self, node: _Node, operand: Term, sign: int, combination: Combination) -> None:
        same = node.domain.identity()
        if not isinstance(operand, Load):
            node.own.append(Summand(operand, same, sign))
            return
        for source in self.writers.sources(operand):
            if source.relation.is_empty():
                continue
            if not self._is_followed(source.term, combination):
                at = same.intersect_domain(source.relation.domain())
                node.own.append(Summand(operand, at, sign))
            else:
                node.edges.append(_Edge(source.term, source.relation, sign))

    def _is_followed(self, term: Term, combination: Combination) -> bool:
        """Whether what a load finds is part of the sum: a sum, a copy, or perhaps its neutral."""
        is_constant = isinstance(term, Apply) and not term.operands
        is_sum = self.rules.combination(term) == combination
        return is_sum or is_constant or isinstance(term, Load)


class _Paths:
    """All paths from a sum to its summands: each is one, however often it is an instance's."""

    def __init__(self, graph: dict[Term, _Node], root: Term) -> None:
        self.graph = graph
        self.root = root
        self.component = _components(graph)
        self.chains: dict[Term, dict[Term, isl.Map]] = {}

    def summands(self, combination: Combination) -> Iterator[Summand]:
        """Raises NoSumError."""
        arrivals = [_Edge(self.root, self.graph[self.root].domain.identity(), 1)]
        count = 0
        while arrivals:
            arrival = arrivals.pop()
            for term, chain in self._chains(arrival.target).items():
                relation = _follow(arrival.relation, chain)
                if relation is None:
                    continue
                node = self.graph[term]
                for summand in node.own:
                    found = _follow(relation, summand.relation)
                    if found is not None and not is_neutral(constant(summand.term), combination[0]):
                        yield Summand(summand.term, found, summand.sign * arrival.sign)
                for edge in node.edges:
                    if self.component[edge.target] != self.component[term]:
                        found = _follow(relation, edge.relation)
                        if found is not None:
                            sign = edge.sign * arrival.sign
                            arrivals.append(_Edge(edge.target, found, sign))
                count += 1
                if count > _MOST:
                    raise NoSumError("a sum has too many parts")

    def _chains(self, term: Term) -> dict[Term, isl.Map]:
        """From instances of a sum to all those, itself included, that it accumulates."""
        if term not in self.chains:
            inside = [t for t, number in self.component.items() if number == self.component[term]]
            edges = [
                (t, edge) for t in inside for edge in self.graph[t].edges if edge.target in inside
            ]
            if edges:
                self._close(inside, edges)
            else:
                self.chains[term] = {term: self.graph[term].domain.identity()}
        return self.chains[term]

    def _close(self, inside: list[Term], edges: list[tuple[Term, _Edge]]) -> None:
        """The chains of sums that accumulate each other, by a closure that is checked.

        Sources run earlier, so that only one relation is the identity and one step followed by it.
        """
        names = {term: f"sum{number}" for number, term in enumerate(inside)}
        step = isl.UnionMap.empty(self.graph[self.root].domain.get_space().params())
        for number, (term, edge) in enumerate(edges):
            others = (e for t, e in edges[:number] if t is term)
            apart = all(e.relation.domain().is_disjoint(edge.relation.domain()) for e in others)
            if edge.sign != 1 or not apart or not edge.relation.is_single_valued():
                raise NoSumError("a sum accumulates two values of its own")
            named = edge.relation.set_tuple_name(_IN, names[term])
            named = named.set_tuple_name(_OUT, names[edge.target])
            step = step.union(isl.UnionMap.from_map(named))
        same = reduce(
            isl.UnionMap.union,
            (
                isl.UnionMap.from_map(
                    self.graph[term].domain.set_tuple_name(names[term]).identity()
                )
                for term in inside
            ),
        )
        closure = coalesced(step.transitive_closure()[0].union(same))
        if not step.apply_range(closure).union(same).is_equal(closure):
            raise NoSumError("the instances that a sum accumulates are not known exactly")
        maps = closure.get_map_list()
        by_name = {
            (each.get_tuple_name(_IN), each.get_tuple_name(_OUT)): each
            for each in (maps.get_at(n) for n in range(maps.n_map()))
        }
        for term in inside:
            self.chains[term] = {
                other: by_name[names[term], names[other]]
                .set_tuple_name(_IN, term.statement.name)  # pyright: ignore
                .set_tuple_name(_OUT, other.statement.name)  # pyright: ignore
                for other in inside
                if (names[term], names[other]) in by_name
            }


def _follow(first: isl.Map, second: isl.Map) -> isl.Map | None:
    """One relation after the other, if there are such paths; no two may meet at their end."""
    found = first.apply_range(second)
    if found.is_empty():
        return None
    if not first.is_single_valued():
        paths = first.domain_map().range_product(first.range_map().apply_range(second))
        if not paths.is_injective():
            raise NoSumError("a sum adds one value several times")
    return coalesced(found)


def _components(graph: dict[Term, _Node]) -> dict[Term, int]:
    """Strongly connected components, by number."""
    reachable: dict[Term, set[Term]] = {}
    for term in graph:
        seen = reachable[term] = {term}
        waiting = [term]
        while waiting:
            for edge in graph[waiting.pop()].edges:
                if edge.target not in seen:
                    seen.add(edge.target)
                    waiting.append(edge.target)
    numbers: dict[Term, int] = {}
    for term in graph:
        for other in reachable[term]:
            if term in reachable[other] and other in numbers:
                numbers[term] = numbers[other]
        numbers.setdefault(term, len(numbers))
    return numbers


Compare = Callable[[Term, Term, isl.Map], bool]


def match(
    first: list[Summand], second: list[Summand], pairs: isl.Map, are_equal: Compare
) -> isl.Map:
    """The pairs of instances of two sums whose summands are not all matched one to one."""
    mine = [(s, pairs.domain_map().apply_range(s.relation)) for s in first]
    others = [(s, pairs.range_map().apply_range(s.relation)) for s in second]
    for number, (summand, left) in enumerate(mine):
        for position, (other, right) in enumerate(others):
            if summand.sign != other.sign or left.is_empty():
                continue
            for guess in _correspondences(summand, other):
                found = _one_to_one(left, right, guess)
                if found is not None and are_equal(summand.term, other.term, found[2]):
                    left, right = left.subtract(found[0]), right.subtract(found[1])
            others[position] = other, right
        mine[number] = summand, left
    rest = [part.domain().unwrap() for _, part in (*mine, *others)]
    return reduce(isl.Map.union, rest, pairs.subtract(pairs))


def _one_to_one(
    left: isl.Map, right: isl.Map, guess: isl.Map
) -> tuple[isl.Map, isl.Map, isl.Map] | None:
    """What a guess matches of the summands on both sides, and the pairs of their instances."""
    both = left.range_product(right).intersect_range(guess.wrap())
    back = right.range_product(left).intersect_range(guess.reverse().wrap())
    forth = both.uncurry()
    if forth.is_empty() or not forth.is_single_valued() or not back.uncurry().is_single_valued():
        return None
    return (
        both.range_factor_domain(),
        both.range_factor_range(),
        coalesced(both.range().unwrap()),
    )


def _correspondences(mine: Summand, other: Summand) -> Iterator[isl.Map]:
    """Instances that may compute the same: those that load the same elements, or any."""
    every = isl.Map.from_domain_and_range(mine.relation.range(), other.relation.range())
    ours, theirs = _elements(mine), _elements(other)
    shared = [key for key in ours if len(theirs.get(key, ())) == len(ours[key])]
    for turn in (1, -1):
        found = every
        for key in shared:
            for one, two in zip(ours[key], theirs[key][::turn], strict=True):
                found = found.intersect(one.apply_range(two.reverse()))
        yield found
        if all(len(ours[key]) == 1 for key in shared):
            break
    yield every


def _elements(summand: Summand) -> dict[object, list[isl.Map]]:
    """What is loaded, by array: by position of an argument, those of local arrays together."""
    found: defaultdict[object, list[isl.Map]] = defaultdict(list)
    if isinstance(summand.term, Input):
        elements = summand.relation.range()
        own = elements.identity().set_tuple_name(_OUT, "element")
        found[summand.term.argument, elements.dim(isl.dim_type.set)].append(own)
        return found
    for load in loads(summand.term):
        array = load.access.array
        name = "local" if array.argument is None else array.argument
        elements = load.access.relation.set_tuple_name(_OUT, "element")
        found[name, len(array.shape)].append(elements)
    return found
