"""What printed C looks like, and what cannot be printed."""

from __future__ import annotations

import pytest
from xdsl.dialects import func

from loopwright.dialects.errors import SourceError
from loopwright.dialects.parse import parse_module
from loopwright.kernels.catalogue import catalogue
from loopwright.lowering.c import emit_c
from loopwright.lowering.specialise import specialise
from loopwright.runtime.program import load

ARRAY = "%A: memref<8x8xf64>, %x: f64"


def body(text: str, arguments: str = ARRAY) -> list[str]:
    """The lines of the function that is printed for a body."""
    printed = emit_c(parse_module(f"func.func @f({arguments}) {{\n{text}\nreturn\n}}"))
    lines = printed.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("void f("))
    return [line.strip() for line in lines[start + 1 : -1]]


def test_gemm_looks_like_the_original() -> None:
    entry = catalogue()["polybench/gemm"]
    function = load(entry.text)["gemm"]
    sizes = {0: 4, 1: 5, 2: 6}
    shapes = {5: (4, 5), 6: (4, 6), 7: (6, 5)}
    assert emit_c(specialise(function.function, shapes, sizes)) == (
        """\
#include <stdint.h>

void gemm(int64_t ni, int64_t nj, int64_t nk, double alpha, double beta, double C[restrict 4][5],
          double A[restrict 4][6], double B[restrict 6][5]) {
    (void)ni; (void)nj; (void)nk;
    for (int64_t i = 0; i < 4; i++) {
        for (int64_t j = 0; j < 5; j++) {
            C[i][j] *= beta;
        }
        for (int64_t k = 0; k < 6; k++) {
            for (int64_t j = 0; j < 5; j++) {
                C[i][j] += alpha * A[i][k] * B[k][j];
            }
        }
    }
}
"""
    )


def test_dynamic_extents_come_before_their_array() -> None:
    text = emit_c(parse_module("func.func @f(%n: index, %A: memref<?x4xf32>) { return }"))
    assert "void f(int64_t n, int64_t A_dim0, float A[restrict A_dim0][4]) {" in text
    assert "(void)n; (void)A;" in text


def test_a_load_before_a_store_to_its_array_keeps_its_value() -> None:
    lines = body(
        "%0 = affine.load %A[0, 1] : memref<8x8xf64>\n"
        "affine.store %x, %A[0, 1] : memref<8x8xf64>\n"
        "affine.store %0, %A[0, 2] : memref<8x8xf64>"
    )
    assert lines == ["const double t = A[0][1];", "A[0][1] = x;", "A[0][2] = t;"]


def test_a_load_is_not_moved_into_a_loop() -> None:
    lines = body(
        "%0 = affine.load %A[0, 1] : memref<8x8xf64>\n"
        "affine.for %i = 0 to 8 {\n"
        "  affine.store %0, %A[%i, 1] : memref<8x8xf64>\n"
        "}"
    )
    assert lines[1] == "const double t = A[0][1];"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("%i + %j - 1", "i + j - 1"),
        ("%i - %j * 2", "i - 2 * j"),
        ("-%i + 7", "-i + 7"),
        ("(%i + %j) floordiv 4", "floord(i + j, 4)"),
        ("(%i * 3) mod 8", "mod(3 * i, 8)"),
        ("(%i - %j) * 2 + 3", "2 * i - 2 * j + 3"),
    ],
)
def test_subscripts(expression: str, expected: str) -> None:
    lines = body(
        "affine.for %i = 0 to 8 {\naffine.for %j = 0 to 8 {\n"
        f"affine.store %x, %A[{expression}, 0] : memref<8x8xf64>\n}}\n}}"
    )
    assert f"A[{expected}][0] = x;" in lines


def test_parentheses_only_where_needed() -> None:
    lines = body(
        "%0 = arith.subf %x, %x : f64\n%1 = arith.subf %x, %0 : f64\n"
        "%2 = arith.negf %1 : f64\n%3 = arith.mulf %2, %x : f64\n%4 = arith.addf %3, %x : f64\n"
        "affine.store %4, %A[0, 0] : memref<8x8xf64>"
    )
    assert lines == ["A[0][0] = -(x - (x - x)) * x + x;"]


