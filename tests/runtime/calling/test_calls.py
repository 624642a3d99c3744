"""Overlapping arguments, calls from several threads, memory that cannot be allocated."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from support.runtime_programs import DOT, GEMM, SAXPY, WORKSPACE

import loopwright
from loopwright.errors import OutOfMemory, OverlappingArguments
from loopwright.runtime.kernel import SPECIALISATIONS, Kernel


def compiled(text: str, schedule: str | None = None, threads: int | None = None) -> Kernel:
    (function,) = loopwright.load(text).values()
    return function.compile(schedule, threads=threads)


@pytest.fixture(scope="module")
def saxpy() -> Kernel:
    return compiled(SAXPY)


MESSAGE = (
    "saxpy: argument 3 'x' and argument 4 'y' overlap in memory, and the kernel writes y; "
    "pass a copy of one of them"
)


@pytest.mark.parametrize(("first", "second"), [(0, 0), (0, 3), (3, 0), (2, 1)])
def test_refuses_overlap_with_a_written_array(saxpy: Kernel, first: int, second: int) -> None:
    memory = np.zeros(8, "f4")
    with pytest.raises(OverlappingArguments) as caught:
        saxpy(4, 1.0, memory[first : first + 4], memory[second : second + 4])
    assert str(caught.value) == MESSAGE
    assert not memory.any()


def test_refuses_overlap_of_an_array_with_a_tensor(saxpy: Kernel) -> None:
    memory = np.zeros(4, "f4")
    with pytest.raises(OverlappingArguments):
        saxpy(4, 1.0, torch.from_numpy(memory), memory)


def test_neighbours_do_not_overlap(saxpy: Kernel) -> None:
    memory = np.ones(8, "f4")
    saxpy(4, 1.0, memory[4:], memory[:4])
    saxpy(4, 1.0, memory[:4], memory[4:])
    assert memory.tolist() == [2.0] * 4 + [3.0] * 4


def test_empty_arrays_do_not_overlap(saxpy: Kernel) -> None:
    memory = np.ones(4, "f4")
    saxpy(0, 1.0, memory[2:2], memory)
    saxpy(0, 1.0, memory, memory[:0])
    assert memory.tolist() == [1.0] * 4


def test_arrays_that_are_only_read_may_overlap() -> None:
    memory = np.arange(6.0)
    dot = compiled(DOT)
    assert dot(5, memory[:5], memory[1:]) == sum(i * (i + 1) for i in range(5))


def test_threads_share_a_kernel() -> None:
    """Many threads, all at once, with shapes that each of them may be first to specialise."""
    kernel = compiled(GEMM, "interchange{loops=k,j},parallel{loops=i}", threads=2)
    sizes = [3, 5, 8, 12, 17]
    start = threading.Barrier(6)

    def work(seed: int) -> None:
        random = np.random.default_rng(seed)
        start.wait()
        for step in range(8):
            n = sizes[(seed + step) % len(sizes)]
            a, b, c = random.random((n, n + 1)), random.random((n + 1, n)), np.zeros((n, n))
            kernel(n, n, n + 1, c, a, b)
            np.testing.assert_allclose(c, a @ b, rtol=1e-13)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))


def test_a_call_releases_the_interpreter() -> None:
    """While a kernel runs in one thread, another one executes Python code."""
    kernel = compiled(GEMM)
    n = 300
    a, b, c = np.ones((n, n)), np.ones((n, n)), np.zeros((n, n))
    kernel.specialise(n, n, n, c, a, b)
    finished = threading.Event()
    steps_meanwhile = 0

    def run() -> None:
        for _ in range(5):
            kernel(n, n, n, c, a, b)
        finished.set()

    worker = threading.Thread(target=run)
    worker.start()
    while not finished.is_set():
        steps_meanwhile += 1
    worker.join()
    assert (c == 5 * n).all()
    # With the interpreter held, this thread would run only between the five calls.
    assert steps_meanwhile > 10_000


def test_old_specialisations_are_dropped() -> None:
    kernel = compiled(SAXPY)
    first = kernel.specialise(0, 1.0, np.zeros(1, "f4"), np.zeros(1, "f4"))
    kernel._specialisations.update({(n, (1,), (2,)): first for n in range(2 * SPECIALISATIONS)})
    kernel.specialise(1, 1.0, np.zeros(1, "f4"), np.zeros(1, "f4"))
    assert len(kernel._specialisations) == SPECIALISATIONS


def test_memory_that_cannot_be_allocated() -> None:
    kernel = compiled(WORKSPACE)
    x = np.arange(4.0)
    assert kernel(4, x) is None
    assert x.tolist() == [6.0, 6.0, 6.0, 6.0]
    with pytest.raises(OutOfMemory, match="not enough memory for the arrays that the kernel"):
        kernel(2**50, x)
    with pytest.raises(OutOfMemory):
        kernel.time(2**50, x, budget=0.0)
    kernel(4, x)
    assert x.tolist() == [24.0] * 4
