"""What parts of the evaluation of expressions ask of the whole."""

from __future__ import annotations

from typing import Protocol

from ..text.emitter import Emitter
from ..text.guards import Guards
from .arithmetic import Arithmetic
from .c_types import NumberType
from .domain import Domain
from .tree import Expression, Piece, Symbol
from .values import Constant, Linear, Value


class Evaluator(Protocol):
    """Evaluates expressions: see `expressions.Expressions`."""

    emitter: Emitter[Piece]
    domain: Domain
    arithmetic: Arithmetic
    names: dict[Symbol, Value]
    guards: Guards[Piece]

    def value(self, node: Expression) -> Value:
        """The value of an expression; raises SourceError, NotAffine."""
        ...

    def converted(self, node: Expression, kind: NumberType) -> Value:
        """The value of an expression in a type."""
        ...

    def static(self, node: Expression) -> Constant | Linear | None:
        """A constant or an affine integer, or None."""
        ...
