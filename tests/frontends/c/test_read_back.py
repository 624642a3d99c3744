"""Text -> C -> text: shipped kernels keep their Scop, random programs what they compute."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.differential import assert_same, interpreted
from support.interpreter import Interpreter
from support.machine_code import array_and_sizes
from support.random_programs import seeded_program
from xdsl.dialects import func
from xdsl.dialects.builtin import MemRefType

import loopwright
from loopwright.dialects.parse import parse_module
from loopwright.frontends.c.c_file import read_regions, read_source
from loopwright.frontends.c.printing import print_c
from loopwright.kernels.catalogue import catalogue
from loopwright.lowering.c.names import function_name
from loopwright.passes.polyhedral.scop import Scop

KERNELS = (
    "2mm",
    "adi",
    "cholesky",
    "correlation",
    "deriche",
    "floyd-warshall",
    "heat-3d",
    "ludcmp",
    "nussinov",
    "symm",
)
"""All but durbin have the same Scop: its C allocates an array."""
SEEDS = range(8)


def accesses(scop: Scop) -> dict[str, set[str]]:
    return {
        statement.name: {f"{a.kind.value} {a.relation}" for a in statement.accesses}
        for statement in scop.statements
    }


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_keep_their_scop(name: str, tmp_path: Path) -> None:
    entry = catalogue()[f"polybench/{name}"]
    path = tmp_path / "kernel.c"
    path.write_text(print_c(parse_module(entry.text)))
    scop = loopwright.load(path)[function_name(entry.function)].scop
    text = loopwright.load(entry.text)[entry.function].scop
    assert [s.loops for s in scop.statements] == [s.loops for s in text.statements]
    assert scop.domain.is_equal(text.domain)
    assert accesses(scop) == accesses(text)
    assert str(scop.tree) == str(text.tree)


def test_random_programs_compute_the_same(tmp_path: Path) -> None:
    compared = 0
    for seed in SEEDS:
        program = seeded_program(seed)
        module = parse_module(program.text)
        (function,) = (op for op in module.ops if isinstance(op, func.FuncOp))
        path = tmp_path / f"{seed}.c"
        if function.function_type.outputs.data:
            continue  # a region has no results
        path.write_text(print_c(module))
        try:
            (found,) = read_regions(read_source(path)).translations
        except loopwright.errors.SourceError as error:
            assert "points at no element of an array" in str(error)
            continue
        for size in (4,):
            sizes = dict.fromkeys(program.sizes, size)
            expected, is_exact = interpreted(program, sizes)
            if not is_exact:
                continue
            arguments = program.make_arguments(sizes)
            values: list[object] = []
            for argument, kind in zip(arguments, function.function_type.inputs, strict=True):
                if isinstance(kind, MemRefType):
                    values += array_and_sizes(argument, kind)[1]
                    argument = argument.reshape(1) if argument.ndim == 0 else argument
                values.append(argument)
            Interpreter(parse_module(found.text)).run("f", *values)
            assert_same(expected, arguments, path.read_text())
            compared += 1
    assert compared >= len(SEEDS) // 2


UNSIGNED_ELEMENTS = """
void f(int n, unsigned a[n], unsigned char b[n], unsigned short s, double y[n]) {
#pragma scop
  for (int i = 0; i < n; i++) {
    y[i] = (signed char)b[i] + (b[i] > s) - (double)a[i];
    a[i] = a[i] / 3u + b[i] + (a[i] > 7u);
    b[i] = (unsigned char)(a[i] >> 2);
  }
#pragma endscop
}
"""


def test_unsigned_types_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(UNSIGNED_ELEMENTS)
    text = print_c(loopwright.load(path)["f"].function)
    assert "uint32_t a[restrict" in text and "uint8_t b[restrict" in text and "uint16_t s" in text
    again = tmp_path / "again.c"
    again.write_text(text)
    given = np.array([2**32 - 1, 6, 2**31, 9], "u4")
    bytes_ = np.array([200, 7, 255, 0], "u1")
    y = bytes_.view("i1") + (bytes_ > 100).astype("f8") - given
    a = given // 3 + bytes_ + (given > 7)
    for each, sizes in ((path, []), (again, [4])):
        ours = [given.copy(), bytes_.copy(), np.zeros(4)]
        arguments = (*sizes, ours[0], *sizes, ours[1], 100, *sizes, ours[2])
        loopwright.load(each)["f"].compile()(4, *arguments)
        for one, other in zip(ours, (a, (a >> 2).astype("u1"), y), strict=True):
            assert np.array_equal(one, other)
