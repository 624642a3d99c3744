"""Statements of a program of other instances, by those of the user's program."""

from __future__ import annotations

from xdsl.ir.affine import AffineExpr

from ...passes.polyhedral.scop import Scop, Statement
from .correspondence import is_same_computation, origin_of
from .verdict import NotKnownError


class BaseStatements:
    """The program that code was generated for, by statements of the user's.

    `origins` has the statement and the instance that a statement runs, by its induction variables
    and the parameters; those that are not there copy elements. `same` has, for statements of which
    not all instances run, one with the same values.
    """

    def __init__(self, program: Scop, scop: Scop) -> None:
        self.program = program
        self.scop = scop
        self.origins: dict[str, tuple[str, tuple[AffineExpr, ...]]] = {}
        self.same: dict[str, tuple[AffineExpr, ...]] = {}
        for statement in scop.statements:
            found = self._origin(statement)
            if found is None:
                continue
            name, subscripts = self.origins[statement.name] = found
            depth = len(statement.loops)
            if depth < len(subscripts):
                own = [AffineExpr.dimension(k) for k in range(depth)]
                if any(each not in subscripts for each in own):
                    raise NotKnownError(f"{statement.name} is an unknown part of {name}")
                homes = [AffineExpr.dimension(subscripts.index(each)) for each in own]
                symbols = [AffineExpr.symbol(k) for k, _ in enumerate(scop.parameters)]
                first = tuple(each.replace_dims_and_symbols(homes, symbols) for each in subscripts)
                if self.same.setdefault(name, first) != first:
                    raise NotKnownError(f"instances of {name} stand for each other in two ways")

    def _origin(self, statement: Statement) -> tuple[str, tuple[AffineExpr, ...]] | None:
        if statement.source is None:
            found = origin_of(self.program, statement)
            if found is None:
                return None
            if not is_same_computation(statement, found):
                raise NotKnownError(f"{statement.name} computes in another way than {found.name}")
            return found.name, tuple(AffineExpr.dimension(k) for k, _ in enumerate(found.loops))
        source, instance = statement.source
        found = self._origin(source)
        if found is None:
            return None
        symbols = [AffineExpr.symbol(k) for k, _ in enumerate(self.scop.parameters)]
        name, subscripts = found
        moved = (each.replace_dims_and_symbols(instance.results, symbols) for each in subscripts)
        return name, tuple(moved)
