"""What evaluates expressions, as its parts see it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

from ..text.affine import Affine, Index
from ..text.conditions import Condition
from ..text.emitter import Emitter
from ..text.guards import Guards
from .arithmetic import Arithmetic
from .captured import Captured
from .source import PythonSource
from .values import Constant, Value
from .variables import Variable
from .views import View


class Evaluator(Protocol):
    """The evaluation of expressions; see `Expressions`."""

    @property
    def source(self) -> PythonSource: ...

    @property
    def captured(self) -> Captured: ...

    @property
    def emitter(self) -> Emitter[ast.AST]: ...

    @property
    def guards(self) -> Guards[ast.AST]: ...

    @property
    def variables(self) -> dict[ast.Name, Variable]: ...

    @property
    def arithmetic(self) -> Arithmetic: ...

    @property
    def point(self) -> tuple[Affine, ...]:
        """Where values are elements, of the result that all is broadcast to."""
        ...

    def at(self, point: tuple[Affine, ...]) -> AbstractContextManager[None]:
        """Meanwhile, values are the elements at a point."""
        ...

    def index(self, node: ast.expr, what: str) -> Index:
        """An affine integer; raises SourceError where it is none."""
        ...

    def affine(self, node: ast.expr, what: str) -> Affine:
        """An affine expression without minimum or maximum; raises SourceError."""
        ...

    def static(self, node: ast.expr) -> Constant | Index | None:
        """A constant or an affine integer, or None."""
        ...

    def value(self, node: ast.expr) -> Value:
        """The value of an expression."""
        ...

    def is_local(self, node: ast.expr) -> bool:
        """Whether a name is an argument or a variable of the function."""
        ...

    def is_data(self, node: ast.expr) -> bool:
        """Whether a name or an element is a number that the kernel computes or reads."""
        ...

    def view(self, node: ast.expr) -> View | None:
        """The view that an expression is; None for all else."""
        ...

    def shape(self, node: ast.expr) -> tuple[Affine, ...]:
        """The extents of an expression; none for a number."""
        ...

    def extents(self, node: ast.expr) -> tuple[Affine, ...] | None:
        """The extents where a piece is `A.shape`."""
        ...

    def condition(self, node: ast.expr) -> Condition:
        """A condition."""
        ...

    def is_truth(self, node: ast.expr) -> bool:
        """Whether an expression is a truth value, by its form or its type."""
        ...

    def truth_value(self, node: ast.expr) -> Value:
        """A truth value as one."""
        ...

    def choose(
        self,
        condition: Condition,
        one: Callable[[], Value],
        other: Callable[[], Value],
        node: ast.AST,
    ) -> Value:
        """The value of a conditional expression."""
        ...

    def length(self, node: ast.Call) -> Value:
        """The first extent of the array argument of a call."""
        ...

    def outer(self, node: ast.Call) -> Value:
        """The element of an outer product."""
        ...

    def truth_of_call(self, node: ast.Call) -> str:
        """The truth value of a call such as `isnan(x)`."""
        ...
