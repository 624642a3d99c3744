"""The estimate prices what is emitted."""

from __future__ import annotations

import pytest
from llvmlite import ir
from support.elementary import SCALARS
from support.targets import NARROW

from loopwright.lowering.llvm.elementary.functions import BINARY, NAMES, elementary_function
from loopwright.lowering.llvm.module import ModuleEmitter
from loopwright.lowering.llvm.options import Options
from loopwright.lowering.llvm.types import scalar_type
from loopwright.passes.estimate.elementary_functions import DIVISIONS, OPERATIONS, SQUARE_ROOTS

TYPES: dict[str, ir.Type] = {"f32": ir.FloatType(), "f64": ir.DoubleType()}


def bits(kind: ir.Type) -> int:
    scalar = scalar_type(kind)
    if isinstance(scalar, ir.IntType):
        return scalar.width
    return 32 if isinstance(scalar, ir.FloatType) else 64


@pytest.mark.parametrize("scalar", SCALARS)
@pytest.mark.parametrize("name", NAMES)
def test_instructions_are_counted(name: str, scalar: str) -> None:
    """One on f64 in a function of f32 takes two vectors; some fold into others."""
    module = ModuleEmitter("test", NARROW, Options(), {})
    function = elementary_function(module, name, TYPES[scalar], 2 if name in BINARY else 1)
    instructions = [each for block in function.blocks for each in block.instructions]
    width = 32 if scalar == "f32" else 64
    total = sum(max(1.0, bits(each.type) / width) for each in instructions)
    assert OPERATIONS[name][width == 64] == pytest.approx(total, rel=0.1)
    assert DIVISIONS.get(name, 0) == sum(each.opname == "fdiv" for each in instructions)
    calls = [each for each in instructions if isinstance(each, ir.CallInstr)]
    roots = [each for each in calls if each.callee.name.startswith("llvm.sqrt")]
    assert SQUARE_ROOTS.get(name, 0) == len(roots)


def test_all_of_them_are_priced() -> None:
    assert {*OPERATIONS} == {*NAMES}
