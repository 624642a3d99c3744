"""Square roots of 512 bits by products, to the same bit as by the processor's instruction.

That of Intel's processors takes 24 cycles or more for eight doubles, and products run beside its
divisions. An estimate y of 1 / sqrt(x) is improved together with g = x y and h = y / 2 (by R.
Goldschmidt), and a last step rounds g + (x - g g) h, which is sqrt(x) to twice the digits (P.
Markstein, Computation of Elementary Functions on the IBM RISC System/6000 Processor, 1990). Few
numbers have a root that comes nearly that close to the middle of two neighbours; the tests try the
closest ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from llvmlite import ir

from .emitter import FunctionEmitter
from .module import ModuleEmitter
from .types import I32, I64

_BITS = 512
_OFTEN = 1000

_T = TypeVar("_T")


@dataclass(frozen=True)
class Format:
    """A format of numbers: no step leaves its normal numbers for roots of those in the range.

    `steps` of Goldschmidt's make all bits of 14; `estimate` is what LLVM calls the instruction.
    """

    number: ir.Type
    integer: ir.IntType
    steps: int
    estimate: str
    least: float
    beyond: float

    @property
    def lanes(self) -> int:
        """In one vector."""
        return _BITS // self.integer.width

    @property
    def vector(self) -> ir.VectorType:
        """The type of a whole register."""
        return ir.VectorType(self.number, self.lanes)


FORMATS = (
    Format(ir.DoubleType(), I64, 2, "rsqrt14.pd.512", 2.0**-700, 2.0**1000),
    Format(ir.FloatType(), I32, 1, "rsqrt14.ps.512", 2.0**-70, 2.0**120),
)


def improved_root(
    value: _T,
    estimate: _T,
    half: _T,
    steps: int,
    multiply: Callable[[_T, _T], _T],
    fused: Callable[[_T, _T, _T], _T],
    negate: Callable[[_T], _T],
) -> _T:
    """The root of a number, of whose reciprocal root an estimate has 14 bits; `fused`: a b + c."""
    root, part = multiply(value, estimate), multiply(half, estimate)
    for _ in range(steps):
        rest = fused(negate(root), part, half)
        root, part = fused(root, rest, root), fused(part, rest, part)
    return fused(fused(negate(root), root, value), part, root)


def square_root(
    emitter: FunctionEmitter, operands: Sequence[ir.Value], flags: Sequence[str]
) -> ir.Value:
    """Square roots of the lanes of a vector, or of a number."""
    (value,) = operands
    form = next((each for each in FORMATS if each.vector == value.type), None)
    is_estimated = form is not None and form.integer is I32 and "afn" in flags  # by LLVM
    if form is None or is_estimated or not emitter.module.target.root_by_products:
        return emitter.call_intrinsic("llvm.sqrt", operands, value.type, flags=flags)
    return emitter.builder.call(_by_products(emitter.module, form), [value])


def _by_products(module: ModuleEmitter, form: Format) -> ir.Function:
    """The module's function: by the instruction where a lane is too small, large or negative."""
    kind, lanes = form.vector, form.lanes
    name = f"square_root.v{lanes}f{form.integer.width}"
    existing = module.module.globals.get(name)
    if isinstance(existing, ir.Function):
        return existing
    function = module.define(name, ir.FunctionType(kind, [kind]), public=False)
    set[str].update(function.attributes, ("alwaysinline",))
    (value,) = function.args
    blocks = [function.append_basic_block(block) for block in ("entry", "usual", "other")]
    entry, usual, other = blocks

    def splat(number: float) -> ir.Constant:
        return ir.Constant(kind, number)

    builder = ir.IRBuilder(entry)
    in_range = builder.and_(
        builder.fcmp_ordered(">=", value, splat(form.least)),
        builder.fcmp_ordered("<", value, splat(form.beyond)),
    )
    is_zero = builder.fcmp_ordered("==", value, splat(0.0))
    mask = ir.IntType(lanes)
    are_usual = builder.bitcast(builder.or_(in_range, is_zero), mask)
    all_are = builder.icmp_unsigned("==", are_usual, ir.Constant(mask, -1))
    builder.cbranch(all_are, usual, other).set_weights([_OFTEN, 1])

    def call(name: str, arguments: Sequence[ir.Value], overloads: Sequence[ir.Type]) -> ir.Value:
        function_type = ir.FunctionType(kind, [argument.type for argument in arguments])
        return builder.call(module.intrinsic(name, overloads, function_type), arguments)

    builder.position_at_end(usual)
    # The estimate for a zero is zero, so that the root is this zero.
    others = builder.bitcast(builder.not_(is_zero), mask)
    estimate = call(f"llvm.x86.avx512.{form.estimate}", [value, splat(0.0), others], ())
    root = improved_root(
        value,
        estimate,
        splat(0.5),
        form.steps,
        builder.fmul,
        lambda a, b, c: call("llvm.fma", [a, b, c], [kind]),
        builder.fneg,
    )
    builder.ret(root)

    builder.position_at_end(other)
    builder.ret(call("llvm.sqrt", [value], [kind]))
    return function
