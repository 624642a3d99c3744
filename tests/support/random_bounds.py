"""Random bounds of loops and conditions."""

from __future__ import annotations

from dataclasses import replace

from .choice import Chooser, chance, choose
from .random_expressions import linear, multiple, quasi_affine, quotient
from .random_memory import Memory, bound_text
from .random_styles import LoopStyle
from .random_values import Scope
from .ranges import Affine, Index, Linear

LOOP_NAMES = "ijklm"


class BoundGenerator:
    """Bounds and conditions in the style of a program."""

    def __init__(self, chooser: Chooser, memory: Memory):
        self.chooser = chooser
        self.memory = memory

    def header(self, scope: Scope, style: LoopStyle) -> tuple[Index, str]:
        """The induction variable of a new loop, and `affine.for %i = ... to ...`."""
        name = f"%{LOOP_NAMES[scope.depth]}"
        lower, upper = self._lower(scope, style), self._upper(scope, style)
        step = choose(self.chooser, style.steps)
        suffix = "" if step == 1 else f" step {step}"
        header = f"affine.for {name} = {bound_text(lower, 'max')} to {bound_text(upper, 'min')}"
        return Index(name, lower[0].low, upper[0].high.shifted(-1)), header + suffix

    def _divided(self, scope: Scope) -> Affine:
        """A quotient of loops around."""
        return quotient(self.chooser, linear(self.chooser, scope.indices))

    def _lower(self, scope: Scope, style: LoopStyle) -> list[Affine]:
        constant = Affine.constant(choose(self.chooser, (0, 0, 0, 1, 2, -1, -2, -3)))
        if scope.indices and chance(self.chooser, style.divided):
            divided = self._divided(scope)
            return [constant, divided] if chance(self.chooser, 20) else [divided]
        form = self.chooser.integer(0, 9)
        if form <= 6 or not scope.indices:
            return [constant]
        outer = multiple(choose(self.chooser, scope.indices))
        outer = outer.shifted(choose(self.chooser, (0, 1, -1)))
        return [outer] if form <= 8 else [constant, outer]

    def _upper(self, scope: Scope, style: LoopStyle) -> list[Affine]:
        extent = Affine((), self.memory.extent())
        offset = self.chooser.integer(0, 4)
        if chance(self.chooser, style.divided):
            if not scope.indices or chance(self.chooser, 20):
                operation = choose(self.chooser, ("floordiv", "ceildiv"))
                return [extent.divided(operation, choose(self.chooser, (2, 3)))]
            divided = self._divided(scope).shifted(offset)
            return [extent, divided] if chance(self.chooser, 20) else [divided]
        form = self.chooser.integer(0, 10)
        if form <= 4 or (form >= 6 and not scope.indices):
            return [extent.shifted(choose(self.chooser, (0, 0, -1, 1, -2)))]
        if form == 5:
            return [Affine.constant(self.chooser.integer(-1, 9))]
        outer = multiple(choose(self.chooser, scope.indices))
        if form <= 8:
            return [outer.shifted(offset)]
        return [extent, outer.shifted(offset)] if form == 9 else [outer * -1 + extent]

    def condition(self, scope: Scope) -> tuple[tuple[Affine, str], Index | None]:
        """A condition, and the index whose bounds are better where it holds."""
        index = choose(self.chooser, scope.indices)
        form = self.chooser.integer(0, 7)
        if form == 0:
            least = self.chooser.integer(1, 3)
            better = replace(index, low=Linear((), least)) if not index.low.coefficients else None
            return (multiple(index).shifted(-least), ">="), better
        if form == 1:
            most = self.memory.extent().shifted(-self.chooser.integer(1, 3))
            return (Affine(((index, -1),), most), ">="), replace(index, high=most)
        if form == 2:
            other = choose(self.chooser, scope.indices)
            total = multiple(index) + multiple(other, -1) if other is not index else multiple(index)
            return (total, choose(self.chooser, (">=", "=="))), None
        if form <= 5:
            divisor = choose(self.chooser, (2, 2, 3, 4))
            operand = multiple(index) if form <= 4 else linear(self.chooser, scope.indices)
            remainder = self.chooser.integer(0, divisor - 1)
            value = operand.divided("mod", divisor).shifted(-remainder)
            return (value, choose(self.chooser, ("==", "==", ">="))), None
        condition = quasi_affine(self.chooser, scope.indices, self.memory.extent)
        return (condition, choose(self.chooser, (">=", ">=", "=="))), None
