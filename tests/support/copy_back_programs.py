"""Random time loops that compute one array from another and copy it back, or nearly so."""

from __future__ import annotations

import random
from dataclasses import dataclass
from string import Template

import numpy as np

import loopwright
from loopwright.runtime.program import Function

KINDS = {"f64": np.float64, "f32": np.float32, "i32": np.int32}

HEAD = """
func.func @f(
    %steps: index, %n: index, %A: memref<?x${kind}>, %B: memref<?x${kind}>, %s: memref<?x${kind}>) {
"""

LOCAL = "%B = memref.alloc(%n) : memref<?x${kind}>"

COMPUTE = """
    affine.for %i = ${low} to affine_map<(d0)[s0] -> (${high})>(%t)[%n] {
      %0 = affine.load %A[%i] : memref<?x${kind}>
      %1 = affine.load %${read}[%i + ${first}] : memref<?x${kind}>
      %2 = arith.sub${suffix} %1, %0 : ${kind}
      %3 = affine.load %A[%i + ${second}] : memref<?x${kind}>
      %4 = arith.add${suffix} %2, %3 : ${kind}
      affine.store %4, %B[%i + ${offset}] : memref<?x${kind}>
    }
"""

COPY = """
    affine.for %i = ${copylow} to affine_map<(d0)[s0] -> (${high})>(%t)[%n] {
      %5 = affine.load %B[%i + ${offset}] : memref<?x${kind}>
      ${change}
      affine.store %5, %A[%i] : memref<?x${kind}>
    }
"""

CHANGE = """
      %6 = affine.load %A[%i] : memref<?x${kind}>
      %7 = arith.sub${suffix} %5, %6 : ${kind}
      %8 = affine.load %s[%t] : memref<?x${kind}>
      %9 = arith.add${suffix} %8, %7 : ${kind}
      affine.store %9, %s[%t] : memref<?x${kind}>
"""

OLDER = """
    affine.for %i = ${low} to affine_map<(d0)[s0] -> (${high})>(%t)[%n] {
      %o = affine.load %A[%i] : memref<?x${kind}>
      affine.store %o, %P[%i] : memref<?x${kind}>
    }
"""

OLDEST = """
      %p = affine.load %P[%i + ${age}] : memref<?x${kind}>
      %q = arith.sub${suffix} %4, %p : ${kind}
      affine.store %q, %B[%i + ${offset}] : memref<?x${kind}>
"""

BORDER = """
    %x = affine.load %${from}[${firstelement}] : memref<?x${kind}>
    affine.store %x, %A[0] : memref<?x${kind}>
"""


@dataclass(frozen=True)
class CopyBackProgram:
    """A program in text, and the type of its elements."""

    text: str
    kind: str

    @property
    def function(self) -> Function:
        """The program."""
        return loopwright.load(self.text)["f"]


def random_copy_back(source: random.Random) -> CopyBackProgram:
    """Stencils with borders, changes that are summed up, domains that grow with time, and an array
    of the step before the last one; some of them read what the buffer had before, or copy only a
    part of it."""
    kind = source.choice(list(KINDS))
    is_growing = source.random() < 0.25
    suffix = "f" if kind.startswith("f") else "i"
    change = Template(CHANGE).substitute(kind=kind, suffix=suffix)
    values = {
        "low": 2,
        "high": "d0 + 2" if is_growing else "s0 - 2",
        "read": "B" if source.random() < 0.1 else "A",
        "first": source.choice((-1, -2, 1)),
        "second": source.choice((1, 2, -1, 0)),
        "offset": source.choice((0, 0, 0, 1, -1, -2)),
        "copylow": 3 if source.random() < 0.1 else 2,
        "change": change if source.random() < 0.3 else "",
        "from": source.choice("AAB"),
        "age": source.choice((0, 0, 0, 1, -1)),
        "firstelement": source.choice((1, 2, 3)),
        "suffix": suffix,
        "kind": kind,
    }
    parts = [COMPUTE, COPY]
    has_older = source.random() < 0.4
    if has_older:
        store = "      affine.store %4, %B[%i + ${offset}] : memref<?x${kind}>\n"
        parts = [COMPUTE.replace(store, OLDEST), OLDER, COPY]
    if source.random() < 0.4:
        parts.insert(source.choice((0, 1, 2)), BORDER.replace("%x", "%y"))
    if source.random() < 0.2:
        parts.append(COMPUTE.replace("%B[%i + ${offset}]", "%s[%i]"))
    begin = source.choice((0, 0, 1, 3))
    is_local = source.random() < 0.3
    head = HEAD.replace(") {", ",\n    %P: memref<?x${kind}>) {") if has_older else HEAD
    text = "\n".join(
        [
            head.replace(" %B: memref<?x${kind}>,", "") if is_local else head,
            *([LOCAL] if is_local else []),
            f"  affine.for %t = {begin} to %steps {{",
            *parts,
            "  }",
            *(["memref.dealloc %B : memref<?x${kind}>"] if is_local else []),
            "  return",
            "}",
        ]
    )
    text = Template(text).substitute(values)
    return CopyBackProgram(text.replace("+ -", "- "), kind)


def assert_same(program: CopyBackProgram, pipeline: str, threads: int = 1) -> None:
    """The schedule leaves what the program as it was written leaves, and it is validated."""
    function = program.function
    kernel = function.compile(pipeline, threads=threads, verify=True)
    written = function.compile(None)
    generator = np.random.default_rng(len(program.text))
    for steps, n in ((0, 9), (1, 7), (2, 8), (3, 10), (4, 11), (5, 40), (7, 33), (8, 64)):
        size = max(n, steps + 6)
        count = program.text.partition("{")[0].count(": memref")
        arrays = [generator.integers(-9, 9, size).astype(KINDS[program.kind]) for _ in range(count)]
        others = [array.copy() for array in arrays]
        kernel(steps, size, *arrays)
        written(steps, size, *others)
        for array, other in zip(arrays, others, strict=True):
            np.testing.assert_array_equal(array, other, err_msg=f"{steps} {size}\n{program.text}")
    assert kernel.verdict is not None
    assert kernel.verdict.violation is None, program.text
