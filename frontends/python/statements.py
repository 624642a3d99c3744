"""Statements of Python as operations of affine, memref and arith."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import partial

from ...dialects.errors import SourceError
from ..text.affine import Affine, Index, Name, bound_text, quotient
from ..text.conditions import Fixed
from ..text.emitter import Block, Emitter
from .array_statements import ArrayStatements
from .assertions import require
from .branches import Branches
from .early_returns import NoValue
from .element_types import ElementType
from .expressions import Expressions, Meaning
from .inlining import Callees, bind
from .local_arrays import LocalArrays
from .nests import Nests
from .opaque import Opaque
from .promises import Promise, prange
from .reductions import Reductions
from .refused_statements import ELSE, REFUSED
from .results import Result, spelled_result
from .source import PythonSource
from .unpacking import elements_of_row
from .values import Kind, Scalar, Value, element_of
from .variables import Variable
from .views import ONE, View

_DEEPEST = 20
"""Calls inside of calls."""


class KindChanged(Exception):
    """A later assignment has given a variable another type: the function is printed again."""


class Statements:
    """Emits statements."""

    def __init__(
        self,
        expressions: Expressions,
        source: PythonSource,
        emitter: Emitter[ast.AST],
        callees: Callees,
    ) -> None:
        self.expressions = expressions
        self.source = source
        self.emitter = emitter
        self.nests = Nests(emitter, callees.taken, expressions.accesses.ranges)
        self.local_arrays = LocalArrays(expressions, source, emitter, self.nests)
        self.reductions = Reductions(
            expressions, source, emitter, self.nests, self.local_arrays, self._inline
        )
        self.callees = callees
        self.promises: list[Promise] = []
        self._blocks: dict[int, Block[ast.AST]] = {}
        self.opaque = Opaque(expressions, source, emitter)
        self.branches = Branches(expressions, source, emitter, self.opaque)
        self.arrays = ArrayStatements(self.reductions, self.branches)
        self._guards: dict[int, str | None] = {}
        self._cells: dict[Variable, str] = {}
        self.results: tuple[Result, ...] = ()
        self.several: dict[ast.expr, list[Meaning]] = {}
        self._calls: list[ast.Call] = []

    def function(self, definition: ast.FunctionDef) -> None:
        """Emits the body of a function; raises SourceError, KindChanged."""
        results: list[Result] = []
        for each in self._body(definition):
            view = self.expressions.view(each)
            if view is None:
                value = self.expressions.value(each)
                scalar = self.expressions.arithmetic.scalar(value, each)
                results.append(Result(each, scalar=scalar))
                continue
            results.append(Result(each, view=self._returned(view, each)))
        self.results = tuple(results)

    def _returned(self, view: View, node: ast.expr) -> View:
        """An array that is returned: an argument, or one that the caller allocates."""
        if view.array.returned and view.is_whole:
            return view
        if view == self.expressions.names.get(view.array.name):
            return view
        if view.array.sizes is None:
            spelled = spelled_result(node)
            raise self.source.error(
                node, f"'{spelled}' shares the memory of an argument", f"return {spelled}.copy()"
            )
        self.expressions.computed[node] = view
        return self.local_arrays.returning(node)

    def _body(self, definition: ast.FunctionDef) -> list[ast.expr]:
        """Emits all statements of a function; returns the expressions that it returns."""
        *body, last = definition.body
        if not isinstance(last, ast.Return):
            self.block(definition.body)
            return []
        self._begin(definition.body)
        for statement in body:
            self.statement(statement)
        if last.value is None:
            return []
        return last.value.elts if isinstance(last.value, ast.Tuple) else [last.value]

    def _check_pure(self, node: ast.Call, arguments: list[Meaning], first: int) -> None:
        """Raises SourceError where a call inside of an expression writes to its arguments."""
        arrays = {each.array.name for each in arguments if isinstance(each, View)}
        for line, _ in self.emitter.blocks[-1].lines[first:]:
            if ".store " in line and any(f"%{name}[" in line for name in arrays):
                raise self.source.error(
                    node,
                    f"'{ast.unparse(node.func)}' writes to its arguments",
                    "call it in a statement of its own",
                )

    def _inline(self, node: ast.Call, whole: bool) -> None:
        """Emits the statements of a kernel that is called; raises SourceError.

        A call that is not the `whole` right side of a statement must not write to arguments.
        """
        expressions = self.expressions
        kernel = self.reductions.called(node)
        if len(self._calls) > _DEEPEST:
            raise self.source.error(node, f"'{ast.unparse(node.func)}' calls itself")
        for each in (*node.args, *(keyword.value for keyword in node.keywords)):
            if expressions.view(each) is None and expressions.shape(each):
                expressions.computed[each] = self.local_arrays.named("given", each)
        callee = self.callees.callee(kernel, node, expressions.captured)
        meanings = bind(callee, node, expressions, self.source)
        before = len(self.emitter.blocks[-1].lines)
        computed = dict(expressions.computed)
        expressions.variables.update(callee.variables)
        expressions.names.update(meanings)
        self._calls.append(node)
        with expressions.captured.inside(callee.captured):
            results: list[Meaning] = [
                expressions.view(each) or expressions.value(each)
                for each in self._body(callee.definition)
            ]
        self._calls.pop()
        if not whole:
            self._check_pure(node, list(meanings.values()), before)
        for name in meanings:
            del expressions.names[name]
        expressions.computed.clear()
        expressions.computed.update(computed)
        returned = getattr(callee.definition.body[-1], "value", None)
        if isinstance(returned, ast.Tuple) or not results:
            self.several[node] = results
        else:
            expressions.computed[node] = results[0]

    def block(self, statements: list[ast.stmt]) -> None:
        """Emits the statements of a block into the emitter's innermost one."""
        self._begin(statements)
        for statement in statements:
            self.statement(statement)

    def _begin(self, statements: list[ast.stmt]) -> None:
        self._blocks[id(statements)] = self.emitter.blocks[-1]
        self._guards[id(statements)] = self.branches.guard
        known = {*self._cells, *self.expressions.values}
        for variable in [each for each in known if each.block is statements]:
            self._cells.pop(variable, None)  # a branch that is printed again
            self.expressions.values.pop(variable, None)

    def statement(self, node: ast.stmt) -> None:
        """Emits one statement; raises SourceError."""
        self.expressions.computed.clear()
        if isinstance(node, ast.For):
            self._loop(node)
        elif isinstance(node, ast.If):
            self._condition(node)
        elif isinstance(node, ast.While):
            self.opaque.repeat(node, partial(self.block, node.body))
        elif isinstance(node, ast.Assign):
            self._assign(node)
        elif isinstance(node, ast.AugAssign):
            self._update(node)
        elif isinstance(node, ast.Assert):
            require(node, self.expressions, self.expressions.accesses)
        elif isinstance(node, ast.AnnAssign):
            raise self.source.error(
                node, "local variables have no annotations", "write the assignment alone"
            )
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            pass  # a docstring
        elif isinstance(node, ast.Expr) and self.reductions.kernel(node.value) is not None:
            self.reductions.compute(node.value)
        elif isinstance(node, ast.Return):
            raise self.source.error(
                node, "'return' before the end of the function", "write it as the last statement"
            )
        elif isinstance(node, ast.Expr) and self.arrays.scatters.accumulate(node.value):
            pass
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            raise self.source.error(
                node,
                f"'{ast.unparse(node.value.func)}' is no kernel: such a call is not supported",
                "call it outside of the kernel",
            )
        elif not isinstance(node, ast.Pass):
            reason, hint = REFUSED.get(type(node), ("this statement is not supported", None))
            raise self.source.error(node, reason, hint)

    # Loops

    def _loop(self, node: ast.For) -> None:
        if node.orelse:
            raise self.source.error(node.orelse[0], *ELSE)
        if not isinstance(node.target, ast.Name):
            raise self.source.error(node.target, "a loop has one variable", "write `for i in ...`")
        name = node.target.id
        names = self.expressions.names
        if name in names:
            what = "an argument or the variable of an outer loop"
            raise self.source.error(node.target, f"'{name}' is {what}", "use another name")
        if self._is_range(node.iter) and self.opaque.is_data_range(node.iter):
            self.opaque.loop(node, name, partial(self.block, node.body))
            return
        start, stop, step = self._range(node.iter)
        assert isinstance(node.iter, ast.Call)
        if self.expressions.captured.resolve(node.iter.func) is prange:
            self.promises.append(Promise(node, len(self.expressions.accesses.ranges)))
        loop = Affine.of(Name(name, symbol=False))
        if step > 0:
            lower, upper, value = start, stop, loop
        elif step == -1 and start.affine is not None and stop.affine is not None:
            # The loop in the text runs up over the same values.
            last = stop.affine.plus(ONE)
            lower, upper = Index((last,)), Index((start.affine.plus(ONE),))
            value, step = start.affine.plus(last).plus(loop, -1), 1
        else:
            first = start.affine
            if first is None:
                raise self.source.error(
                    node.iter, "the first value of a loop that runs down must be one expression"
                )
            difference = start.plus(stop, -1)
            assert difference is not None
            upper = Index(
                tuple(quotient("ceildiv", part, -step) for part in difference.parts),
                difference.kind,
            )
            lower, value, step = Index((Affine(),)), first.plus(loop, step), 1
        lower_text = self._bound(lower, "max", node.iter)
        upper_text = self._bound(upper, "min", node.iter)
        names[name] = Index((value,))
        self.expressions.accesses.ranges[Name(name, symbol=False)] = lower, upper
        with self.emitter.block() as block:
            self.block(node.body)
        del names[name], self.expressions.accesses.ranges[Name(name, symbol=False)]
        self.expressions.left_loops.add(name)
        steps = f" step {step}" if step != 1 else ""
        self.emitter.nest(f"affine.for %{name} = {lower_text} to {upper_text}{steps}", block, node)

    def _is_range(self, node: ast.expr) -> bool:
        return (
            isinstance(node, ast.Call)
            and self.expressions.captured.resolve(node.func) is range
            and not node.keywords
            and 1 <= len(node.args) <= 3
        )

    def _range(self, node: ast.expr) -> tuple[Index, Index, int]:
        found = self.expressions.captured.resolve(node.func) if isinstance(node, ast.Call) else None
        if not isinstance(node, ast.Call) or (found is not range and found is not prange):
            raise self.source.error(node, "loops run over range(...)", "write `for i in range(n)`")
        if node.keywords or not 1 <= len(node.args) <= 3:
            raise self.source.error(node, "'range' takes one to three numbers")
        zero, one = Index((Affine(),)), 1
        bounds = [self.expressions.index(argument, "a bound") for argument in node.args[:2]]
        if len(node.args) == 1:
            return zero, bounds[0], one
        if len(node.args) == 3:
            step = self.expressions.affine(node.args[2], "a step")
            if step.terms or step.constant == 0:
                raise self.source.error(node.args[2], "a step must be a constant other than 0")
            one = step.constant
        return bounds[0], bounds[1], one

    def _bound(self, bound: Index, kind: str, node: ast.expr) -> str:
        if bound.kind not in ("", kind):
            which = (
                "lower bound cannot be a minimum"
                if kind == "max"
                else ("upper bound cannot be a maximum")
            )
            raise self.source.error(
                node,
                f"a {which}: the loop would be a union of ranges",
                "write a loop over the whole range, with the condition as an `if` inside of it",
            )
        return bound_text(bound, kind)

    # Conditions

    def _condition(self, node: ast.If) -> None:
        self.reductions.compute(node.test, whole=False)
        condition = self.expressions.condition(node.test)
        if isinstance(condition, Fixed):
            # Without a block of its own: the statements belong to the block around them.
            self.block(node.body if condition.value else node.orelse)
            return
        other = partial(self.block, node.orelse) if node.orelse else None
        self.branches.emit(condition, partial(self.block, node.body), other, node)

    # Assignments

    def _assign(self, node: ast.Assign) -> None:
        if isinstance(node.value, NoValue):
            return
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Tuple | ast.List):
            self._assign_several(node.targets[0].elts, node)
            return
        if len(node.targets) == 1 and self.arrays.assign(node.targets[0], node):
            return
        stores = all(isinstance(each, ast.Subscript) for each in node.targets)
        evaluate = self.expressions.number if stores else self.expressions.value
        value = evaluate(node.value)
        for target in node.targets:
            self._store(target, value, node)

    def _assign_several(self, targets: Sequence[ast.expr], node: ast.Assign) -> None:
        extents = self.expressions.extents(node.value)
        if extents is not None:
            values: list[Meaning] = [Index((each,)) for each in extents]
        elif self.reductions.kernel(node.value) is not None:
            self.reductions.compute(node.value)
            values = [*self.several.get(node.value, [])]
        elif isinstance(node.value, ast.Tuple):
            self.reductions.compute(node.value)
            written = node.value.elts  # more than there are targets are refused below
            values = list(map(self._one, written, (*targets, *written)))
        else:
            written = elements_of_row(node.value, len(targets), self.expressions, self.source)
            if written is None:
                raise self.source.error(
                    node.value, "several variables need as many values", "write `a, b = x, y`"
                )
            values = [self.expressions.value(each) for each in written]
        if len(values) != len(targets):
            raise self.source.error(node, f"{len(targets)} variables, but {len(values)} values")
        for target, value in zip(targets, values, strict=True):
            if isinstance(value, View):
                self.arrays.name(target, value)
            else:
                self._store(target, value, node)

    def _one(self, node: ast.expr, target: ast.expr) -> Meaning:
        """One of several values that are assigned together: a new array, a view or a number."""
        if self.local_arrays.function(node) is not None:
            return self.local_arrays.create(getattr(target, "id", "held"), node)
        view = self.expressions.accesses.named(node)
        if view is not None and view.rank:
            return view
        if self.expressions.shape(node):
            return self.local_arrays.named(getattr(target, "id", "held"), node)
        return self.expressions.value(node)

    def _update(self, node: ast.AugAssign) -> None:
        if self.arrays.assign(node.target, node):
            return
        old: ast.expr = node.target
        if isinstance(old, ast.Name) and old in self.expressions.variables:
            before = self.expressions.read(self.expressions.variables[old], old)
        elif isinstance(old, ast.Name):
            raise self._refusal(old)
        else:
            before = self.expressions.value(old)
        if isinstance(old, ast.Name) and element_of(before).is_truth:
            what = f"arithmetic on the truth value '{old.id}'"
            raise self.source.error(node, what, "write `1 if ... else 0`")
        value = self.expressions.number(node.value)
        neutral = self.branches.neutral(type(node.op), value, node)
        result = self.expressions.arithmetic.binary(type(node.op), before, neutral or value, node)
        if neutral is None:
            self._store(node.target, result, node)
        else:
            with self.branches.unguarded():
                self._store(node.target, result, node)

    def _store(self, target: ast.expr, value: Value, node: ast.stmt) -> None:
        if isinstance(target, ast.Subscript):
            if self._scatters(target, value, node):
                return
            view = self.expressions.view(target)
            if view is None:
                raise self.expressions.no_array(target)
            if view.rank:
                raise self.source.error(
                    target,
                    f"'{ast.unparse(target)}' is an array, to which this statement assigns "
                    "a number",
                    "write one statement for each target",
                )
            array = view.array
            place = node.value if isinstance(node, ast.Assign | ast.AugAssign) else node
            element = array.element(view.at(()))
            load = f"affine.load {element}"
            name = self.expressions.accesses.stored(value, view, target, place, load)
            name = self.branches.guarded(name, element, array.type.element.mlir, node)
            self.emitter.line(f"affine.store {name}, {element}", node)
        elif isinstance(target, ast.Name):
            variable = self.expressions.variables.get(target)
            if variable is None or target.id in self.expressions.names:
                raise self._refusal(target)
            if isinstance(self.expressions.values.get(variable), View):
                raise self.source.error(
                    target, f"'{target.id}' is an array, and gets a number", "use another name"
                )
            self._set(variable, value, node)
        else:
            raise self.source.error(target, "this cannot be assigned to", "write A[i] or a name")

    def _scatters(self, target: ast.Subscript, value: Value, node: ast.stmt) -> bool:
        base = self.expressions.gathers.base(target)
        if base is None:
            return False
        if self.expressions.shape(target):
            self.expressions.accesses.indexed(base, target)  # says what is not affine
        place = node.value if isinstance(node, ast.Assign | ast.AugAssign) else node
        element = self.expressions.gathers.place(target, base)
        load = f"memref.load {element}"
        name = self.expressions.accesses.stored(value, base, target, place, load)
        # A subscript such as `i * i % m`: element 0 where the condition does not hold.
        name = self.branches.guarded(name, element, base.array.type.element.mlir, node, "memref")
        self.emitter.line(f"memref.store {name}, {element}", node)
        return True

    def _refusal(self, target: ast.Name) -> SourceError:
        """Why a name cannot be assigned to."""
        found = self.expressions.names.get(target.id)
        if found is None or isinstance(found, Index):
            what, hint = f"'{target.id}' is a loop variable or a size", "use another name"
        else:
            what = f"the argument '{target.id}' cannot be assigned to"
            hint = "use another name" if isinstance(found, Scalar) else "write to its elements"
        return self.source.error(target, what, hint)

    def _set(self, variable: Variable, value: Value, node: ast.stmt) -> None:
        if variable.is_value:
            self.expressions.values[variable] = value
            return
        kind = Kind.of(value)
        if variable.kind is not None:
            joined = variable.kind.join(kind)
            if joined is None:
                raise self.source.error(
                    node,
                    f"'{variable.name}' changes its type from {variable.kind} to {kind}",
                    f"start with a number of type {kind}, or use another name",
                )
            is_other = (joined.element, joined.weak) != (variable.kind.element, variable.kind.weak)
            if is_other or (variable.constants_read and not joined.same_constants(variable.kind)):
                variable.settled = joined
                raise KindChanged
            kind = joined
        variable.kind = kind
        cell = self._cells.get(variable)
        if cell is None:
            cell = self._allocate(variable, kind.element, node)
        name = self.expressions.arithmetic.convert(value, kind.element, node).name
        element = f"%{cell}[] : memref<{kind.element.mlir}>"
        if self._guards[id(variable.block)] != self.branches.guard:
            name = self.branches.guarded(name, element, kind.element.mlir, node)
        self.emitter.line(f"affine.store {name}, {element}", node)

    def _allocate(self, variable: Variable, element: ElementType, node: ast.stmt) -> str:
        """Allocates the memory cell of a variable; returns its name."""
        block = self._blocks[id(variable.block)]
        cell = self.emitter.unique(variable.name, block)
        # Stores under a condition may keep what it has.
        zero = self.local_arrays.constant(0, element).name if variable.begins_without_value else ""
        self.emitter.allocate(block, cell, element.mlir, node, zero)
        self._cells[variable] = variable.cell = cell
        return cell
