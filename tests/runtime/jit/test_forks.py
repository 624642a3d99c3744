"""Kernels in children of forks, and pickled kernels."""

import multiprocessing
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

import loopwright
from loopwright.passes.polyhedral.isl_context import ISL_LOCK
from loopwright.runtime.kernel import Kernel

TEXT = """
func.func @f(%n: index, %x: memref<?xf64>) {
  affine.for %i = 0 to %n {
    %v = affine.load %x[%i] : memref<?xf64>
    %w = arith.addf %v, %v : f64
    affine.store %w, %x[%i] : memref<?xf64>
  }
  return
}
"""


def compiled(schedule: str = "parallel{loops=i}") -> Kernel:
    return loopwright.load(TEXT)["f"].compile(schedule, threads=2)


def doubles(kernel: Kernel) -> bool:
    values = np.ones(1000)
    kernel(1000, values)
    return bool((values == 2).all())


def in_child(check: Callable[[], bool]) -> bool:
    """What `check` answers in the child of a fork; False where it hangs."""
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        status = 1
        try:
            status = 0 if check() else 1
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1] == 0


def test_parallel_calls_after_a_fork() -> None:
    kernel = compiled()
    assert doubles(kernel)
    assert in_child(lambda: doubles(kernel) and doubles(kernel))
    assert doubles(kernel)
    assert in_child(lambda: in_child(lambda: doubles(kernel)))


def test_compiling_after_a_fork() -> None:
    kernel = compiled()
    assert doubles(kernel)
    assert in_child(lambda: doubles(compiled("tile{loops=i sizes=7},parallel{loops=it}")))


def test_a_fork_waits_for_the_locks_of_other_threads() -> None:
    taken = threading.Event()

    def hold() -> None:
        with ISL_LOCK:
            taken.set()
            time.sleep(0.3)

    holder = threading.Thread(target=hold)
    holder.start()
    taken.wait()
    assert in_child(lambda: doubles(compiled("strip-mine{loops=i size=5}")))
    holder.join()
    assert ISL_LOCK.acquire(timeout=10)
    ISL_LOCK.release()


@pytest.mark.parametrize("schedule", ["parallel{loops=i}", "default", None])
def test_pickled_kernels(schedule: str | None) -> None:
    kernel = loopwright.load(TEXT)["f"].compile(schedule, threads=2)
    again = pickle.loads(pickle.dumps(kernel))
    assert doubles(kernel) and doubles(again)
    assert again.options == kernel.options
    assert str(again.schedule) == str(kernel.schedule)


def test_kernels_go_to_spawned_processes() -> None:
    text = """
    func.func @g(%x: f64) -> f64 {
      %y = arith.addf %x, %x : f64
      return %y : f64
    }
    """
    kernel = loopwright.load(text)["g"].compile()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply_async(kernel, (21.0,)).get(timeout=60) == 42.0
