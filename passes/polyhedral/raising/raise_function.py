"""Raises a function to the polyhedral model."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl
from xdsl.dialects import func
from xdsl.dialects.affine import StoreOp
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr, AffineMap, AffineSymExpr

from ....dialects.errors import SourceError
from .. import schedule_tree
from ..affine_text import to_text
from ..identifiers import dimension_names, identifier
from ..isl_context import bounded_for, coalesced
from ..memrefs import as_memref, memref_shape
from ..scatter_reductions import updates_of
from ..schedule_tree import Leaf, Loop, Tree
from ..scop import Access, AccessKind, Array, Parameter, Scop, Statement
from ..size_assumptions import assumed_arguments
from .access_contexts import LoopNest, Nests, OpaqueCall, Place, Root
from .affine_values import NotAffineError
from .normalise import normalise
from .opaque_accesses import OpaqueAccess
from .slicing import Slice, slices


def raise_module(module: ModuleOp) -> dict[str, Scop]:
    """The polyhedral model of every function with a body, by name; raises SourceError."""
    return {
        op.sym_name.data: raise_function(op)
        for op in module.ops
        if isinstance(op, func.FuncOp) and not op.is_declaration
    }


def raise_function(function: func.FuncOp) -> Scop:
    """The polyhedral model of a function, which stays as it is.

    Raises SourceError, at the operation, for what is no static control part: subscripts, bounds
    and conditions that are not affine, unknown calls, operations without semantics here.
    """
    try:
        normal = normalise(function)
        with bounded_for(function, f"the loops of '@{function.sym_name.data}'"):
            nests, groups = slices(normal.func)
            return _Builder(normal.func, nests, groups, normal.returns).scop()
    except RecursionError as error:
        raise SourceError.at(
            function, f"values of '@{function.sym_name.data}' depend on each other too deeply"
        ) from error


class _Builder:
    def __init__(
        self,
        function: func.FuncOp,
        nests: Nests,
        groups: Sequence[Slice],
        returns: Sequence[SSAValue],
    ):
        self.func = function
        self.nests = nests
        self.values = nests.values
        self.groups = groups
        self.returns = returns

    def scop(self) -> Scop:
        names = self._statement_names()
        extents = {value: self._extents(value) for value in self._memrefs()}
        indices = {group: self._indices(group) for group in self.groups}
        for argument in assumed_arguments(self.func):
            self.values.expression(self.func.body.block.args[argument])
        self._bind_scattered_extents()
        # From here on all parameters are known.
        self._order_parameters()
        space = f"[{', '.join(p.name for p in self.parameters)}]"
        context = isl.Set(
            f"{space} -> {{ : "
            + " and ".join(
                ["1 = 1"] + [f"{p.name} >= 0" for p in self.parameters if p.dimension is not None]
            )
            + " }"
        )
        self.space = space
        self.arrays = self._arrays(extents, names)
        statements = tuple(
            self._statement(name, group, indices[group])
            for name, group in zip(names, self.groups, strict=True)
        )
        self.leaves = {group.stores[0]: s for group, s in zip(self.groups, statements, strict=True)}
        return Scop(
            name=self.func.sym_name.data,
            func=self.func,
            parameters=self.parameters,
            context=context,
            arrays=tuple(self.arrays.values()),
            statements=statements,
            tree=self._sequence(self.nests.children),
            returns=tuple(self.arrays[value] for value in self.returns),
        )

    def _statement_names(self) -> list[str]:
        taken = set(self.values.names.taken)
        given: dict[Slice, str] = {}
        for group in self.groups:
            for store in group.stores:
                attribute = store.attributes.get("loopwright.name", store.attributes.get("name"))
                if isinstance(attribute, StringAttr) and group not in given:
                    given[group] = identifier(attribute.data, "S", taken)
                    taken.add(given[group])
        names: list[str] = []
        for group in self.groups:
            if (name := given.get(group)) is None:
                number = len(names)
                while (name := f"S{number}") in taken:
                    number += 1
                taken.add(name)
            names.append(name)
        return names

    def _memrefs(self) -> list[SSAValue]:
        arguments = [a for a in self.func.body.block.args if as_memref(a) is not None]
        accessed = [place.memref for place in self.nests.places.values()]
        accessed += [each.memref for call in self.nests.calls.values() for each in call.accesses]
        return list(dict.fromkeys([*arguments, *accessed, *self.returns]))

    def _extents(self, value: SSAValue) -> list[AffineExpr | str]:
        """Shape of an array; the extent of an argument is a name, and no parameter yet."""
        shape = memref_shape(value)
        if isinstance(value, BlockArgument):
            return [
                AffineExpr.constant(size)
                if size >= 0
                else self.values.names.dimensions[value.index, position]
                for position, size in enumerate(shape)
            ]
        assert isinstance(value.owner, Operation)
        hint = "allocate it with a size that does not change in the function"
        try:
            extents = [self.values.extent(value, n) for n in range(len(shape))]
        except NotAffineError as error:
            message = f"the size of the memref is not affine: {error}"
            raise SourceError.at(value.owner, message, hint=hint) from None
        if any(extent.used_dims() for extent in extents):
            message = "the size of the memref changes from one iteration to the next"
            raise SourceError.at(value.owner, message, hint=hint)
        return [*extents]

    def _bind_scattered_extents(self) -> None:
        """Makes parameters of what bounds reductions whose subscripts depend on data."""
        for call in self.nests.calls.values():
            for access in call.accesses:
                is_written = access.kind is AccessKind.WRITE
                if is_written and updates_of(call.op, access.memref) is not None:
                    for position, subscript in enumerate(access.subscripts):
                        if subscript is None:
                            self.values.extent(access.memref, position)

    def _indices(self, group: Slice) -> dict[SSAValue, AffineExpr]:
        return {value: self.values.expression(value) for value in group.indices}

    def _order_parameters(self) -> None:
        found = self.values.parameters
        self.parameters = tuple(
            sorted(found, key=lambda p: (p.argument, -1 if p.dimension is None else p.dimension))
        )
        # Expressions of more than one piece, whose symbols are no parameters, end in domains only.
        self.symbols = [
            AffineExpr.symbol(
                self.parameters.index(symbol) if isinstance(symbol, Parameter) else -1
            )
            for symbol in self.values.symbols
        ]

    def _reorder(self, expression: AffineExpr) -> AffineExpr:
        return expression.replace_dims_and_symbols((), self.symbols)

    def _arrays(
        self, extents: dict[SSAValue, list[AffineExpr | str]], taken_names: Sequence[str]
    ) -> dict[SSAValue, Array]:
        taken = {*taken_names, *self.values.names.arguments}
        arrays: dict[SSAValue, Array] = {}
        for value, extent in extents.items():
            if isinstance(value, BlockArgument):
                name, argument, depth = self.values.names.arguments[value.index], value.index, 0
            else:
                name, argument = identifier(value.name_hint, "tmp", taken), None
                taken.add(name)
                assert isinstance(value.owner, Operation)
                block = value.owner.parent
                assert block is not None
                depth = len(self.nests.around[block].loops)
            type_ = as_memref(value)
            assert type_ is not None
            shape = (None,) * depth + tuple(self._extent(e) for e in extent)
            arrays[value] = Array(name, type_.get_element_type(), shape, value, argument, depth)
        return arrays

    def _extent(self, extent: AffineExpr | str) -> int | str | AffineExpr:
        if isinstance(extent, str):
            return extent
        extent = self._reorder(extent)
        match extent:
            case AffineConstantExpr(value):
                return value
            case AffineSymExpr(position):
                return self.parameters[position].name
            case _:
                return extent

    def _statement(self, name: str, group: Slice, indices: dict[SSAValue, AffineExpr]) -> Statement:
        first = group.stores[0]
        root = self.nests.calls.get(first) or self.nests.places[first]
        around = root.surroundings
        instance = f"{name}[{', '.join(around.names)}]"
        domain = coalesced(
            isl.Set(
                f"{self.space} -> {{ {instance} : {' and '.join(around.constraints) or '1 = 1'} }}"
            )
        )
        accesses: list[Access] = []
        for op in group.body:
            if (place := self.nests.places.get(op)) is not None:
                accesses.append(self._access(place, around.names, instance, domain))
            elif (call := self.nests.calls.get(op)) is not None:
                accesses += [
                    self._opaque(call, each, around.names, instance, domain)
                    for each in call.accesses
                ]
        return Statement(
            name=name,
            loops=around.names,
            domain=domain,
            accesses=tuple(accesses),
            body=group.body,
            indices={value: self._reorder(e) for value, e in indices.items()},
        )

    def _access(
        self, place: Place, loops: tuple[str, ...], instance: str, domain: isl.Set
    ) -> Access:
        array = self.arrays[place.memref]
        leading = tuple(AffineExpr.dimension(depth) for depth in range(array.scope_depth))
        results = leading + tuple(self._reorder(e) for e in place.subscripts)
        symbols = [parameter.name for parameter in self.parameters]
        texts = ", ".join(to_text(result, loops, symbols) for result in results)
        relation = isl.Map(f"{self.space} -> {{ {instance} -> {array.name}[{texts}] }}")
        return Access(
            kind=AccessKind.WRITE if isinstance(place.op, StoreOp) else AccessKind.READ,
            array=array,
            map=AffineMap(len(loops), len(symbols), results),
            relation=relation.intersect_domain(domain),
            op=place.op,
        )

    def _opaque(
        self,
        call: OpaqueCall,
        access: OpaqueAccess,
        loops: tuple[str, ...],
        instance: str,
        domain: isl.Set,
    ) -> Access:
        array = self.arrays[access.memref]
        symbols = [parameter.name for parameter in self.parameters]
        zero = AffineExpr.constant(0)
        results: list[AffineExpr] = []
        names = dimension_names(len(access.subscripts))
        conditions = ["1 = 1"]
        for name, subscript, extent in zip(names, access.subscripts, array.shape, strict=True):
            results.append(zero if subscript is None else self._reorder(subscript))
            if subscript is not None:
                conditions.append(f"{name} = {to_text(results[-1], loops, symbols)}")
                continue
            conditions.append(f"{name} >= 0")
            if isinstance(extent, AffineExpr):
                conditions.append(f"{name} < {to_text(extent, (), symbols)}")
            elif isinstance(extent, int) or extent in symbols:
                conditions.append(f"{name} < {extent}")
        relation = isl.Map(
            f"{self.space} -> {{ {instance} -> {array.name}[{', '.join(names)}] : "
            f"{' and '.join(conditions)} }}"
        )
        return Access(
            kind=access.kind,
            array=array,
            map=AffineMap(len(loops), len(symbols), tuple(results)),
            relation=relation.intersect_domain(domain),
            op=call.op,
            unknown=tuple(k for k, each in enumerate(access.subscripts) if each is None),
            is_opaque=True,
        )

    def _sequence(self, children: Sequence[LoopNest | Root]) -> Tree:
        parts = [
            part
            for child in children
            if (part := self._loop(child) if isinstance(child, LoopNest) else self._leaf(child))
        ]
        return parts[0] if len(parts) == 1 else schedule_tree.Sequence(tuple(parts))

    def _leaf(self, store: Root) -> Leaf | None:
        statement = self.leaves.get(store)
        return None if statement is None else Leaf(statement.name)

    def _loop(self, nest: LoopNest) -> Loop:
        body = self._sequence(nest.children)
        depth = len(self.nests.around[nest.op.body.block].loops) - 1
        by_name = {statement.name: statement for statement in self.leaves.values()}
        schedule = {
            name: isl.Aff.var_on_domain(
                isl.LocalSpace.from_space(by_name[name].domain.get_space()),
                isl.dim_type.set,
                depth,
            )
            for name in schedule_tree.statements(body)
        }
        return Loop(nest.name, schedule, body)
