"""isl's AST -> nest: expressions as indices, iterators as numbered variables."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Literal

import islpy as isl

from ...passes.polyhedral.schedule_tree import Loop
from .index_expression import (
    Comparison,
    Condition,
    Connective,
    Index,
    bounds,
    choice,
    decide,
    maximum,
    minimum,
)
from .isl_ast import MarkedAst, TileCase, TileLoop
from .nest import Block, Call, For, Guard, Nest, Once, TileSplit
from .scanning import Scan

Environment = Mapping[str, Index]


def ast_to_nest(ast: MarkedAst, parameters: Environment, new_variable: Callable[[], int]) -> Nest:
    """The nest of a marked AST.

    `parameters` are the values of the Scop's parameters; `new_variable` numbers loop variables.
    """
    converter = _Converter(ast, parameters, new_variable)
    if isinstance(ast.root, Scan):
        return ast.root.nest(parameters, new_variable, converter.call)
    return converter.node(ast.root, parameters)


class _Converter:
    def __init__(self, ast: MarkedAst, parameters: Environment, new_variable: Callable[[], int]):
        self.ast = ast
        self.parameters = parameters
        self.new_variable = new_variable
        self.nodes: dict[str, Callable[[isl.AstNode, Environment], Nest]] = {
            "mark": self._mark,
            "block": self._block,
            "if_": self._if,
            "user": self._user,
        }

    def node(self, node: isl.AstNode, environment: Environment) -> Nest:
        return self.nodes[_name(node.get_type())](node, environment)

    def _block(self, node: isl.AstNode, environment: Environment) -> Nest:
        children = node.block_get_children()
        return Block(
            tuple(
                self.node(children.get_at(position), environment)
                for position in range(children.n_ast_node())
            )
        )

    def _if(self, node: isl.AstNode, environment: Environment) -> Nest:
        condition = to_condition(node.if_get_cond(), environment)
        then = partial(self.node, node.if_get_then_node(), environment)
        if not node.if_has_else_node():
            return guard(condition, then, _nothing)
        return guard(condition, then, partial(self.node, node.if_get_else_node(), environment))

    def _user(self, node: isl.AstNode, environment: Environment) -> Nest:
        call = node.user_get_expr()
        name = call.op_get_arg(0).id_get_id().get_name()
        expressions = (call.op_get_arg(k) for k in range(1, self.ast.depths[name] + 1))
        return self.call(
            name, tuple(to_index(expression, environment) for expression in expressions)
        )

    def call(self, name: str, arguments: tuple[Index, ...]) -> Nest:
        """An instance of a statement, or a run-time tile loop that stands for one."""
        tiles = self.ast.tiles.get(name)
        return Call(name, arguments) if tiles is None else self._tiles(tiles, arguments)

    def _tiles(self, tiles: TileLoop, around: tuple[Index, ...]) -> Nest:
        inside = tiles.inside
        values = {**self.parameters, **dict(zip(inside.around, around, strict=True))}
        lower: list[Index] = []
        upper: list[Index] = []
        for limit in inside.limits:
            factor = limit.get_coefficient_val(isl.dim_type.set, 0).to_python()
            rest = _on_parameters(limit, values)
            if factor > 0:
                lower.append(-(rest // factor))
            else:
                upper.append(rest // -factor + 1)
        variable = self.new_variable()
        size = values[inside.size]
        values[inside.first] = Index.variable(variable)
        body = ast_to_nest(tiles.ast, values, self.new_variable)
        return For(
            tiles.loop,
            variable,
            bounds("max", maximum(lower)),
            bounds("min", minimum(upper)),
            1,
            body,
            size,
        )

    def _mark(self, node: isl.AstNode, environment: Environment) -> Nest:
        mark = node.mark_get_id().get_name()
        note = self.ast.note(node)
        general = partial(
            self._loop, self.ast.loops[mark], note.value, node.mark_get_node(), environment
        )
        if note.complete:
            general = _nothing
        for case in reversed(note.cases):
            general = partial(self._case, case, general, environment)
        return general()

    def _case(
        self, case: TileCase, otherwise: Callable[[], Nest], environment: Environment
    ) -> Nest:
        inside = dict(environment)
        for parameter, origin in zip(case.parameters, case.origin, strict=True):
            inside[parameter] = to_index(origin, environment)
        tile = partial(self.node, case.inside, inside)
        condition = to_condition(case.condition, environment)
        verdict = decide(condition)
        if verdict is None:
            return TileSplit(condition, tile(), otherwise())
        return tile() if verdict else otherwise()

    def _loop(
        self, loop: Loop, value: isl.AstExpr | None, node: isl.AstNode, environment: Environment
    ) -> Nest:
        if _name(node.get_type()) != "for_":
            if value is not None and not _contains_for(node):
                return Once(loop, to_index(value, environment), self.node(node, environment))
            return self._around_loop(loop, value, node, environment)
        iterator = node.for_get_iterator().id_get_id().get_name()
        scaled = self.ast.scaled_value(node)
        if node.for_is_degenerate():
            first = to_index(node.for_get_init(), environment)
            inside = {**environment, iterator: first}
            own = first if scaled is None else to_index(scaled, inside)
            return Once(loop, own, self.node(node.for_get_body(), inside))
        first = lower_bound(node.for_get_init(), environment)
        condition = node.for_get_cond()
        limit = to_index(condition.op_get_arg(1), environment)
        if _name(condition.op_get_type()) == "le":
            limit = limit + 1
        variable = self.new_variable()
        inside = {**environment, iterator: Index.variable(variable)}
        own = None if scaled is None else to_index(scaled, inside)
        body = self.node(node.for_get_body(), inside)
        step = node.for_get_inc().int_get_val().to_python()
        lower, upper = bounds("max", first), bounds("min", limit)
        return For(loop, variable, lower, upper, step, body, value=own)

    def _around_loop(
        self, loop: Loop, value: isl.AstExpr | None, node: isl.AstNode, environment: Environment
    ) -> Nest:
        """A loop below guards on outer iterators, or in several parts."""
        match _name(node.get_type()):
            case "if_":
                condition = to_condition(node.if_get_cond(), environment)
                then = partial(self._loop, loop, value, node.if_get_then_node(), environment)
                if not node.if_has_else_node():
                    return guard(condition, then, _nothing)
                otherwise = node.if_get_else_node()
                return guard(
                    condition, then, partial(self._loop, loop, value, otherwise, environment)
                )
            case "block":
                children = node.block_get_children()
                return Block(
                    tuple(
                        self._loop(loop, value, children.get_at(position), environment)
                        for position in range(children.n_ast_node())
                    )
                )
            case _:
                return self.node(node, environment)


def _contains_for(node: isl.AstNode) -> bool:
    """Whether the loop of a mark is below its node `node`, or was left out."""
    match _name(node.get_type()):
        case "for_":
            return True
        case "if_":
            return _contains_for(node.if_get_then_node()) or (
                node.if_has_else_node() and _contains_for(node.if_get_else_node())
            )
        case "block":
            children = node.block_get_children()
            return any(_contains_for(children.get_at(k)) for k in range(children.n_ast_node()))
        case _:
            return False


def _on_parameters(constraint: isl.Constraint, parameters: Environment) -> Index:
    """The part of a constraint that is on parameters."""
    result = Index(constraint.get_constant_val().to_python())
    for position in range(constraint.dim(isl.dim_type.param)):
        factor = constraint.get_coefficient_val(isl.dim_type.param, position).to_python()
        if factor:
            name = constraint.get_dim_name(isl.dim_type.param, position)
            result = result + parameters[str(name)] * factor
    return result


def guard(condition: Condition, then: Callable[[], Nest], otherwise: Callable[[], Nest]) -> Nest:
    """`then` if the condition holds, else `otherwise`; decided at once when it can be."""
    verdict = decide(condition)
    if verdict is None:
        return Guard(condition, then(), otherwise())
    return then() if verdict else otherwise()


def to_index(expression: isl.AstExpr, environment: Environment) -> Index:
    """An isl AST expression as an index; iterators and parameters by name from `environment`."""
    kind = _name(expression.get_type())
    if kind == "int":
        return Index(expression.int_get_val().to_python())
    if kind == "id":
        return environment[expression.id_get_id().get_name()]
    operator = _name(expression.op_get_type())
    arguments = [expression.op_get_arg(k) for k in range(expression.op_get_n_arg())]
    if operator in _CHOICES:
        condition, then, otherwise = arguments
        return choice(
            to_condition(condition, environment),
            to_index(then, environment),
            to_index(otherwise, environment),
        )
    return _ARITHMETIC[operator]([to_index(argument, environment) for argument in arguments])


def lower_bound(expression: isl.AstExpr, environment: Environment) -> Index:
    """The first value of a loop: its rational lower bound, rounded up.

    The exact divisions in it have no remainder where the loop has iterations. For other values of
    the outer iterators, isl counts on the rational bound to be above the upper one, and leaves out
    the guard: a loop from 5/2 to 2 has no iterations, one from the floor of 5/2 does.
    """
    operator, arguments = _operation(expression)
    if operator == "max":
        return maximum([lower_bound(argument, environment) for argument in arguments])
    if operator in _CHOICES:
        condition, then, otherwise = arguments
        return choice(
            to_condition(condition, environment),
            lower_bound(then, environment),
            lower_bound(otherwise, environment),
        )
    numerator, denominator = _fraction(expression, environment)
    return numerator if denominator == 1 else -(-numerator // denominator)


def _fraction(expression: isl.AstExpr, environment: Environment) -> tuple[Index, int]:
    """Numerator and denominator of an isl AST expression whose exact divisions are rational."""
    operator, arguments = _operation(expression)
    if operator not in ("div", "add", "sub", "minus", "mul"):
        return to_index(expression, environment), 1
    parts = [_fraction(argument, environment) for argument in arguments]
    if operator == "div":
        (numerator, denominator), (divisor, _) = parts
        return numerator, denominator * _constant(divisor)
    if operator == "mul":
        denominator = math.prod(each for _, each in parts)
        numerators = [numerator for numerator, _ in parts]
    else:
        denominator = math.lcm(*(each for _, each in parts))
        numerators = [numerator * (denominator // each) for numerator, each in parts]
    return _ARITHMETIC[operator](numerators), denominator


def _operation(expression: isl.AstExpr) -> tuple[str, list[isl.AstExpr]]:
    """The operator and its operands; no operator where the expression is none."""
    if _name(expression.get_type()) != "op":
        return "", []
    arguments = [expression.op_get_arg(k) for k in range(expression.op_get_n_arg())]
    return _name(expression.op_get_type()), arguments


def to_condition(expression: isl.AstExpr, environment: Environment) -> Condition:
    """An isl AST expression of boolean kind as a condition."""
    if _name(expression.get_type()) == "int":
        holds = expression.int_get_val().to_python() != 0
        return Connective("all" if holds else "any", ())
    operator = _name(expression.op_get_type())
    left, right = (expression.op_get_arg(k) for k in range(2))
    if operator in _CONNECTIVES:
        return Connective(
            _CONNECTIVES[operator],
            (to_condition(left, environment), to_condition(right, environment)),
        )
    return _COMPARISONS[operator](to_index(left, environment), to_index(right, environment))


def _nothing() -> Nest:
    return Block(())


def _name(enumerator: object) -> str:
    """Name of an isl enumerator; islpy's declared types for them are plain integers."""
    return str(enumerator).rpartition(".")[2]


