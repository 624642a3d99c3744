"""A beam search with the shipped cost model: nothing is run, so it works for any machine."""

from __future__ import annotations

import argparse

import loopwright
from loopwright.costmodel.find import find_model
from loopwright.kernels.catalogue import catalogue
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.search.beam import BeamSearch
from loopwright.passes.search.result import Task
from loopwright.passes.search.searching import search
from loopwright.passes.search.space.stages import LOOPER


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=400, help="from 100 on there is enough work")
    size = parser.parse_args().size

    mvt = loopwright.load(catalogue()["polybench/mvt"].text)["mvt"]
    sizes = {"n": size, "A_dim0": size, "A_dim1": size}
    sizes |= {f"{array}_dim0": size for array in ("x1", "x2", "y1", "y2")}
    context = SchedulingContext(sizes, threads=1)
    task = Task(mvt.schedule(), context, find_model("ensemble"))
    result = search(BeamSearch(beam=1, stages=LOOPER), task)
    for step in result.path:
        print(f"{step.step:<50}{step.predicted or 1.0:8.2f}x")
    print(f"{result.candidates} schedules in {result.seconds:.1f} s; chosen:\n{result.best}")
    assert result.measured is None, "nothing was run"


if __name__ == "__main__":
    main()