def test_names_of_siblings_are_used_again_and_nested_ones_are_not() -> None:
    lines = body(
        "affine.for %i = 0 to 8 {\naffine.store %x, %A[%i, 0] : memref<8x8xf64>\n}\n"
        "affine.for %i = 0 to 8 {\naffine.for %i_0 = 0 to 8 {\n"
        "affine.store %x, %A[%i, %i_0] : memref<8x8xf64>\n}\n}"
    )
    assert lines.count("for (int64_t i = 0; i < 8; i++) {") == 2
    assert any("A[i][i_0]" in line or "A[i][i2]" in line for line in lines)


@pytest.mark.parametrize("name", ["int", "double", "sqrt", "min", "int64_t", "restrict"])
def test_names_that_mean_something_in_c_are_changed(name: str) -> None:
    lines = body(
        f"affine.store %{name}, %A[0, 0] : memref<8x8xf64>", f"%A: memref<8x8xf64>, %{name}: f64"
    )
    assert lines != [f"A[0][0] = {name};"]
    assert lines[0].startswith(f"A[0][0] = {name}")


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("0.1 : f64", "0.1"),
        ("0.1 : f32", "0.1f"),
        ("1.0e30 : f64", "1e+30"),
        ("-2.0 : f64", "-2.0"),
        ("0x7F800000 : f32", "INFINITY"),
        ("0xFFF0000000000000 : f64", "-INFINITY"),
        ("0x7FC00000 : f32", "NAN"),
    ],
)
def test_float_constants(text: str, printed: str) -> None:
    kind = text.rpartition(" ")[2]
    lines = body(
        f"%0 = arith.constant {text}\naffine.store %0, %A[] : memref<{kind}>",
        f"%A: memref<{kind}>",
    )
    assert lines == [f"A[0] = {printed};"]


def test_marked_loops_get_a_pragma_once() -> None:
    module = parse_module(
        "func.func @f(%A: memref<8x8xf64>, %x: f64) {\n"
        "affine.for %i = 0 to 8 {\naffine.for %j = 0 to 8 {\n"
        "affine.store %x, %A[%i, %j] : memref<8x8xf64>\n}\n}\nreturn\n}"
    )
    (function,) = (op for op in module.ops if isinstance(op, func.FuncOp))
    loops = [op for op in function.walk() if op.name == "affine.for"]
    assert emit_c(function, parallel=loops).count("#pragma omp parallel for\n") == 1
    assert emit_c(function).count("#pragma") == 0


def test_vectors_are_refused_with_a_hint() -> None:
    text = (
        "func.func @f(%A: memref<8xf64>) {\n"
        "%0 = affine.vector_load %A[0] : memref<8xf64>, vector<8xf64>\n"
        "affine.vector_store %0, %A[0] : memref<8xf64>, vector<8xf64>\nreturn\n}"
    )
    with pytest.raises(SourceError, match="cannot be printed as C") as caught:
        emit_c(parse_module(text, "vectors.mlir"))
    assert str(caught.value).startswith("vectors.mlir:2:")
    assert "vectorize" in str(caught.value)


def test_long_lines_are_broken() -> None:
    longest = max(
        len(line)
        for entry in catalogue().values()
        for line in emit_c(load(entry.text)[entry.function].module).splitlines()
    )
    assert longest <= 100


def test_truth_values_have_their_header() -> None:
    text = """func.func @f(%A: memref<8xf64>, %x: f64) {
      %true = arith.constant true
      %0 = arith.cmpf ogt, %x, %x : f64
      %1 = arith.xori %0, %true : i1
      %2 = arith.select %1, %x, %x : f64
      affine.store %2, %A[0] : memref<8xf64>
      return
    }"""
    printed = emit_c(parse_module(text))
    assert "true" in printed and "#include <stdbool.h>" in printed
