"""Small directories of labels with made-up times, as the labelled-data pipeline writes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from loopwright.costmodel.dataset.rows import rows_of
from loopwright.costmodel.dataset.store import Writer
from loopwright.costmodel.labels import Label, LabelledProgram, ProgramInstance, Status

PRODUCT = """
func.func @program(%A: memref<?x?xf64>, %B: memref<?x?xf64>, %C: memref<?x?xf64>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %C, %c0 : memref<?x?xf64>
  %m = memref.dim %C, %c1 : memref<?x?xf64>
  %l = memref.dim %A, %c1 : memref<?x?xf64>
  affine.for %i = 0 to %n {{
    affine.for %j = 0 to %m {{
      %x = arith.constant {constant} : f64
      affine.store %x, %C[%i, %j] : memref<?x?xf64>
      affine.for %k = 0 to %l {{
        %a = affine.load %A[%i, %k] : memref<?x?xf64>
        %b = affine.load %B[%k, %j] : memref<?x?xf64>
        %p = arith.mulf %a, %b : f64
        %c = affine.load %C[%i, %j] : memref<?x?xf64>
        %s = arith.addf %c, %p : f64
        affine.store %s, %C[%i, %j] : memref<?x?xf64>
      }}
    }}
  }}
  return
}}
"""

TWO_NESTS = """
func.func @program(%A: memref<?xf32>, %B: memref<?x?xf32>) {{
  %c0 = arith.constant 0 : index
  %n = memref.dim %A, %c0 : memref<?xf32>
  %x = arith.constant {constant} : f32
  affine.for %i = 0 to %n {{
    %a = affine.load %A[%i] : memref<?xf32>
    %s = arith.mulf %a, %x : f32
    affine.store %s, %A[%i] : memref<?xf32>
  }}
  affine.for %i = 0 to %n {{
    affine.for %j = 0 to affine_map<(d0) -> (d0 + 1)>(%i) {{
      %a = affine.load %A[%j] : memref<?xf32>
      %b = affine.load %B[%i, %j] : memref<?x?xf32>
      %s = arith.subf %b, %a : f32
      affine.store %s, %B[%i, %j] : memref<?x?xf32>
    }}
  }}
  return
}}
"""

SCHEDULES: Mapping[str, Sequence[str]] = {
    PRODUCT: [
        "distribute{loops=j},interchange{loops=k,S1.j}",
        "tile{loops=i,j sizes=8,16}",
        "tile{loops=i,j sizes=32,32},parallel{loops=it}",
        "distribute{loops=i,j},tile{loops=S1.i,S1.j,k sizes=8,8,8},vectorize{loops=S1.j width=8}",
        "parallel{loops=i}",
        "unroll{loops=k factor=4}",
        "reverse{loops=i}",
    ],
    TWO_NESTS: [
        "parallel{loops=S0.i}",
        "parallel{loops=S1.i}",
        "tile{loops=S1.i,j sizes=16,16}",
        "interchange{loops=j,S1.i}",
        "vectorize{loops=j width=16}",
        "unroll{loops=S0.i factor=8},vectorize{loops=j width=8}",
    ],
}

SIZES: Mapping[str, Sequence[str]] = {
    PRODUCT: ["A_dim0", "A_dim1", "B_dim0", "B_dim1", "C_dim0", "C_dim1"],
    TWO_NESTS: ["A_dim0", "B_dim0", "B_dim1"],
}

MACHINE = '{"cpu":"made up"}'


def speedup(text: str, schedule: str) -> float:
    """A made-up speed-up that follows from what a model sees."""
    result = 1.0
    for word, factor in (("parallel", 1.9), ("vectorize", 3.0), ("tile", 1.3), ("reverse", 0.6)):
        result *= factor if word in schedule else 1.0
    return result * (0.8 if "xf32" in text else 1.0)


def write_labels(
    directory: Path,
    programs: int,
    *,
    machine: str = MACHINE,
    origin: str = "test",
    speedup: Callable[[str, str], float] = speedup,
) -> None:
    """So many programs with all their schedules; what is slower than 0.125 is censored."""
    with Writer(directory) as writer:
        for number in range(programs):
            labelled = labelled_program(number, machine, origin, speedup)
            writer.append(rows_of(labelled))


def labelled_program(
    number: int,
    machine: str = MACHINE,
    origin: str = "test",
    speedup: Callable[[str, str], float] = speedup,
) -> LabelledProgram:
    """One of these programs."""
    templates = list(SCHEDULES)
    template = templates[number % len(templates)]
    text = template.format(constant=f"{number}.5")
    sizes = dict.fromkeys(SIZES[template], 64 + 16 * number)
    instance = ProgramInstance(text, sizes, origin, number)
    labels = [_label(schedule, speedup(text, schedule)) for schedule in SCHEDULES[template]]
    return LabelledProgram(number, instance, sizes, _label("", 1.0), machine, "{}", tuple(labels))


def _label(schedule: str, gain: float) -> Label:
    status: Status = "measured" if gain >= 0.125 else "censored"
    seconds = 1e-3 / max(gain, 0.125)
    threads = 2 if "parallel" in schedule else 1
    return Label(schedule, "test", status, seconds, 0.01, seconds, 5, threads, 1e-3, 0.0, 0.1, 0.0)
