"""Building blocks of transformations that add statements and arrays.

New statements run inside existing loops: their first induction variables are the values of these
loops, outermost first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

import islpy as isl
from xdsl.dialects.builtin import AffineMapAttr
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap

from ...dialects import affine
from ..polyhedral.affine_text import to_text
from ..polyhedral.dependences import Dependence
from ..polyhedral.identifiers import dimension_names
from ..polyhedral.isl_context import coalesced
from ..polyhedral.schedule_tree import Leaf, Loop, Tree, rebuild, replace_node, statements
from ..polyhedral.scop import Access, AccessKind, Array, Scop, Statement
from .errors import MalformedTransformation

if TYPE_CHECKING:
    from .schedule import Schedule


def free_name(base: str, taken: set[str]) -> str:
    """`base`, or `base2`, `base3` ... when that is taken."""
    candidates = (base if number == 1 else f"{base}{number}" for number in range(1, len(taken) + 2))
    return next(name for name in candidates if name not in taken)


def copy_name(name: str, taken: set[str]) -> str:
    """`S0` -> `S0_2`, or `S0_3`, `S0_4` ... when taken."""
    return next(copy for n in count(2) if (copy := f"{name}_{n}") not in taken)


def symbols(scop: Scop) -> dict[str, int]:
    """Positions of the parameters, which are the symbols of access maps."""
    return {parameter.name: position for position, parameter in enumerate(scop.parameters)}


def outer_values(outer: Sequence[Loop], statement: Statement) -> isl.Map:
    """The values of the loops at the instances: `{ S0[i, j] -> [it, jt] }`."""
    result = isl.Map.from_domain(statement.domain)
    for loop in outer:
        result = result.flat_range_product(isl.Map.from_aff(loop.schedule[statement.name]))
    return result


def same_iteration(outer: Sequence[Loop], scop: Scop, dependence: Dependence) -> isl.Map:
    """Pairs of instances of the two statements at the same values of the loops."""
    source, target = scop.statement(dependence.source), scop.statement(dependence.target)
    return outer_values(outer, source).apply_range(outer_values(outer, target).reverse())


def instances_for(
    outer: Sequence[Loop], statement: Statement, elements: isl.Map, copy: Statement
) -> isl.Map:
    """The instances of `copy` for what a statement touches: `{ S0[i, j] -> copy[it, jt, x] }`.

    A `copy` has the values of the loops, then the subscripts of an element.
    """
    copies = outer_values(outer, statement).flat_range_product(elements)
    named = copies.set_tuple_id(isl.dim_type.out, copy.domain.get_tuple_id())
    return named.intersect_range(copy.domain)


def cloned(statement: Statement) -> dict[Operation, Operation]:
    """Operations of a statement, and copies of them."""
    values: dict[SSAValue, SSAValue] = {}
    return {operation: operation.clone(values) for operation in statement.body}


def as_base(scop: Scop) -> Scop:
    """The program as one that code is compared with: each statement has operations of its own.

    A store tells which statement a part of one is of; `split` makes statements that share them.
    """
    seen: set[Operation] = set()
    result: list[Statement] = []
    for statement in scop.statements:
        if not seen.isdisjoint(statement.body):
            own = cloned(statement)
            accesses = tuple(replace(a, op=own[a.op]) for a in statement.accesses)
            statement = replace(statement, body=tuple(own.values()), accesses=accesses)
        seen.update(statement.body)
        result.append(statement)
    base = replace(scop, statements=tuple(result))
    return replace(base, base=base)


def program_order(scop: Scop, tree: Tree, changed: Iterable[Statement]) -> tuple[Statement, ...]:
    """The statements of a new tree, some of them new or changed, in its order."""
    known = {s.name: s for s in scop.statements} | {s.name: s for s in changed}
    return tuple(known[name] for name in statements(tree))


def make_access(
    scop: Scop, kind: AccessKind, array: Array, map_: AffineMap, domain: isl.Set, op: Operation
) -> Access:
    """An access at the instances of `domain`; `op` is the load or store in the statement's body."""
    names = dimension_names(map_.num_dims)
    parameters = list(symbols(scop))
    results = ", ".join(to_text(expression, names, parameters) for expression in map_.results)
    relation = isl.Map(
        f"[{', '.join(parameters)}] -> "
        f"{{ {domain.get_tuple_name()}[{', '.join(names)}] -> {array.name}[{results}] }}"
    )
    return Access(kind, array, map_, relation.intersect_domain(domain), op)


