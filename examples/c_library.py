"""A shared library with a C interface, called through ctypes: a caller needs no Python."""

from __future__ import annotations

import argparse
import ctypes
import tempfile
from pathlib import Path

import numpy as np

import loopwright
from loopwright.kernels.catalogue import catalogue

DOUBLES = np.ctypeslib.ndpointer(np.float64, flags="C_CONTIGUOUS")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=256)
    size = parser.parse_args().size

    gemm = loopwright.load(catalogue()["polybench/gemm"].text)["gemm"]
    sizes = dict.fromkeys(("ni", "nj", "nk"), size)
    extents = {f"{array}_dim{k}": size for array in "CAB" for k in (0, 1)}
    with tempfile.TemporaryDirectory() as folder:
        library = gemm.build(Path(folder) / "gemm.so", sizes=sizes | extents, threads=1)
        print(next(line for line in library.header.read_text().splitlines() if "int gemm(" in line))
        function = ctypes.CDLL(str(library.file)).gemm
        function.argtypes = [ctypes.c_double, ctypes.c_double, DOUBLES, DOUBLES, DOUBLES]
        rng = np.random.default_rng(0)
        a, b, c = (rng.random((size, size)) for _ in range(3))
        expected = 1.5 * a @ b + 1.2 * c
        status = function(1.5, 1.2, c, a, b)
        assert status == 0 and np.allclose(c, expected)
        assert function(1.5, 1.2, a, a, b) != 0, "arrays that overlap are refused"
    print("called")


if __name__ == "__main__":
    main()