def _constant(index: Index) -> int:
    assert index.is_constant, "isl divides by constants only"
    return index.constant


def _product(operands: list[Index]) -> Index:
    left, right = operands
    return right * left.constant if left.is_constant else left * _constant(right)


_CHOICES = ("cond", "select")

# isl guarantees that `div` is exact and that the dividend of `pdiv_*` is not negative, and compares
# `zdiv_r` only with zero: floor division and the non-negative remainder serve all of them.
_ARITHMETIC: dict[str, Callable[[list[Index]], Index]] = {
    "add": lambda o: o[0] + o[1],
    "sub": lambda o: o[0] - o[1],
    "minus": lambda o: -o[0],
    "mul": _product,
    "div": lambda o: o[0] // _constant(o[1]),
    "fdiv_q": lambda o: o[0] // _constant(o[1]),
    "pdiv_q": lambda o: o[0] // _constant(o[1]),
    "pdiv_r": lambda o: o[0] % _constant(o[1]),
    "zdiv_r": lambda o: o[0] % _constant(o[1]),
    "max": maximum,
    "min": minimum,
}

_COMPARISONS: dict[str, Callable[[Index, Index], Comparison]] = {
    "eq": lambda a, b: Comparison("==", a - b),
    "le": lambda a, b: Comparison(">=", b - a),
    "lt": lambda a, b: Comparison(">=", b - a - 1),
    "ge": lambda a, b: Comparison(">=", a - b),
    "gt": lambda a, b: Comparison(">=", a - b - 1),
}

_CONNECTIVES: dict[str, Literal["all", "any"]] = {
    "and_": "all",
    "and_then": "all",
    "or_": "any",
    "or_else": "any",
}
