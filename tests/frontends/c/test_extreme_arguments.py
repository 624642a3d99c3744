"""Arguments at the ends of their types: kernels and drop-in sources do what C does."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest
from support.c_code import compilers

import loopwright

SOURCE = """\
void compare(long n, long t, long u, double *restrict y) {
  for (long i = 0; i < n; i++) {
    if (i < t) y[i] = 1.0;
    else if (i >= u && i != t) y[i] = 2.0;
    else y[i] = 3.0;
  }
}
void between(long n, long t, long u, double *restrict y) {
  for (long i = t > 0 ? t : 0; i < n && i <= u; i++) y[i] += 1.0;
}
void hash(long n, long t, long u, double *restrict y) {
  for (int i = 0; i < n; i++) {
    unsigned h = (unsigned)i * 1664525u;
    if (h == 4u * 1664525u) y[i] = 1.0;
    else if (h % 7 < 3) y[i] = 2.0;
  }
}
"""
N = 7
ENDS = (-(2**63), -(2**63) + 1, -(2**62), -5, 3, 2**62, 2**63 - 2, 2**63 - 1)
PAIRS = [(t, u) for t in ENDS for u in (ENDS[0], 3, ENDS[-1])]


def built(source: str, library: Path) -> ctypes.CDLL:
    flags = ("-std=gnu17", "-O1", "-fwrapv", "-fPIC", "-shared")
    path = library.with_suffix(".c")
    path.write_text(source)
    subprocess.run([compilers()[0], *flags, str(path), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library))


def result(library: ctypes.CDLL, name: str, t: int, u: int) -> list[float]:
    y = np.zeros(N)
    numbers = (ctypes.c_long(each) for each in (N, t, u))
    library[name](*numbers, y.ctypes.data_as(ctypes.c_void_p))
    return y.tolist()


@pytest.mark.parametrize("schedule", [None, "default", "strip-mine{loops=i size=3}"])
@pytest.mark.parametrize("name", ["compare", "between", "hash"])
def test_kernels(name: str, schedule: str | None, tmp_path: Path) -> None:
    reference = built(SOURCE, tmp_path / "reference.so")
    kernel = loopwright.load(tmp_path / "reference.c")[name].compile(schedule)
    for t, u in PAIRS:
        y = np.zeros(N)
        kernel(N, t, u, y)
        assert y.tolist() == result(reference, name, t, u), (t, u)


@pytest.mark.parametrize("machine_code", [False, True])
def test_drop_in(machine_code: bool, tmp_path: Path) -> None:
    """The loops as written run where the sizes are too large for the optimised ones."""
    reference = built(SOURCE, tmp_path / "reference.so")
    output = tmp_path / "optimised.c"
    made = loopwright.drop_in(tmp_path / "reference.c", output, machine_code=machine_code)
    assert {"compare", "between"} <= {name.partition("_")[0] for name in made.replaced}
    ours = built(output.read_text(), tmp_path / "ours.so")
    for name in ("compare", "between", "hash"):
        for t, u in PAIRS:
            assert result(ours, name, t, u) == result(reference, name, t, u), (name, t, u)
