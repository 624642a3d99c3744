"""The dependences of a stencil, an illegal step with its hint, and the step that repairs it."""

from __future__ import annotations

import argparse

import loopwright
from loopwright.kernels.catalogue import catalogue
from loopwright.passes.transformations.fuse import Fuse
from loopwright.passes.transformations.shift import Shift


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=200, help="dependences hold for every size")
    size = parser.parse_args().size

    entry = catalogue()["polybench/jacobi-1d"]
    stencil = loopwright.load(entry.text)[entry.function]
    print(stencil.dependences.readable())

    schedule = stencil.schedule()
    fuse = Fuse(("S0.i", "S1.i"))
    try:
        schedule.apply(fuse)
    except loopwright.errors.IllegalTransformation as error:
        print(f"illegal: {error}\n")

    shifted = schedule.apply(Shift(("S1.i",), offset=1))
    assert shifted.legal(fuse)
    fused = shifted.apply(fuse)
    print(f"legal: {fused}")

    kernel = stencil.compile(fused, threads=1)
    arguments = entry.arguments({"tsteps": 10, "n": size})
    reference = entry.arguments({"tsteps": 10, "n": size})
    kernel(*arguments)
    stencil.compile(None)(*reference)
    for ours, theirs in zip(arguments[2:], reference[2:], strict=True):
        assert (ours == theirs).all(), "the same, bit for bit"


if __name__ == "__main__":
    main()
