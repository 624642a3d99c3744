"""Microbenchmarks: the machine code does what is counted."""

from __future__ import annotations

import re

import pytest

from loopwright.passes.machine.target import Target
from loopwright.runtime.jit.object_code import emit_assembly
from loopwright.runtime.machine.probes import OPTIONS, llvm_text

CHAINS = {"generic-avx2": 12, "generic-avx512": 16}


@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize(
    ("kind", "operations"),
    [
        ("f32", r"vfmadd\d+ps"),
        ("f64", r"vfmadd\d+pd"),
        ("i8", r"vpaddb|vpsubb"),
        ("i16", r"vpaddw|vpsubw"),
        ("i32", r"vpaddd|vpsubd"),
        ("i64", r"vpaddq|vpsubq"),
    ],
)
def test_no_operation_is_computed_beforehand(name: str, kind: str, operations: str) -> None:
    target = Target.named(name)
    code = emit_assembly(llvm_text(target), target=target, options=OPTIONS)
    body = re.split(rf"^arithmetic_{kind}:", code, flags=re.MULTILINE)[1]
    body = body.partition("retq")[0]
    assert len(re.findall(operations, body)) >= CHAINS[name]
    if kind.startswith("i"):
        assert len(re.findall(r"vp?xor", body)) >= CHAINS[name]
