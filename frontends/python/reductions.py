"""Sums, products, minima and maxima over axes, and contractions such as products of matrices."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain

import numpy as np

from ..text.affine import Affine, Index
from ..text.emitter import Block, Emitter
from .arithmetic import extremum_name
from .contractions import Contraction, Contractions
from .element_types import ElementType, f64, i64, u64
from .expressions import Expressions
from .functions import PARTS
from .inlining import CallableKernel
from .local_arrays import LocalArrays
from .local_functions import FunctionByRank, plain_function
from .nests import Nest, Nests
from .source import PythonSource
from .values import Constant, Scalar, Value, is_float
from .views import ONE, ZERO, View, same, spelled

_OPERATORS: dict[str, type[ast.operator]] = {
    "sum": ast.Add,
    "einsum": ast.Add,
    "mean": ast.Add,
    "norm": ast.Add,
    "prod": ast.Mult,
}
_WIDENED = ("sum", "prod", "mean", "norm")
"""What NumPy computes in 64 bits for integers; `np.einsum` adds up in the type of its operands."""


@dataclass(frozen=True)
class _Printed:
    """A term of a reduction in a block: its loops, its value, and what it reads."""

    body: Block[ast.AST]
    outer: Nest
    inner: Nest
    point: tuple[Affine, ...]
    extents: tuple[Affine, ...]
    term: Scalar
    reads: set[str]
    counts: tuple[Affine, ...]


class Reductions:
    """Emits contractions."""

    def __init__(
        self,
        expressions: Expressions,
        source: PythonSource,
        emitter: Emitter[ast.AST],
        nests: Nests,
        arrays: LocalArrays,
        inline: Callable[[ast.Call, bool], None],
    ) -> None:
        self.expressions = expressions
        self.source = source
        self.emitter = emitter
        self.nests = nests
        self.arrays = arrays
        self.inline = inline
        self.forms = Contractions(
            source, expressions.captured, expressions.shape, expressions.is_truth
        )

    def compute(self, node: ast.AST, name: str = "", *, whole: bool = True) -> None:
        """Emits all contractions inside of an expression: they are `computed` behind that.

        The expression itself may get a name, and is `whole` where it is a statement's right side.
        """
        if isinstance(node, ast.IfExp):
            for each in ast.walk(node):
                if isinstance(each, ast.expr) and (self.forms.kind(each) or self.kernel(each)):
                    raise self.source.error(
                        each,
                        "a reduction or a call of a kernel in a conditional expression",
                        "assign it to a variable before",
                    )
        for child in _operands(node):
            self.compute(child, whole=False)
        if isinstance(node, ast.expr) and node not in self.expressions.computed:
            if self.forms.kind(node) is not None and self.expressions.view(node) is None:
                self._compute(node, name)
            elif isinstance(node, ast.Call) and self.kernel(node) is not None:
                self.inline(node, whole)
            elif isinstance(node, ast.Subscript) or (
                isinstance(node, ast.Attribute) and node.attr not in PARTS
            ):
                self._hold(node.value)
            elif isinstance(node, ast.Call) and self.expressions.view_forms.is_reshape(node):
                for each in _operands(node)[:2]:
                    if isinstance(each, ast.expr):
                        self._hold(each)

    def compute_arguments(self, node: ast.expr) -> None:
        """Emits all contractions inside of the arguments of a call."""
        for child in _operands(node):
            self.compute(child, whole=False)

    def _hold(self, node: ast.expr) -> None:
        """Gives an expression memory where a piece of it is taken: `(A + B)[1:]`."""
        expressions = self.expressions
        known = node in expressions.computed or expressions.view(node) is not None
        if not known and expressions.shape(node):
            is_row = expressions.gathers.is_view(node)
            hold = self.arrays.holding if is_row else self.arrays.named
            expressions.computed[node] = hold("held", node)

    def kernel(self, node: ast.expr) -> CallableKernel | FunctionByRank | None:
        """The kernel that an expression calls."""
        if not isinstance(node, ast.Call):
            return None
        found = self.expressions.captured.resolve(node.func)
        is_one = isinstance(found, CallableKernel | FunctionByRank)
        return found if is_one else plain_function(found)

    def called(self, node: ast.Call) -> CallableKernel:
        """The kernel of a call whose arguments are computed; raises SourceError."""
        function = self.kernel(node)
        if not isinstance(function, FunctionByRank):
            assert function is not None
            return function
        rank = len(self.expressions.shape(node.args[0])) if node.args else 0
        if rank not in function.of_rank:
            ranks = " or ".join(map(str, function.of_rank))
            spelled, plural = ast.unparse(node.func), "" if ranks == "1" else "s"
            raise self.source.error(
                node,
                f"'{spelled}' takes an array of {ranks} dimension{plural} here, not of {rank}",
                "give the axis if there is one, or write the loops",
            )
        return function.of_rank[rank]

    def _compute(self, node: ast.expr, name: str) -> None:
        form = self.forms.read(node)
        assert form is not None
        printed = self._print(form, node)
        name = form.kind if form.kept or not name else name
        element = self._element(form, printed.term)
        view = (
            self.arrays.allocate(name, element, printed.extents, node)
            if printed.extents
            else self.arrays.cell(name, element, node)
        )
        self._emit(form, printed, view, node, accumulate=False)
        for axis in sorted(form.kept):
            view = View(
                view.array,
                tuple(
                    each
                    if each.axis is None or each.axis < axis
                    else type(each)(each.start, each.step, each.axis + 1)
                    for each in view.subscripts
                ),
                (*view.extents[:axis], ONE, *view.extents[axis:]),
            )
        self.expressions.computed[node] = view
        if not view.rank:
            element_value = self.expressions.accesses.load(node, view, ())
            self.expressions.computed[node] = element_value

    def into(self, node: ast.expr, target: View, *, accumulate: bool) -> bool:
        """Emits a contraction into its target, where that is no operand of it."""
        if self.forms.kind(node) is None:
            return False
        for child in _operands(node):
            self.compute(child, whole=False)
        form = self.forms.read(node)
        if form is None or form.kept or (accumulate and form.kind not in ("sum", "einsum")):
            return False
        printed = self._print(form, node)
        fits = len(printed.extents) == target.rank and all(
            same(one, other) for one, other in zip(printed.extents, target.extents, strict=True)
        )
        element = self._element(form, printed.term)
        if not fits or element != target.array.type.element or target.array.name in printed.reads:
            return False
        self._emit(form, printed, target, node, accumulate=accumulate)
        return True

    def _element(self, form: Contraction, term: Scalar) -> ElementType:
        """The type of the result: NumPy adds up integers in 64 bits, but those of products."""
        is_product = len(form.operands) > 1 or form.kind not in _WIDENED
        if not is_product and not term.element.is_float:
            is_unsigned = term.element.is_unsigned and not term.element.is_truth
            wide = u64 if is_unsigned else i64
            return f64 if form.kind in ("mean", "norm") else wide
        return term.element

    def _print(self, form: Contraction, node: ast.expr) -> _Printed:
        """Prints the term, the product of the operands, into a block of its own."""
        extents: dict[str, Affine] = {}
        shapes = [self.expressions.shape(operand) for operand in form.operands]
        for operand, labels, shape in zip(form.operands, form.labels, shapes, strict=True):
            for label, extent in zip(labels, shape, strict=True):
                known = extents.setdefault(label, extent)
                if not same(known, extent):
                    raise self.source.error(
                        operand,
                        f"the extents {spelled(known)} and {spelled(extent)} are not known to be "
                        "equal",
                        "give equal extents the same name in the annotations",
                    )
        order = [*form.result, *(label for label in extents if label not in form.result)]
        point, loops = self.nests.variables([extents[label] for label in order])
        position = dict(zip(order, point, strict=True))
        reads = self.expressions.accesses.reads
        before = len(reads)
        resolve = self.expressions.captured.resolve
        with self.emitter.block() as body:
            values: list[Value] = []
            for operand, labels in zip(form.operands, form.labels, strict=True):
                with self.expressions.at(tuple(position[label] for label in labels)):
                    is_sum = form.kind in ("sum", "mean") and len(form.operands) == 1
                    value = self.expressions.number if is_sum else self.expressions.value
                    values.append(value(operand))
            if isinstance(node, ast.Call) and resolve(node.func) is np.vdot:
                values[0] = self.expressions.calls.conjugate(values[0], node)
            term = values[0]
            for value in values[1:]:
                term = self.expressions.arithmetic.binary(ast.Mult, term, value, node)
            if form.kind == "norm":
                if not is_float(term):
                    term = self.expressions.arithmetic.convert(term, f64, node)
                term = self.expressions.arithmetic.binary(ast.Mult, term, term, node)
            scalar = self.expressions.arithmetic.scalar(term, node)
        if scalar.element.is_narrow and form.kind not in ("max", "min"):
            raise self.source.error(
                node,
                f"sums of {scalar.element} are computed in f32 by NumPy and rounded at the end",
                "write A.astype(f32) for the operands, and round the result",
            )
        if scalar.element.is_complex and form.kind not in ("sum", "einsum", "mean", "prod"):
            raise self.source.error(
                node,
                f"'{form.kind}' of complex numbers is not supported",
                "write it in terms of abs(z), z.real or z.imag",
            )
        names = {read.array.name for read in reads[before:]}
        results = set(chain.from_iterable(position[x].names() for x in form.result))
        return _Printed(
            body,
            [each for each in loops if each.name in results],
            [each for each in loops if each.name not in results],
            tuple(position[label] for label in form.result),
            tuple(extents[label] for label in form.result),
            scalar,
            names,
            tuple(extent for label, extent in extents.items() if label not in form.result),
        )

    def _emit(
        self, form: Contraction, printed: _Printed, view: View, node: ast.expr, *, accumulate: bool
    ) -> None:
        arithmetic, element = self.expressions.arithmetic, view.array.type.element
        target = view.array.element(view.at(printed.point))
        with self.emitter.block(printed.body) as body:
            name = self.emitter.operation(f"affine.load {target}", node)
            before = Scalar(name, element)
            term = arithmetic.convert(printed.term, element, node)
            is_moved = not printed.counts and len(form.operands) == 1 and not accumulate
            # Elements in another order keep the sign of zeros.
            result = term if is_moved else self._combined(form, before, term, node)
            self.emitter.line(f"affine.store {result.name}, {target}", node)
        with self.emitter.block() as whole:
            if not accumulate:
                first = self._first(form, printed, element, node)
                self.emitter.line(f"affine.store {first.name}, {target}", node)
            self.nests.around(body, printed.inner, node)
            if form.kind == "mean":
                self._divide(target, element, printed.counts, node)
            elif form.kind == "norm":
                name = self.emitter.operation(f"affine.load {target}", node)
                root = self.emitter.operation(f"math.sqrt {name} : {element.mlir}", node)
                self.emitter.line(f"affine.store {root}, {target}", node)
        self.nests.around(whole, printed.outer, node)

    def _combined(self, form: Contraction, before: Scalar, term: Scalar, node: ast.expr) -> Scalar:
        arithmetic = self.expressions.arithmetic
        if form.kind in _OPERATORS:
            result = arithmetic.binary(_OPERATORS[form.kind], before, term, node)
            assert isinstance(result, Scalar)
            return result
        return arithmetic.operation(
            extremum_name(form.kind, term.element),
            before,
            term,
            node,
        )

    def _first(
        self, form: Contraction, printed: _Printed, element: ElementType, node: ast.expr
    ) -> Scalar:
        """What a reduction starts with: zero, one, or for a minimum the first element."""
        if form.kind in _OPERATORS:
            return self.arrays.constant(1 if form.kind == "prod" else 0, element)
        point = dict(zip(form.result, printed.point, strict=True))
        with self.expressions.at(tuple(point.get(label, ZERO) for label in form.labels[0])):
            value = self.expressions.value(form.operands[0])
        return self.expressions.arithmetic.convert(value, element, node)

    def _divide(
        self, target: str, element: ElementType, counts: tuple[Affine, ...], node: ast.expr
    ) -> None:
        arithmetic = self.expressions.arithmetic
        result: Value = Scalar(self.emitter.operation(f"affine.load {target}", node), element)
        count: Value = Constant(1)
        for extent in counts:
            number = (
                arithmetic.convert(Index((extent,)), element, node)
                if extent.terms
                else Constant(extent.constant)
            )
            count = arithmetic.binary(ast.Mult, count, number, node)
        assert is_float(result)
        result = arithmetic.binary(ast.Div, result, count, node)
        assert isinstance(result, Scalar)
        self.emitter.line(f"affine.store {result.name}, {target}", node)


def _operands(node: ast.AST) -> list[ast.AST]:
    """The pieces of an expression; of a method that is called, what it is a method of."""
    children = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        children[0] = node.func.value
    return children
