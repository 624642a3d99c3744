"""Names of kernels and sizes on the command line."""

from __future__ import annotations

import pytest

from loopwright.runtime.bench.selection import SelectionError, select_cases, select_kernels


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["polybench/gemm"], ["polybench/gemm"]),
        (["gemm"], ["gemm/gemm"]),
        (["atax"], ["polybench/atax"]),
        (["*/heat2d"], ["tiramisu/heat2d", "interchange/heat2d"]),
        (["atax", "polybench/atax"], ["polybench/atax"]),
        (["trisolv", "lu"], ["polybench/trisolv", "polybench/lu", "tile_size/lu"]),
    ],
)
def test_kernels_are_found(names: list[str], expected: list[str]) -> None:
    assert [kernel.name for kernel in select_kernels(names)] == expected


def test_a_suite_has_all_of_its_kernels() -> None:
    assert len(select_kernels(["polybench"])) == 30
    assert len(select_kernels(["tiramisu"])) == 10


def test_unknown_kernels_have_a_suggestion() -> None:
    with pytest.raises(SelectionError, match=r"no kernel or suite 'polibench'.*polybench"):
        select_kernels(["polibench"])


def test_sizes_that_a_kernel_lacks_are_left_out() -> None:
    kernels = select_kernels(["polybench/lu", "tile_size/lu"])
    cases = [(kernel.name, size) for kernel, size in select_cases(kernels, ["MINI", "MEDIUM"])]
    assert cases == [
        ("polybench/lu", "MINI"),
        ("polybench/lu", "MEDIUM"),
        ("tile_size/lu", "MINI"),
    ]


def test_sizes_that_no_kernel_has_are_refused() -> None:
    with pytest.raises(SelectionError, match=r"no size 'HUGE'; there are MINI, SMALL"):
        select_cases(select_kernels(["atax"]), ["MINI", "HUGE"])
