"""Scaled loads: used only as a product with a scalar argument, `alpha * A[i, k]`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from .scop import Access, Scop, Statement


@dataclass(frozen=True)
class ScaledLoad:
    """A load and the multiplication by `scalar`, an argument of the function, that takes it."""

    load: Operation
    product: Operation
    scalar: SSAValue


def scaled_load(scop: Scop, statement: Statement, access: Access) -> ScaledLoad | None:
    """The product that a load is for; None where it has another use, or the factor varies."""
    value = access.op.results[0]
    users = [op for op in statement.body for operand in op.operands if operand is value]
    if len(users) != 1 or not isinstance(users[0], arith.MulfOp):
        return None
    product = users[0]
    scalar = product.rhs if product.lhs is value else product.lhs
    return ScaledLoad(access.op, product, scalar) if scalar in scop.func.args else None


def multiply(scaled: ScaledLoad, load: Operation) -> Operation:
    """The same multiplication of what another load reads."""
    return scaled.product.clone({scaled.load.results[0]: load.results[0]})


def take_products(statement: Statement, scaled: Iterable[ScaledLoad]) -> Statement:
    """The statement whose loads read the products themselves."""
    products = {each.product for each in scaled}
    loads = {each.load: each.product for each in scaled}
    values: dict[SSAValue, SSAValue] = {}
    copies: dict[Operation, Operation] = {}
    body: list[Operation] = []
    for op in statement.body:
        if op in products:
            continue
        if op in loads or any(operand in values for operand in op.operands):
            copies[op] = op.clone(values)
        if op in loads:
            values[loads[op].results[0]] = copies[op].results[0]
        body.append(copies.get(op, op))
    accesses = tuple(replace(a, op=copies.get(a.op, a.op)) for a in statement.accesses)
    return replace(statement, accesses=accesses, body=tuple(body))
