"""Verifies what mlir-opt's affine passes make of the PolyBench kernels.

Usage: python benchmarks/verify_mlir_opt.py [--mlir-opt PATH] [--write DIRECTORY] [KERNEL ...]

Each kernel goes through each pass, with symbolic sizes and with those of MINI (fusion changes
nothing but static shapes); sizes are assumed not to be negative. Prints one row per pass: how many
outputs are equal to the kernel, different, or not known, and which. `--write` keeps the outputs,
as KERNEL.PASS.mlir, for tests that have no mlir-opt.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

import loopwright
from loopwright.kernels.catalogue import KernelEntry, catalogue
from loopwright.lowering.specialise import specialise
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.runtime.calling.signature import Sizes
from loopwright.runtime.program import Function
from loopwright.runtime.verifying.answer import Relation
from loopwright.runtime.verifying.verify import verify

TOOLS = ("mlir-opt", *(f"mlir-opt-{version}" for version in range(25, 17, -1)))

PASSES = {
    "tile": "affine-loop-tile{tile-size=4}",
    "unroll": "affine-loop-unroll{unroll-factor=4}",
    "unroll-jam": "affine-loop-unroll-jam{unroll-jam-factor=4}",
    "fusion": "affine-loop-fusion",
    "scalrep": "affine-scalrep",
    "licm": "affine-loop-invariant-code-motion",
    "normalize": "affine-loop-normalize",
    "parallelize": "affine-parallelize",
}


class RefusedError(Exception):
    """What mlir-opt says where it does not run a pass on a program."""


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernels", nargs="*")
    parser.add_argument("--mlir-opt", default=next(filter(None, map(shutil.which, TOOLS)), None))
    parser.add_argument("--write", type=Path)
    parser.add_argument("--passes", default=",".join(PASSES))
    arguments = parser.parse_args()
    if arguments.mlir_opt is None:
        sys.exit("mlir-opt is not installed; name it with --mlir-opt")
    names = arguments.kernels or [n for n in catalogue() if n.startswith("polybench/")]
    entries = [catalogue()[f"polybench/{name.removeprefix('polybench/')}"] for name in names]
    totals: dict[Relation, int] = dict.fromkeys(Relation, 0)
    refused = 0
    for title in arguments.passes.split(","):
        for sizes in ("symbolic", "MINI"):
            found: defaultdict[Relation, list[str]] = defaultdict(list)
            start = time.perf_counter()
            for entry in entries:
                try:
                    answer = check(entry, title, sizes, arguments.mlir_opt, arguments.write)
                except RefusedError as error:
                    refused += 1
                    print(f"{entry.name} {title} {sizes}: refused: {error}", flush=True)
                    continue
                if answer is not None:
                    found[answer].append(entry.name.removeprefix("polybench/"))
            for relation, kernels in found.items():
                totals[relation] += len(kernels)
            print(row(title, sizes, found, time.perf_counter() - start), flush=True)
    counts = [f"{count} {relation.value}" for relation, count in totals.items()]
    print(", ".join([*counts, f"{refused} refused by mlir-opt"]))


def row(title: str, sizes: str, found: dict[Relation, list[str]], seconds: float) -> str:
    """Counts, and the kernels that are not equal."""
    counts = ", ".join(f"{len(found.get(relation, []))} {relation.value}" for relation in Relation)
    others = [
        f"{relation.value}: {' '.join(names)}"
        for relation, names in found.items()
        if relation is not Relation.EQUAL
    ]
    return f"{title:<12} {sizes:<9} {counts}  ({seconds:.0f} s)  {'; '.join(others)}"


def check(
    entry: KernelEntry, title: str, sizes: str, tool: str, directory: Path | None
) -> Relation | None:
    """How the output of a pass is related to a kernel; None where the pass changes nothing.

    Raises RefusedError where mlir-opt does not run it.
    """
    function = loopwright.load(entry.text)[entry.function]
    if sizes != "symbolic":
        function = with_sizes(function, entry.parameter_values(sizes))
    text = text_of(function.function)
    pipeline = f"--pass-pipeline=builtin.module(func.func({PASSES[title]}))"
    before, after = (run(tool, each, text) for each in ("--verify-each", pipeline))
    if after == before:
        return None
    if directory is not None:
        suffix = "" if sizes == "symbolic" else ".static"
        path = directory / f"{entry.name.removeprefix('polybench/')}{suffix}.{title}.mlir"
        path.write_text(after, encoding="utf-8")
    (other,) = loopwright.load(after).values()
    conditions = " and ".join(f"{size.name} >= 0" for size in function.scop.sizes)
    return verify(function, other, assume=conditions).relation


def with_sizes(function: Function, sizes: Mapping[str, int]) -> Function:
    """The function for given sizes, with static shapes."""
    known = Sizes.named(function.scop, infer_extents(function.scop, sizes))
    static = specialise(function.function, known.shapes, known.integers)
    (result,) = loopwright.load(text_of(static)).values()
    return result


def text_of(function: func.FuncOp) -> str:
    """A module with a function, as text."""
    return str(ModuleOp([function.clone()])) + "\n"


def run(tool: str, option: str, text: str) -> str:
    """What mlir-opt prints; raises RefusedError."""
    done = subprocess.run([tool, option], input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RefusedError(done.stderr.strip().partition("\n")[0] or f"ends with {done.returncode}")
    return done.stdout


if __name__ == "__main__":
    main()
