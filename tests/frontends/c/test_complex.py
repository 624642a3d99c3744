"""Complex numbers of C: what gcc computes, with infinities recovered from NaN (Annex G)."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.c_code import compilers

import loopwright
from loopwright.dialects.errors import SourceError

PROGRAM = """\
#include <complex.h>
typedef double complex number;
static double energy;
static const number taps[3] = {1.0, 2.0 * I, -1.0 + 0.5 * I};
static number scaled(number z, float f) { return z * f + 1.0; }
void product(int n, number *restrict z, const number *restrict x, const number *restrict y) {
    for (int i = 0; i < n; i++) z[i] = x[i] * y[i];
}
void quotient(int n, number *restrict z, const number *restrict x, const number *restrict y) {
    for (int i = 0; i < n; i++) z[i] = x[i] / y[i];
}
void single(int n, float complex *restrict f, const number *restrict x) {
    for (int i = 0; i < n; i++) {
        f[i] *= x[i];
        f[i] += conjf(f[i]) * 0.5f - cimagf(f[i]);
    }
}
void mixed(int n, number *restrict z, const double *restrict a, const number *restrict x) {
    for (int i = 0; i < n; i++) {
        number old = z[i], w = x[0] * 0.25;
        z[i] = a[i] + a[i] * I;
        z[i] -= 3;
        z[i] = 2 - z[i] / (1.0 + I) + scaled(w, 2.5f) * a[i] / 7 + ~old;
        z[i] += CMPLX(cabs(x[i]), carg(x[i])) + __imag__ x[i] - 1 / x[i];
    }
}
void chosen(int n, number *restrict z, const number *restrict x) {
    for (int i = 0; i < n; i++) {
        if (creal(x[i]) > 0 && x[i] != 0) z[i] = -x[i];
        else z[i] = x[i] == conj(x[i]) ? 3 : z[i] * z[i];
        if (x[i]) z[i] += cexp(I * creal(x[i]));
    }
}
void filtered(int n, int m, number z[n][m], const number *restrict x) {
    for (int i = 0; i < n; i++)
        for (int j = 3; j < m; j++) {
            number line[4] = {0, I};
            z[i][j] += line[j % 2];
            for (int k = 0; k < 3; k++) z[i][j] += taps[k] * x[j - k];
        }
}
void powers(int n, number *restrict z, const number *restrict x) {
    for (int i = 0; i < n; i++) {
        number p = 1;
        int k = 0;
        while (k < 9 && cabs(p) < 20) {
            p *= x[i];
            k++;
        }
        z[i] = p + k;
    }
}
void norm(int n, const number *restrict x) {
    energy = 0;
    for (int i = 0; i < n; i++) energy += creal(x[i] * conj(x[i]));
}
double taken(void) { return energy; }
"""
FLAGS = ("-w", "-fwrapv", "-shared", "-fPIC")
SPECIAL = [np.inf, -np.inf, np.nan, 0.0, -0.0, 1.5, -2.0]


def library(source: Path, *flags: str) -> ctypes.CDLL:
    built = source.with_suffix(".so")
    command = [compilers()[0], *FLAGS, *flags, str(source), "-lm", "-o", str(built)]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(built))


def numbers(count: int, seed: int) -> Any:
    random = np.random.default_rng(seed)
    return random.normal(size=count) + 1j * random.normal(size=count)


def specials(count: int, seed: int) -> Any:
    """Every second number has infinities, NaN and signed zeros as parts."""
    found, random = numbers(count, seed), np.random.default_rng(seed + 100)
    found.real[::2], found.imag[::2] = (random.choice(SPECIAL, len(found[::2])) for _ in range(2))
    return found


def arguments(name: str, n: int, *, special: bool = True) -> dict[str, Any]:
    rows, m = (3, n + 3) if name == "filtered" else (1, n)
    has_specials = special and name in ("product", "quotient")
    make = specials if has_specials else numbers
    z = numbers(rows * m, 2).reshape(rows, m) if rows > 1 else numbers(n, 2)
    return {
        "n": rows if name == "filtered" else n,
        "m": m,
        "z": z,
        "f": numbers(n, 3).astype(np.complex64),
        "x": make(max(m, n), 4)
        * (1 if name in ("product", "quotient") else np.arange(max(m, n)) % 3),
        "y": make(n, 5),
        "a": numbers(n, 6).real.copy(),
        "energy": np.zeros(()),
        "taps": np.array([1, 2j, -1 + 0.5j]),
    }


ORDER = {
    "product": "n z x y",
    "quotient": "n z x y",
    "single": "n f x",
    "mixed": "n z a x",
    "chosen": "n z x",
    "filtered": "n m z x",
    "powers": "n z x",
    "norm": "n x",
}


def call(compiled: ctypes.CDLL, name: str, n: int, *, special: bool = True) -> Mapping[str, object]:
    given = arguments(name, n, special=special)
    values = [given[each] for each in ORDER[name].split()]
    compiled[name](
        *(e.ctypes.data_as(ctypes.c_void_p) if isinstance(e, np.ndarray) else e for e in values)
    )
    compiled.taken.restype = ctypes.c_double
    return {**given, "energy": compiled.taken()} if name == "norm" else given


def assert_equal(found: Mapping[str, object], expected: Mapping[str, object], name: str) -> None:
    for each in ("z", "f", "energy"):
        one, other = np.asarray(found[each]), np.asarray(expected[each])
        tolerance = 1e-5 if each == "f" else 1e-12
        np.testing.assert_allclose(one, other, tolerance, tolerance, err_msg=f"{each} of {name}")


@pytest.mark.parametrize("name", ORDER)
def test_results_of_gcc(name: str, tmp_path: Path) -> None:
    source = tmp_path / "complex.c"
    source.write_text(PROGRAM)
    compiled = library(source, "-O0")
    (function,) = (each for key, each in loopwright.load(source).items() if key.startswith(name))
    for schedule in (None, "default"):
        kernel = function.compile(schedule, threads=2)
        for n in (5, 64, 203):
            given = arguments(name, n)
            kernel(*(given[each.place.name] for each in function.signature.arguments))
            assert_equal(given, call(compiled, name, n), name)


@pytest.mark.parametrize("machine_code", [False, True])
@pytest.mark.parametrize("flags", [(), ("-fcx-limited-range",)])
def test_drop_in_sources(flags: tuple[str, ...], machine_code: bool, tmp_path: Path) -> None:
    source, output = tmp_path / "complex.c", tmp_path / "replaced.c"
    source.write_text(PROGRAM)
    made = loopwright.drop_in(source, output, machine_code=machine_code, cflags=flags)
    # Products that recover infinities stay as C has them.
    replaced = {*ORDER} - {"powers"} if flags else {"quotient", "mixed"}
    assert {each.partition("_")[0] for each in made.replaced} == replaced
    assert flags or "recovers infinities" in made.left_out[0].message
    expected = library(source, "-O0", *flags)
    found = library(output, "-O2", "-Wall", "-Wextra", "-Werror", *flags)
    for name in replaced if flags else ORDER:
        for n in (5, 203):
            special = not flags
            one, other = (call(each, name, n, special=special) for each in (found, expected))
            assert_equal(one, other, name)


@pytest.mark.parametrize(
    ("flags", "is_limited"),
    [
        ("-fcx-limited-range", True),
        ("-ffast-math -O2", True),
        ("-Ofast", True),
        ("-Ofast -O2", False),
        ("-ffast-math -fno-fast-math", False),
        ("-fcx-limited-range -fno-cx-limited-range", False),
        ("-fno-cx-limited-range -ffast-math", False),
        ("-fcx-limited-range -fno-fast-math", True),
        ("", False),
    ],
)
def test_limited_range(flags: str, is_limited: bool, tmp_path: Path) -> None:
    source = tmp_path / "complex.c"
    source.write_text(f"// not here: #pragma STDC CX_LIMITED_RANGE ON\n{PROGRAM}")
    product = loopwright.load(source, cflags=flags.split())["product"]
    z, x, y = np.zeros(1, complex), np.array([complex(np.inf, np.nan)]), np.array([1 + 1j])
    product.compile()(1, z, x, y)
    assert np.isinf(z[0]) != is_limited


STATEMENTS = (
    "z[i]++; --z[i]; z[i] = z[i]--;",
    "z[i] = !x[i] + (x[i] && a[i] > 0);",
    "z[i] = a[i] ? x[i] : 1;",
    "a[i] = (int)x[i] + (float)x[i] + creal(a[i]) + cimag(3) + cabs(a[i]);",
    "z[i] /= a[i] + 2; z[i] += a[i] / (x[i] + 3); a[i] += x[i]; a[i] *= x[i];",
    "z[i] = +x[i] - -x[i] + x[i] * 0 + I * I + 1.0i * 2;",
    "int k = x[i]; _Bool t = x[i]; z[i] = k + t; if (x[i]) a[i] = 1;",
    "z[i] = x[i] == 1 ? I : conj(2.0); z[i] += x[(int)a[i] & 3];",
    "enum { Q = 2 }; z[i] = Q * I + 'a' + 1u * x[i];",
    "number w[2] = {1, I}; z[i] = w[i % 2]; for (int k = 0; k < 3; k++) z[i] = z[i] * x[i] + 1;",
)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_statements(statement: str, tmp_path: Path) -> None:
    source = tmp_path / "complex.c"
    source.write_text(
        "#include <complex.h>\ntypedef double complex number;\n"
        "void f(int n, number *restrict z, const number *restrict x, double *restrict a) {\n"
        f"  for (int i = 0; i < n; i++) {{ {statement} }}\n}}\n"
    )
    function = loopwright.load(source)["f"]
    given, expected = ({**arguments("chosen", 9)} for _ in range(2))
    function.compile("default")(*(given[each.place.name] for each in function.signature.arguments))
    values = [expected[each] for each in "nzxa"]
    library(source, "-O0").f(
        *(e.ctypes.data_as(ctypes.c_void_p) if isinstance(e, np.ndarray) else e for e in values)
    )
    for each in "za":
        np.testing.assert_allclose(given[each], expected[each], 1e-12, 1e-12)


def test_other_functions_of_complex_numbers_are_refused_with_a_remedy(tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(
        "#include <complex.h>\nvoid f(int n, double complex *z) {\n#pragma scop\n"
        "    for (int i = 0; i < n; i++) z[i] = csqrt(z[i]);\n#pragma endscop\n}\n"
    )
    with pytest.raises(SourceError, match="'csqrt' cannot be analysed") as caught:
        loopwright.load(path)
    assert caught.value.hint == "write it with creal, cimag, cabs, carg, cexp, conj"
