"""Copies of the statements in a time loop, for each residue class of its iterations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import islpy as isl
from xdsl.ir.affine import AffineExpr, AffineMap

from ..polyhedral.aff_expression import aff_expression
from ..polyhedral.affine_text import to_text
from ..polyhedral.identifiers import dimension_names
from ..polyhedral.isl_context import coalesced
from ..polyhedral.remainders import without_multiples
from ..polyhedral.schedule_tree import Leaf, Loop, Sequence, Tree, restrict, sequence, statements
from ..polyhedral.scop import Access, Array, Statement
from .errors import MalformedTransformation
from .program_edits import cloned, copy_name, make_access, named_domain, symbols
from .schedule import Schedule

_SET = isl.dim_type.set

Place = Callable[[str, Access, list[AffineExpr]], tuple[Array, list[AffineExpr]]]
"""Array and subscripts of an access in a copy: of the statement's name, its access, and subscripts
for the iterations of the copy."""


class Phases:
    """An outermost loop as it was written, unrolled `period` times into statements of their own.

    Iteration `first + period * t + phase` is what the copies for `phase` do in iteration t.
    """

    def __init__(self, schedule: Schedule, loop: Loop, period: int, members: Iterable[str]) -> None:
        self.scop = schedule.scop
        self.loop = loop
        self.period = period
        self.members = list(members)
        self.made: list[Statement] = []
        self.taken = {statement.name for statement in self.scop.statements}
        self._check(schedule)
        self.first = self._first()

    def _check(self, schedule: Schedule) -> None:
        name = self.loop.name
        if schedule.outer(self.loop) or self.loop.run_time_size is not None:
            raise MalformedTransformation(f"{name} must be an outermost loop")
        if self.scop.opaque_statements:
            raise MalformedTransformation("parts of the program are not affine")
        for statement, value in self.loop.schedule.items():
            domain = self.scop.statement(statement).domain
            if not domain.dim(_SET) or not value.plain_is_equal(_first_variable(domain)):
                raise MalformedTransformation(
                    f"{name} must be the first loop around {statement} in the program, as it is "
                    "written there"
                )

    def _first(self) -> AffineExpr:
        """The first value of the loop."""
        values = None
        for name in self.loop.schedule:
            domain = self.scop.statement(name).domain.intersect_params(self.scop.context)
            own = domain.project_out(_SET, 1, domain.dim(_SET) - 1).reset_tuple_id()
            values = own if values is None else values.union(own)
        assert values is not None, "a loop has statements"
        values = coalesced(values)
        pieces = coalesced(values.dim_min(0).gist(values.params())).get_pieces()
        if len(pieces) != 1:
            raise MalformedTransformation(f"{self.loop.name} must begin at one value")
        return aff_expression(pieces[0][1], symbols(self.scop))

    def copies(self, phase: int, place: Place) -> list[Statement]:
        """Copies of the members for one phase; those for phase 0 keep the names."""
        copies = [self._copy(name, phase, place) for name in self.members]
        self.made += copies
        return copies

    def part(self, phase: int, copies: Iterable[Statement]) -> Tree | None:
        """The body of the loop in one phase, as far as there is anything to do."""
        names = {
            old: copy.name
            for old, copy in zip(self.members, copies, strict=True)
            if not copy.domain.intersect_params(self.scop.context).is_empty()
        }
        rest = restrict(self.loop.body, list(names)) if names else None
        if rest is None:
            return None
        return _renamed(rest, names, {old: self._old(old, names[old], phase) for old in names})

    def around(self, parts: Iterable[Tree]) -> Loop:
        """The loop around what is done in the phases."""
        body = sequence(list(parts))
        functions = {
            copy.name: _first_variable(copy.domain)
            for copy in self.made
            if copy.name in statements(body)
        }
        return Loop(self.loop.name, functions, body)

    def _old(self, old: str, new: str, phase: int) -> isl.MultiAff:
        """The instances of a statement by those of its copy, `{ new[t] -> old[2 t + phase] }`."""
        parameters = list(symbols(self.scop))
        names = dimension_names(len(self.scop.statement(old).loops))
        begin = to_text(self.first, (), parameters)
        values = [f"{begin} + {self.period} * {names[0]} + {phase}", *names[1:]]
        return isl.MultiAff(
            f"[{', '.join(parameters)}] -> "
            f"{{ {new}[{', '.join(names)}] -> {old}[{', '.join(values)}] }}"
        )

    def _copy(self, name: str, phase: int, place: Place) -> Statement:
        old = self.scop.statement(name)
        new = copy_name(name, self.taken) if phase else name
        self.taken.add(new)
        domain = old.domain.preimage_multi_aff(self._old(name, new, phase))
        domain = named_domain(domain, new, old.loops)
        value = self.first + AffineExpr.dimension(0) * self.period + phase
        dims = [value, *(AffineExpr.dimension(k) for k in range(1, len(old.loops)))]
        own_symbols = [AffineExpr.symbol(k) for k in range(len(self.scop.parameters))]

        def moved(expression: AffineExpr) -> AffineExpr:
            return without_multiples(expression.replace_dims_and_symbols(dims, own_symbols))

        own = cloned(old) if phase else {operation: operation for operation in old.body}
        accesses: list[Access] = []
        for access in old.accesses:
            array, results = place(name, access, [moved(result) for result in access.map.results])
            map_ = AffineMap(len(dims), len(own_symbols), tuple(results))
            accesses.append(
                make_access(self.scop, access.kind, array, map_, domain, own[access.op])
            )
        indices = {key: moved(expression) for key, expression in old.indices.items()}
        source = old, AffineMap(len(dims), len(own_symbols), tuple(dims))
        body = tuple(own.values())
        return Statement(new, old.loops, domain, tuple(accesses), body, indices, source)


def _first_variable(domain: isl.Set) -> isl.Aff:
    """The first induction variable."""
    return isl.Aff.var_on_domain(isl.LocalSpace.from_space(domain.get_space()), _SET, 0)


def _renamed(tree: Tree, names: Mapping[str, str], moved: Mapping[str, isl.MultiAff]) -> Tree:
    """The tree for copies of its statements, of other instances."""
    match tree:
        case Leaf(name):
            return Leaf(names[name])
        case Loop(schedule=schedule, body=body):
            values = {
                names[name]: value.pullback_multi_aff(moved[name])
                for name, value in schedule.items()
            }
            return replace(tree, schedule=values, body=_renamed(body, names, moved))
        case Sequence(children):
            return Sequence(tuple(_renamed(child, names, moved) for child in children))
