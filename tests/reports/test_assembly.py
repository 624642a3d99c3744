"""Hot loops of assembly, and what their instructions ask of the ports."""

from __future__ import annotations

import pytest

from loopwright.passes.machine.target import Target
from loopwright.reports.assembly import HotLoop, hot_loops, kinds

TEXT = """\
\t.text
f:
\txorl\t%eax, %eax
.LBB0_1:
\txorl\t%edx, %edx
.LBB0_2:
\tvmovupd\t(%rcx,%rdx), %ymm1
\tvfmadd231pd\t(%rsi), %ymm1, %ymm2
\tvfmadd231pd\t%ymm3, %ymm1, %ymm4
\tvmovupd\t%ymm2, (%rcx,%rdx)
\taddq\t$32, %rdx
\tjne\t.LBB0_2
\tincq\t%rax
\tjne\t.LBB0_1
.LBB0_3:
\tvaddsd\t%xmm1, %xmm0, %xmm0
\tjne\t.LBB0_3
\tretq
"""


def test_innermost_loops_that_compute_most_come_first() -> None:
    first, second = hot_loops(TEXT, 3)
    assert first.lines[0] == ".LBB0_2:" and first.depth == 1
    assert second.lines[0] == ".LBB0_3:" and second.depth == 0
    assert hot_loops(TEXT, 1) == [first]
    assert hot_loops("f:\n\tretq\n", 3) == []


def test_the_ports_that_a_loop_needs() -> None:
    (first,) = hot_loops(TEXT, 1)
    assert first.kinds == {"load": 2, "arithmetic": 2, "store": 1, "other": 2}
    assert first.floating_point_operations == 2 * 2 * 4
    machine = Target.named("zen3")
    assert first.bounds(machine) == {
        "arithmetic": 2 / machine.multiply_adds_per_cycle,
        "loads": 2 / machine.loads_per_cycle,
        "stores": 1 / machine.stores_per_cycle,
    }


@pytest.mark.parametrize(
    ("name", "operands", "found"),
    [
        ("vaddps", "%zmm1, %zmm2, %zmm3", ["arithmetic"]),
        ("vaddsd", "8(%rax), %xmm2, %xmm3", ["arithmetic", "load"]),
        ("vmovaps", "%ymm1, 64(%rax)", ["store"]),
        ("vmovaps", "64(%rax), %ymm1", ["load"]),
        ("leaq", "8(%rax,%rcx), %rdx", ["other"]),
        ("prefetcht0", "512(%rax)", ["other"]),
        ("cmpq", "$1, (%rax)", ["load"]),
        ("vpmaddwd", "%ymm1, %ymm2, %ymm3", ["arithmetic"]),
    ],
)
def test_kinds_of_instructions(name: str, operands: str, found: list[str]) -> None:
    assert list(kinds(name, operands)) == found


@pytest.mark.parametrize(
    ("name", "register", "operations", "cycles"),
    [
        ("vpaddd", "zmm", 16, 0.5),
        ("vpaddd", "ymm", 8, 0.25),  # narrower vectors may have more pipes
        ("paddb", "xmm", 16, 0.125),
        ("vpmaxub", "zmm", 64, 0.5),
        ("vpmulld", "xmm", 4, 0.5),
        ("vpmaddwd", "ymm", 8 * 3, 0.5),
        ("vpdpwssd", "zmm", 16 * 4, 0.5),
        ("vpdpbusds", "zmm", 16 * 8, 0.5),
        ("vpunpcklbw", "zmm", 0, 0.0),
        ("vpmovsxbw", "zmm", 0, 0.0),
        ("vpermt2w", "zmm", 0, 0.0),
    ],
)
def test_integer_vectors_compute(name: str, register: str, operations: int, cycles: float) -> None:
    loop = HotLoop((".L1:", f"\t{name}\t%{register}1, %{register}2, %{register}3"), 0)
    assert loop.integer_operations == operations
    assert loop.bounds(Target.named("zen4"))["arithmetic"] == cycles


def test_a_loop_of_integer_products_is_hotter_than_a_longer_one_of_copies() -> None:
    copies = "".join(
        f"\tvmovdqu\t{n}(%rcx), %ymm1\n\tvmovdqu\t%ymm1, {n}(%rdx)\n" for n in range(9)
    )
    product = "\tvpmaddwd\t%ymm1, %ymm2, %ymm3\n"
    text = f".LBB0_1:\n{copies}\tjne\t.LBB0_1\n.LBB0_2:\n{product}\tjne\t.LBB0_2\n"
    assert [loop.lines[0] for loop in hot_loops(text, 3)] == [".LBB0_2:", ".LBB0_1:"]
