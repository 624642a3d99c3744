"""Statements on whole arrays and slices, as loops over their elements.

NumPy computes the right side before it stores anything: where an iteration would read what an
earlier one has written, a temporary takes the old values.
"""

from __future__ import annotations

import ast

from ...dialects.errors import SourceError
from .accesses import Read
from .affine_sets import overwrites
from .branches import Branches
from .element_types import ElementType
from .functions import PARTS
from .masks import choice, is_mask
from .reductions import Reductions
from .scatters import Scatters
from .values import Value
from .variables import Variable
from .views import View, broadcast, same, spelled_shape


class ArrayStatements:
    """Emits assignments of arrays, and the reductions inside of expressions.

    Under a condition on data, elements keep their values where that does not hold.
    """

    def __init__(self, reductions: Reductions, branches: Branches) -> None:
        self.reductions = reductions
        self.branches = branches
        self.expressions = reductions.expressions
        self.source = reductions.source
        self.emitter = reductions.emitter
        self.nests = reductions.nests
        self.arrays = reductions.arrays
        self.scatters = Scatters(reductions, branches)

    def attribute(self, target: ast.Attribute) -> SourceError:
        """The error of an assignment to an attribute."""
        spelled, hint = ast.unparse(target), f"write {ast.unparse(target)}[...]"
        if target.attr in PARTS:
            parts = {"real": "complex(..., z.imag)", "imag": "complex(z.real, ...)"}
            hint = f"assign the number as a whole: z = {parts[target.attr]}"
        return self.source.error(target, f"'{spelled}' cannot be assigned to", hint)

    def assign(self, target: ast.expr, node: ast.Assign | ast.AugAssign) -> bool:
        """Emits an assignment where one side is an array; raises SourceError.

        What is left are numbers, with the reductions inside of them computed.
        """
        if is_mask(self.expressions, target):
            target, node = choice(self.expressions, target, node)
        if self.scatters.assign(target, node):
            return True
        operator = type(node.op) if isinstance(node, ast.AugAssign) else None
        if isinstance(target, ast.Name) and operator is None:
            return self._name(target, node)
        view = self.expressions.view(target)
        if isinstance(target, ast.Attribute) and (
            target.attr not in PARTS or view is None or not view.rank
        ):
            raise self.attribute(target)
        if view is None or not view.rank:
            self.reductions.compute(node.value, whole=operator is None)
            shape = self.expressions.shape(node.value)
            if shape:
                raise self.source.error(
                    node.value,
                    f"an array of shape {spelled_shape(shape)} where one number is needed",
                    f"write {ast.unparse(target)}[:]"
                    if view is None
                    else "name an element, such as A[i]",
                )
            return False
        accumulate = operator is ast.Add
        is_plain = not view.part and not view.is_read_only and not view.may_be_copy
        direct = (operator is None or accumulate) and is_plain and self.branches.guard is None
        if direct and self.reductions.into(node.value, view, accumulate=accumulate):
            return True
        self.reductions.compute(node.value, whole=operator is None)
        shape = self.expressions.shape(node.value)
        result = broadcast(view.extents, shape)
        fits = result is not None and len(shape) <= view.rank
        if not fits or not all(map(same, result or (), view.extents)):
            raise self.source.error(
                node,
                f"an array of shape {spelled_shape(shape)} does not fit the shape "
                f"{spelled_shape(view.extents)} of '{ast.unparse(target)}'",
                "give equal extents the same name in the annotations",
            )
        self._store(view, target, node, operator)
        return True

    def _name(self, target: ast.Name, node: ast.Assign | ast.AugAssign) -> bool:
        """An assignment to a name: a view, or an array of its own."""
        variable = self.expressions.variables.get(target)
        if self.arrays.function(node.value) is None:
            name = target.id if variable is None else _array_name(variable)
            self.reductions.compute(node.value, name)
            if not self.expressions.shape(node.value):
                return False
        else:
            self.reductions.compute_arguments(node.value)
        if variable is not None and variable in self.expressions.values:
            return self._again(variable, target, node)
        if variable is not None and variable.begins_without_value:
            raise self.source.error(
                node.value,
                "an array is returned before the end of the function",
                "give the arrays of all 'return's one name",
            )
        if variable is None or not variable.begins_in_own_block or variable.kind is not None:
            raise self._refusal(target)
        self.expressions.values[variable] = self._array(variable, node.value)
        return True

    def _again(
        self, variable: Variable, target: ast.Name, node: ast.Assign | ast.AugAssign
    ) -> bool:
        """A new array for a name that has one: stored into that, where nobody else has it."""
        view, values = self.expressions.values[variable], self.expressions.values
        others = [each for other, each in values.items() if other is not variable]
        others += self.expressions.names.values()
        if (
            not isinstance(view, View)
            or view.array.sizes is None
            or not view.is_whole
            or any(isinstance(each, View) and each.array == view.array for each in others)
        ):
            raise self.source.error(
                target,
                f"'{target.id}' gets a new array, while its first one has another name as well",
                f"begin with a copy, such as {target.id} = A.copy()",
            )
        new = self.expressions.shape(node.value)
        if (
            self.arrays.function(node.value) is not None
            or len(new) != view.rank
            or not all(map(same, new, view.extents))
            or self._element(node.value) != view.element_type
        ):
            raise self.source.error(
                target,
                f"'{target.id}' gets an array of another shape or type, or an empty one",
                f"write {target.id}[...] = ... to store into it, or use a name of its own",
            )
        self._store(view, target, node, None)
        return True

    def _element(self, node: ast.expr) -> ElementType:
        """The type of the elements of an expression."""
        point, _ = self.nests.variables(self.expressions.shape(node))
        with self.emitter.block(), self.expressions.at(point):
            return self.expressions.arithmetic.scalar(self.expressions.value(node), node).element

    def name(self, target: ast.expr, view: View) -> None:
        """Gives a view a name; raises SourceError."""
        if not isinstance(target, ast.Name):
            raise self.source.error(
                target,
                "arrays are not assigned together: NumPy stores one before it reads the next",
                "write one statement for each, with a copy where two are swapped",
            )
        variable = self.expressions.variables.get(target)
        if variable is None or not variable.may_be_array:
            raise self._refusal(target)
        self.expressions.values[variable] = view

    def _refusal(self, target: ast.expr) -> Exception:
        spelled = ast.unparse(target)
        return self.source.error(
            target,
            f"'{spelled}' cannot become an array here",
            f"write {spelled}[...] = ... to store into it, or use a name of its own",
        )

    def _array(self, variable: Variable, node: ast.expr) -> View:
        if self.arrays.function(node) is not None:
            return self.arrays.create(_array_name(variable), node)
        is_copy = self.expressions.view_forms.copied(node) is not None
        view = None if is_copy else self.expressions.accesses.named(node)
        if view is not None:
            return view
        return self.arrays.named(_array_name(variable), node)

    def _store(
        self,
        view: View,
        target: ast.expr,
        node: ast.Assign | ast.AugAssign,
        operator: type[ast.operator] | None,
    ) -> None:
        point, loops = self.nests.over(view)
        written = view.at(point)
        reads = self.expressions.accesses.reads
        for _ in range(2 + len(list(ast.walk(node.value)))):
            before = len(reads)
            with self.emitter.block() as body, self.expressions.at(point):
                value, element = self._value(target, node, operator), view.array.element(written)
                stored = self.expressions.accesses.stored(
                    value, view, target, node.value, f"affine.load {element}"
                )
                kind = view.array.type.element.mlir
                stored = self.branches.guarded(stored, element, kind, node)
                self.emitter.line(f"affine.store {stored}, {element}", node)
            early = [
                read
                for read in reads[before:]
                if read.array == view.array
                and read.node is not target
                and (read.subscripts is None or overwrites(written, read.subscripts, loops))
            ]
            if not early:
                self.nests.around(body, loops, node)
                return
            self._take_old(early, view, node)
        raise AssertionError("temporaries end all conflicts")

    def _value(
        self,
        target: ast.expr,
        node: ast.Assign | ast.AugAssign,
        operator: type[ast.operator] | None,
    ) -> Value:
        value = self.expressions.number(node.value)
        if operator is None:
            return value
        before = self.expressions.value(target)
        return self.expressions.arithmetic.binary(operator, before, value, node)

    def _take_old(
        self,
        early: list[Read],
        view: View,
        node: ast.Assign | ast.AugAssign,
    ) -> None:
        """Computes before the loops what these would overwrite: numbers, one array, or all."""
        computed = self.expressions.computed
        for read in early:
            if not read.rank:
                with self.expressions.at(()):
                    computed[read.node] = self.expressions.value(read.node)
        arrays = [read for read in early if read.rank]
        if not arrays:
            return
        smaller = len(arrays) == 1 and arrays[0].rank < view.rank
        old = arrays[0].node if smaller else node.value
        computed[old] = self.arrays.holding(view.array.name + "_old", old)


def _array_name(variable: Variable) -> str:
    """The name of a variable's array: one that is not its last is not returned."""
    return variable.name if variable.is_last else f"{variable.name}$old"
