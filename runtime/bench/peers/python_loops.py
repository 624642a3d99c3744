"""Translation of a kernel's loops to a Python function."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from xdsl.dialects import affine, arith, func, math, memref
from xdsl.dialects.builtin import Float32Type, IntegerType, MemRefType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineConstraintKind, AffineExpr, AffineMap
from xdsl.utils.hints import isa

from .libraries import Unsupported

_BINARY = {
    "arith.addf": "+",
    "arith.subf": "-",
    "arith.mulf": "*",
    "arith.divf": "/",
}
# Python and Numba compute with integers of 64 bits and more.
_INTEGER = {
    "arith.addi": "{} + {}",
    "arith.subi": "{} - {}",
    "arith.muli": "{} * {}",
    "arith.shli": "{} << {}",
    "arith.shrsi": "{} >> {}",
    "arith.andi": "{} & {}",
    "arith.maxsi": "max({}, {})",
    "arith.minsi": "min({}, {})",
    "math.absi": "abs({})",
    "arith.index_cast": "{}",
    "arith.extsi": "{}",
    "arith.trunci": "{}",
}
_UNSIGNED = {"arith.maxui": "max({}, {})", "arith.minui": "min({}, {})", "arith.extui": "{}"}
_CALLS = {
    "arith.maximumf": "max",
    "arith.minimumf": "min",
    **{f"math.{name}": f"np.{name}" for name in ("exp", "sqrt", "log", "tanh", "sin", "cos")},
    "math.powf": "np.power",
    "math.absf": "abs",
    "math.erf": "math.erf",
    "math.erfc": "math.erfc",
    "arith.negf": "-",
}
_INTEGER_PREDICATES = ("==", "!=", "<", "<=", ">", ">=")
_FLOAT_PREDICATES = {1: "==", 2: ">", 3: ">=", 4: "<", 5: "<=", 13: "!="}
_CONSTRAINTS = {
    AffineConstraintKind.ge: ">=",
    AffineConstraintKind.le: "<=",
    AffineConstraintKind.eq: "==",
}


def python_loops(function: func.FuncOp, parallel: Collection[Operation] = ()) -> str:
    """The text of a function `kernel` on arrays, with the modules `np` and `math`, and `prange`.

    Loops in `parallel` run over `prange`. Arrays without dimensions that the function allocates are
    plain variables. Raises Unsupported for operations beyond those of the shipped kernels.
    """
    writer = _Writer(parallel)
    names = [writer.name(argument) for argument in function.args]
    writer.block(function.body.block, 1)
    return "\n".join([f"def kernel({', '.join(names)}):", *writer.lines, ""])


class _Writer:
    def __init__(self, parallel: Collection[Operation]) -> None:
        self.lines: list[str] = []
        self.parallel = parallel
        self._names: dict[SSAValue, str] = {}
        self._variables: set[SSAValue] = set()

    def name(self, value: SSAValue) -> str:
        """The variable of a value."""
        hint = value.name_hint
        word = hint if hint is not None and hint.isidentifier() else "t"
        return self._names.setdefault(value, f"{word}_{len(self._names)}")

    def block(self, block: Block, depth: int) -> None:
        """Prints a block's operations."""
        before = len(self.lines)
        for operation in block.ops:
            self._operation(operation, depth)
        if len(self.lines) == before:
            self._line("pass", depth)

    def _line(self, text: str, depth: int) -> None:
        self.lines.append("    " * depth + text)

    def _operation(self, op: Operation, depth: int) -> None:
        match op:
            case affine.ForOp():
                carried = op.body.block.args[1:]
                for argument, initial, result in zip(carried, op.inits, op.results, strict=True):
                    self._line(f"{self.name(argument)} = {self.name(initial)}", depth)
                    self._names[result] = self.name(argument)
                lower = self._map(op.lowerBoundMap.data, op.lowerBoundOperands, "max")
                upper = self._map(op.upperBoundMap.data, op.upperBoundOperands, "min")
                index = self.name(op.body.block.args[0])
                iterate = "prange" if op in self.parallel else "range"
                step = op.step.value.data
                stride = "" if step == 1 else f", {step}"
                self._line(f"for {index} in {iterate}({lower}, {upper}{stride}):", depth)
                self.block(op.body.block, depth + 1)
                if carried:
                    last = op.body.block.last_op
                    assert isinstance(last, affine.YieldOp)
                    targets = ", ".join(map(self.name, carried))
                    values = ", ".join(map(self.name, last.operands))
                    self._line(f"{targets} = {values}", depth + 1)
            case affine.IfOp() if not op.results:
                self._line(f"if {self._condition(op)}:", depth)
                self.block(op.then_region.block, depth + 1)
                if op.else_region.blocks:
                    self._line("else:", depth)
                    self.block(op.else_region.block, depth + 1)
            case affine.StoreOp():
                target = self._element(op.memref, op.map.data, op.indices)
                self._line(f"{target} = {self.name(op.value)}", depth)
            case memref.AllocOp() | memref.AllocaOp():
                self._allocation(op, depth)
            case affine.YieldOp() | func.ReturnOp() | memref.DeallocOp():
                pass
            case _ if len(op.results) == 1 and not op.regions:
                self._line(f"{self.name(op.results[0])} = {self._value(op)}", depth)
            case _:
                raise Unsupported(f"'{op.name}' is not printed as Python")

    def _allocation(self, op: memref.AllocOp | memref.AllocaOp, depth: int) -> None:
        shape = op.memref.type.get_shape()
        if not shape:
            self._variables.add(op.memref)
            return
        sizes = iter(op.dynamic_sizes)
        extents = [self.name(next(sizes)) if extent < 0 else str(extent) for extent in shape]
        kind = "float32" if _is_single(op.memref) else "float64"
        self._line(f"{self.name(op.memref)} = np.empty(({', '.join(extents)},), np.{kind})", depth)

    def _value(self, op: Operation) -> str:
        operands = [self.name(operand) for operand in op.operands]
        if op.name in _BINARY:
            return f"{operands[0]} {_BINARY[op.name]} {operands[1]}"
        if op.name in _INTEGER:
            return _narrowed(_INTEGER[op.name].format(*operands), op.results[0])
        if op.name in _UNSIGNED:
            unsigned = (
                f"np.uint{_bits(operand)}({name})"
                for operand, name in zip(op.operands, operands, strict=True)
            )
            return _narrowed(_UNSIGNED[op.name].format(*unsigned), op.results[0])
        if op.name in _CALLS:
            return f"{_CALLS[op.name]}({', '.join(operands)})"
        match op:
            case math.RsqrtOp():
                return (
                    f"np.float{32 if _is_single(op.result) else 64}(1.0) / np.sqrt({operands[0]})"
                )
            case affine.LoadOp():
                return self._element(op.memref, op.map.data, op.indices)
            case affine.ApplyOp():
                return self._map(op.map.data, op.mapOperands, "max")
            case arith.ConstantOp():
                text = str(op.value.value.data)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType]
                if _is_single(op.result):
                    return f"np.float32({text})"
                return _narrowed(text, op.result)
            case arith.CmpiOp() if op.predicate.value.data < len(_INTEGER_PREDICATES):
                return _INTEGER_PREDICATES[op.predicate.value.data].join(operands)
            case arith.CmpfOp() if op.predicate.value.data in _FLOAT_PREDICATES:
                return _FLOAT_PREDICATES[op.predicate.value.data].join(operands)
            case arith.SelectOp():
                return f"{operands[1]} if {operands[0]} else {operands[2]}"
            case arith.SIToFPOp():
                return f"np.float{32 if _is_single(op.result) else 64}({operands[0]})"
            case _:
                raise Unsupported(f"'{op.name}' is not printed as Python")

    def _element(self, array: SSAValue, map: AffineMap, operands: Collection[SSAValue]) -> str:
        if array in self._variables:
            return self.name(array)
        subscripts = self._expressions(map.results, map.num_dims, operands)
        return f"{self.name(array)}[{', '.join(subscripts) or '()'}]"

    def _map(self, map: AffineMap, operands: Collection[SSAValue], combine: str) -> str:
        values = self._expressions(map.results, map.num_dims, operands)
        return values[0] if len(values) == 1 else f"{combine}({', '.join(values)})"

    def _condition(self, op: affine.IfOp) -> str:
        constraints = op.condition.data.constraints
        dims = op.condition.data.num_dims
        sides = [
            self._expressions((constraint.lhs, constraint.rhs), dims, op.args)
            for constraint in constraints
        ]
        return " and ".join(
            f"{left} {_CONSTRAINTS[constraint.kind]} {right}"
            for constraint, (left, right) in zip(constraints, sides, strict=True)
        )

    def _expressions(
        self, expressions: Collection[AffineExpr], dims: int, operands: Collection[SSAValue]
    ) -> list[str]:
        names = [self.name(operand) for operand in operands]
        known: Mapping[str, str] = {
            **{f"d{number}": name for number, name in enumerate(names[:dims])},
            **{f"s{number}": name for number, name in enumerate(names[dims:])},
        }
        return [_substituted(str(expression), known) for expression in expressions]


def _substituted(text: str, names: Mapping[str, str]) -> str:
    """An affine expression in MLIR's notation as Python: `s0 floordiv 2` -> `n // 2`."""
    words = text.replace("(", " ( ").replace(")", " ) ").split()
    operators = {"floordiv": "//", "mod": "%"}
    if "ceildiv" in words:
        raise Unsupported("'ceildiv' is not printed as Python")
    return " ".join(operators.get(word) or names.get(word, word) for word in words)


def _bits(value: SSAValue) -> int | None:
    """The width of an integer; None for other types."""
    return value.type.width.data if isa(value.type, IntegerType) else None


def _narrowed(text: str, value: SSAValue) -> str:
    """An expression as an integer of the value's type; as it is for `index`, `i1`, floats."""
    bits = _bits(value)
    return text if bits in (None, 1) else f"np.int{bits}({text})"


def _is_single(value: SSAValue) -> bool:
    kind = value.type
    if isa(kind, MemRefType[Attribute]):
        kind = kind.element_type
    return isinstance(kind, Float32Type)
