"""Proof that accesses to local arrays stay within their allocated extents.

Origin and extents of a local array come from the model (`storage`); the proof is about the loops
that will be emitted, however they came about. At every call of a statement, for all values of the
loops around it, each subscript must lie between 0 and the extent. The bounds of the loops nearly
always show that; isl is asked where they do not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import islpy as isl

from ...dialects.errors import SourceError
from ...passes.polyhedral.isl_context import bounded_for
from ...passes.polyhedral.schedule_tree import Loop
from ...passes.polyhedral.scop import Access, Scop
from ..nest.index_bounds import Range, is_never_negative, ranges_of
from ..nest.index_expression import Comparison, Condition, Index, linear_form
from ..nest.index_sets import IslText, name_of
from ..nest.nest import Block, Call, For, Guard, Nest, Once, TileSplit
from .storage import Placement, placements_by_user

# All that isl may do for the proofs of one function: about a second.
MOST_OPERATIONS = 5_000_000


@dataclass(frozen=True)
class _Position:
    """The known loop values and conditions at a point of the nest.

    `loops` are around it, outermost first; conditions are `met` or `failed`. `values` are those of
    the schedule's loops by name, `origins` where the local arrays begin that are allocated there,
    by array and statement.
    """

    loops: tuple[For, ...] = ()
    met: tuple[Condition, ...] = ()
    failed: tuple[Condition, ...] = ()
    values: Mapping[str, Index] = field(default_factory=dict[str, Index])
    origins: Mapping[tuple[str, str], Sequence[Index]] = field(
        default_factory=dict[tuple[str, str], Sequence[Index]]
    )

    @cached_property
    def ranges(self) -> list[Range]:
        """The ranges of the variables, innermost first."""
        return ranges_of(self.loops, self.met, self.failed)


def check_local_subscripts(
    scop: Scop,
    nest: Nest,
    placements: Sequence[Placement],
    parameters: Mapping[str, Index],
    context: isl.Set,
) -> None:
    """Raises SourceError unless every subscript of a local array is proved to be inside.

    `parameters` are the values of the Scop's parameters, which are in `context`.
    """
    if not placements:
        return
    with bounded_for(scop.func, f"the local arrays of '@{scop.name}'", MOST_OPERATIONS):
        proof = _Proof(scop, placements, parameters, context)
        proof.visit(nest, proof.entered(None, _Position()))


class _Proof:
    def __init__(
        self,
        scop: Scop,
        placements: Sequence[Placement],
        parameters: Mapping[str, Index],
        context: isl.Set,
    ) -> None:
        self.scop = scop
        self.placements = placements_by_user(placements)
        self.local_accesses = {
            statement.name: _once_each(
                access
                for access in statement.accesses
                if (access.array.name, statement.name) in self.placements and not access.is_opaque
            )
            for statement in scop.statements
        }
        self.parameters = [parameters[parameter.name] for parameter in scop.parameters]
        self.context = _over_variables(context, parameters)

    def entered(self, loop: Loop | None, position: _Position) -> _Position:
        """The position behind the allocations of what lives in the loop (None: in the function)."""
        origins = {
            key: [
                offset([position.values[outer.name] for outer in placement.outer])
                for offset in placement.offsets
            ]
            for key, placement in self.placements.items()
            if placement.last is loop
            and all(outer.name in position.values for outer in placement.outer)
        }
        return replace(position, origins={**position.origins, **origins}) if origins else position

    def visit(self, nest: Nest, position: _Position) -> None:
        match nest:
            case For(loop, variable, body=body):
                value = Index.variable(variable) if nest.value is None else nest.value
                inside = replace(
                    position,
                    loops=(*position.loops, nest),
                    values={**position.values, loop.name: value},
                )
                self.visit(body, self.entered(loop, inside))
            case Once(loop, value, body):
                inside = replace(position, values={**position.values, loop.name: value})
                self.visit(body, self.entered(loop, inside))
            case Block(parts):
                for part in parts:
                    self.visit(part, position)
            case Guard(condition, then, otherwise) | TileSplit(condition, then, otherwise):
                self.visit(then, replace(position, met=(*position.met, condition)))
                self.visit(otherwise, replace(position, failed=(*position.failed, condition)))
            case Call(name, arguments):
                values = dict(enumerate((*arguments, *self.parameters)))
                for access in self.local_accesses[name]:
                    self._check(name, access, values, position)

    def _check(
        self, statement: str, access: Access, values: Mapping[int, Index], position: _Position
    ) -> None:
        placement = self.placements[access.array.name, statement]
        origin = position.origins[access.array.name, statement]
        for number, expression in enumerate(access.map.results):
            program = linear_form(expression, access.map.num_dims).substitute(values)
            subscript, extent = program - origin[number], placement.sizes[number]
            for never_negative in (subscript, extent - 1 - subscript):
                if not is_never_negative(never_negative, position.ranges):
                    self._ask_isl(never_negative, position, statement, placement)

    def _ask_isl(
        self, never_negative: Index, position: _Position, statement: str, placement: Placement
    ) -> None:
        text = IslText()
        conditions = [text.condition(Comparison(">=", -never_negative - 1))]
        for loop in position.loops:
            conditions += _range(loop, text)
        conditions += [text.condition(condition) for condition in position.met]
        conditions += [f"not ({text.condition(condition)})" for condition in position.failed]
        if not text.set_where(conditions).intersect(self.context).is_empty():
            raise SourceError.at(
                self.scop.func,
                f"no code can be generated for this schedule: '{statement}' is not proved to "
                f"stay inside of the local array '{placement.array.name}'",
                hint="use other tile sizes or another order of the steps, and report this",
            )


def _once_each(accesses: Iterable[Access]) -> list[Access]:
    """One access of each place: that an element is written where it was read says nothing new."""
    return list({(access.array.name, access.map): access for access in accesses}.values())


def _range(loop: For, text: IslText) -> list[str]:
    """What holds in the body of a loop."""
    value = Index.variable(loop.variable)
    least = [value - bound for bound in loop.lower]
    if loop.size is not None:  # the first tile may begin before the first value
        least = [loop.size - 1, *(index + loop.size - 1 for index in least)]
    known = [*least, *(bound - 1 - value for bound in loop.upper)]
    found = [text.condition(Comparison(">=", index)) for index in known]
    if loop.step > 1:
        found.append(" or ".join(f"({_steps_from(low, loop, text)})" for low in loop.lower))
    return found


def _steps_from(first: Index, loop: For, text: IslText) -> str:
    """That a loop begins at `first`, the greatest of its lower bounds, and goes on in steps."""
    greatest = [
        text.condition(Comparison(">=", first - other)) for other in loop.lower if other != first
    ]
    away = Index.variable(loop.variable) - first
    return " and ".join([*greatest, f"({text.index(away)}) mod {loop.step} = 0"])


def _over_variables(context: isl.Set, parameters: Mapping[str, Index]) -> isl.Set:
    """The context over the variables that stand for the parameters; known ones are left out."""
    for name, index in parameters.items():
        position = context.find_dim_by_name(isl.dim_type.param, name)
        if position < 0:
            continue
        if index.is_constant:
            context = context.project_out(isl.dim_type.param, position, 1)
        else:
            (number,) = index.variables()
            context = context.set_dim_name(isl.dim_type.param, position, name_of(number))
    return context