def make_load(array: Array, map_: AffineMap) -> Operation:
    """A load of an element of an array."""
    return affine.LoadOp.create(
        operands=[array.value],
        properties={"map": AffineMapAttr(map_)},
        result_types=[array.element_type],
    )


def make_store(value: Operation, array: Array, map_: AffineMap) -> Operation:
    """A store of a result to an element of an array."""
    return affine.StoreOp.create(
        operands=[value.results[0], array.value], properties={"map": AffineMapAttr(map_)}
    )


def copy_statement(
    scop: Scop,
    name: str,
    iterators: tuple[str, ...],
    domain: isl.Set,
    source: tuple[Array, AffineMap],
    target: tuple[Array, AffineMap],
) -> Statement:
    """The statement `target[...] = source[...]` at the instances of `domain`."""
    load = make_load(*source)
    store = make_store(load, *target)
    accesses = (
        make_access(scop, AccessKind.READ, *source, domain, load),
        make_access(scop, AccessKind.WRITE, *target, domain, store),
    )
    return Statement(name, iterators, domain, accesses, (load, store))


def named_domain(instances: isl.Set, name: str, iterators: Sequence[str]) -> isl.Set:
    """`instances` as the domain of a statement, `{ name[iterators] }`."""
    domain = instances.set_tuple_name(name)
    for position, iterator in enumerate(iterators):
        domain = domain.set_dim_name(isl.dim_type.set, position, iterator)
    return coalesced(domain)


def loops_over(statement: Statement, first: int) -> Tree:
    """A loop over each induction variable from number `first` on, around the statement."""
    chain = tuple(
        Loop(
            statement.loops[position],
            {statement.name: induction_variable(statement, position)},
            Leaf(statement.name),
        )
        for position in range(first, len(statement.loops))
    )
    return rebuild(chain, Leaf(statement.name))


def put_inside(
    tree: Tree, outer: Sequence[Loop], old: Tree, new: Tree, added: Sequence[Statement]
) -> Tree:
    """`tree` with `new` in place of `old`, which is inside the loops `outer` (all around it).

    The loops run the instances of the `added` statements too.
    """
    below, inner = new, old
    for depth in reversed(range(len(outer))):
        loop = outer[depth]
        schedule = dict(loop.schedule)
        for statement in added:
            schedule[statement.name] = induction_variable(statement, depth)
        body = replace_node(loop.body, inner, below)
        below, inner = replace(loop, schedule=schedule, body=body), loop
    return replace_node(tree, inner, below)


def check_as_written(statement: Statement, around: Sequence[Loop]) -> None:
    """Raises MalformedTransformation unless the loops around are those of the program's text."""
    as_written = len(around) == len(statement.loops) and all(
        loop.schedule[statement.name].plain_is_equal(induction_variable(statement, position))
        for position, loop in enumerate(around)
    )
    if not as_written:
        raise MalformedTransformation(
            f"the loops around {statement.name} must be those of the program, as it is written"
        )


def only_statement(schedule: Schedule, loops: Sequence[str], names: Sequence[str]) -> str:
    """The one statement that a transformation without loops names; MalformedTransformation."""
    known = statements(schedule.tree)
    if loops or len(names) != 1:
        raise MalformedTransformation("it takes no loops: name one statement")
    if names[0] not in known:
        raise MalformedTransformation(
            f"there is no statement {names[0]}; there are {', '.join(known)}"
        )
    return names[0]


def variables_of(expressions: Iterable[AffineExpr]) -> set[int]:
    """The positions of the induction variables of expressions."""
    return {
        each.position
        for expression in expressions
        for each in expression.dfs()
        if isinstance(each, AffineDimExpr)
    }


def induction_variable(statement: Statement, position: int) -> isl.Aff:
    """An induction variable of a statement, as a function of its instances."""
    local = isl.LocalSpace.from_space(statement.domain.get_space())
    return isl.Aff.var_on_domain(local, isl.dim_type.set, position)
