"""NumPy references of the shipped kernels, for tests and benchmarks.

A reference takes the arguments of the kernel's function, in the same order, and changes the arrays
in place. Vectorised wherever the kernel allows it; where it does not, loops stay in Python, so
that MINI and SMALL take less than a second.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from ..catalogue import KernelEntry
from . import field, images, linear_algebra, medley, solvers, stencils

REFERENCES: Mapping[str, Callable[..., None]] = MappingProxyType(
    {
        "polybench/correlation": medley.correlation,
        "polybench/covariance": medley.covariance,
        "polybench/2mm": linear_algebra.two_products,
        "polybench/3mm": linear_algebra.three_products,
        "polybench/atax": linear_algebra.atax,
        "polybench/bicg": linear_algebra.bicg,
        "polybench/doitgen": linear_algebra.doitgen,
        "polybench/mvt": linear_algebra.mvt,
        "polybench/gemm": linear_algebra.gemm,
        "polybench/gemver": linear_algebra.gemver,
        "polybench/gesummv": linear_algebra.gesummv,
        "polybench/symm": linear_algebra.symm,
        "polybench/syr2k": linear_algebra.syr2k,
        "polybench/syrk": linear_algebra.syrk,
        "polybench/trmm": linear_algebra.trmm,
        "polybench/cholesky": solvers.cholesky,
        "polybench/durbin": solvers.durbin,
        "polybench/gramschmidt": solvers.gramschmidt,
        "polybench/lu": solvers.lu,
        "polybench/ludcmp": solvers.ludcmp,
        "polybench/trisolv": solvers.trisolv,
        "polybench/deriche": images.deriche,
        "polybench/floyd-warshall": medley.floyd_warshall,
        "polybench/nussinov": medley.nussinov,
        "polybench/adi": stencils.adi,
        "polybench/fdtd-2d": stencils.fdtd_2d,
        "polybench/heat-3d": stencils.heat_3d,
        "polybench/jacobi-1d": stencils.jacobi_1d,
        "polybench/jacobi-2d": stencils.jacobi_2d,
        "polybench/seidel-2d": stencils.seidel_2d,
        "tiramisu/box_blur": images.box_blur,
        "tiramisu/conv_relu": images.conv_relu,
        "tiramisu/convolution": images.convolution,
        "tiramisu/cvtcolor": images.cvtcolor,
        "tiramisu/doitgen": linear_algebra.doitgen,
        "tiramisu/heat2d": stencils.heat2d,
        "tiramisu/heat3d": stencils.heat3d,
        "tiramisu/jacobi2d": stencils.jacobi2d,
        "tiramisu/mvt": linear_algebra.mvt,
        "tiramisu/seidel2d": stencils.seidel2d,
        "interchange/blur": images.blur,
        "gemm/gemm": linear_algebra.plain_gemm,
        **field.REFERENCES,
    }
)


def reference(entry: KernelEntry) -> Callable[..., None]:
    """The NumPy version of a kernel: `reference(entry)(*entry.arguments("MINI"))`."""
    return REFERENCES[entry.source]
