"""The polyhedral model of one function: parameters, arrays, statements.

Everything here is symbolic in the sizes. All sets and maps live in the parameter space
`[p0, p1, ...]` of `Scop.parameters`; a concrete size enters only when code is generated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

import islpy as isl
from xdsl.dialects import func
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from ...support.summaries import summary
from .schedule_tree import Tree
from .subscripts import coefficients


@dataclass(frozen=True)
class Parameter:
    """A symbolic size: the value of an integer argument, or one dimension of a memref argument.

    `name` is a valid isl identifier. `dimension` is None for an integer argument, else the
    position in the shape of memref argument number `argument` (counted from 0).
    """

    name: str
    argument: int
    dimension: int | None = None


@dataclass(frozen=True)
class Array:
    """A memref that statements read or write.

    `shape` has one entry per subscript of an access: a constant, the name of a parameter or
    dynamic dimension, None for an expanded dimension (see below), or for a local array an affine
    expression whose symbols are the Scop's parameters (`alloc(%n_plus_1)`).

    A local array (`alloc`, `alloca`, or a scalar that the front end demoted from an SSA value)
    that lives inside `scope_depth` loops is one array *per iteration* of these loops: its accesses
    carry the `scope_depth` induction variables as leading subscripts (shape None). So no false
    dependence runs through it; the code generator contracts these dimensions again.
    """

    name: str
    element_type: Attribute
    shape: tuple[int | str | AffineExpr | None, ...]
    value: SSAValue
    argument: int | None
    scope_depth: int = 0

    @property
    def is_local(self) -> bool:
        """Whether the array is allocated by the function itself."""
        return self.argument is None

    def __repr__(self) -> str:
        return summary(self, f"{self.name}, {len(self.shape)} dimensions of {self.element_type}")


class AccessKind(Enum):
    """Direction of an access."""

    READ = "read"
    WRITE = "write"


@dataclass(frozen=True, eq=False)
class Access:
    """One load or store of a statement.

    `map` has the statement's induction variables as dims, the Scop's parameters (in order) as
    symbols and one result per subscript. `relation` is the same as isl, restricted to the domain:
    `[params] -> { S0[i, j] -> A[a, b] }`. `op` is the affine.load or affine.store in the body.

    An access of an opaque region may happen or not, and the call has several (`op`). Its `unknown`
    subscripts, by position, may have any value: they are 0 in `map`, which is of no use then.
    """

    kind: AccessKind
    array: Array
    map: AffineMap
    relation: isl.Map
    op: Operation
    unknown: tuple[int, ...] = ()
    is_opaque: bool = False

    @cached_property
    def coefficients(self) -> tuple[tuple[int, ...], ...]:
        """The coefficients of the induction variables, per subscript."""
        return coefficients(self.map)

    @cached_property
    def constants(self) -> tuple[int, ...]:
        """The subscripts where all induction variables and parameters are 0."""
        return tuple(self.map.eval([0] * self.map.num_dims, [0] * self.map.num_symbols))

    def __repr__(self) -> str:
        return summary(self, f"{self.kind.value} {self.relation}")


@dataclass(frozen=True, eq=False)
class Statement:
    """A straight-line piece of the program, executed once per point of its domain.

    `body` holds loads, arithmetic and stores in program order, taken from the normalised function.
    Operands of its operations are results of operations in `body`, scalar arguments of the
    function, or keys of `indices`: integer values that are affine in the induction variables
    (dims) and parameters (symbols). Loads and stores appear in `accesses`, one for one. `source` is
    the statement of which this one computes some instances elsewhere, and which ones by its own.
    """

    name: str
    loops: tuple[str, ...]
    domain: isl.Set
    accesses: tuple[Access, ...]
    body: tuple[Operation, ...]
    indices: Mapping[SSAValue, AffineExpr] = field(default_factory=dict[SSAValue, AffineExpr])
    source: tuple[Statement, AffineMap] | None = None

    @property
    def is_opaque(self) -> bool:
        """Whether it runs a region that is not affine: a call in its body."""
        return any(access.is_opaque for access in self.accesses) or any(
            isinstance(op, func.CallOp) for op in self.body
        )

    @property
    def reads(self) -> tuple[Access, ...]:
        """The loads, in program order."""
        return tuple(a for a in self.accesses if a.kind is AccessKind.READ)

    @property
    def writes(self) -> tuple[Access, ...]:
        """The stores, in program order."""
        return tuple(a for a in self.accesses if a.kind is AccessKind.WRITE)

    def __repr__(self) -> str:
        return summary(self, f"{self.name}[{', '.join(self.loops)}]")


@dataclass(frozen=True, eq=False)
class Scop:
    """A function as a static control part.

    `func` is the normalised function (only affine loads and stores; no iter_args, no results of
    affine.if) that statement bodies point into. `context` constrains the parameters (sizes are not
    negative). `tree` is the original execution order. `returns` are rank-0 local arrays whose
    final values the function returns, in order. `base` is a program of other instances, proved
    equal to the user's, of which this is an edited version; None where that is the user's own.
    `memory` is where analyses keep what they found, by name; it lives as long as the Scop.
    """

    name: str
    func: func.FuncOp
    parameters: tuple[Parameter, ...]
    context: isl.Set
    arrays: tuple[Array, ...]
    statements: tuple[Statement, ...]
    tree: Tree
    returns: tuple[Array, ...] = ()
    base: Scop | None = None
    memory: dict[str, object] = field(default_factory=dict[str, object], init=False, repr=False)

    def statement(self, name: str) -> Statement:
        """The statement called `name`; raises KeyError."""
        for statement in self.statements:
            if statement.name == name:
                return statement
        raise KeyError(name)

    @cached_property
    def opaque_statements(self) -> tuple[str, ...]:
        """The names of the statements that are not affine inside."""
        return tuple(statement.name for statement in self.statements if statement.is_opaque)

    @property
    def sizes(self) -> tuple[Parameter, ...]:
        """What must be known to run: the parameters, then all other dynamic dimensions."""
        names = {parameter.name for parameter in self.parameters}
        return self.parameters + tuple(
            Parameter(extent, array.argument, position)
            for array in self.arrays
            if array.argument is not None
            for position, extent in enumerate(array.shape)
            if isinstance(extent, str) and extent not in names
        )

    @property
    def domain(self) -> isl.UnionSet:
        """All statement instances: `[params] -> { S0[i]; S1[i, j] }`."""
        result = isl.UnionSet.empty(self.context.get_space())
        for statement in self.statements:
            result = result.union(isl.UnionSet.from_set(statement.domain))
        return result

    def __repr__(self) -> str:
        parts = {
            "parameters": self.parameters,
            "statements": self.statements,
            "arrays": self.arrays,
        }
        listed = (
            f"{kind} {', '.join(each.name for each in members)}"
            for kind, members in parts.items()
            if members
        )
        return summary(self, f"{self.name}: {'; '.join(listed)}")
