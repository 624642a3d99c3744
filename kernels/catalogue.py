"""Catalogue of the shipped kernels: text, sizes, arguments and operation counts.

    entry = catalogue()["polybench/gemm"]
    arguments = entry.arguments("LARGE")        # [1000, 1100, 1200, 1.5, 1.2, C, A, B]
    entry.flops("LARGE"), entry.traffic("LARGE")

A suite is a table, `gemm.toml`, or a folder of tables. Arguments come in the order parameters,
scalars, arrays. The fields of a kernel:

- `arrays`: `initial` is the value of an element as a function of its subscripts i, j, k, l, u, v
  (first to sixth) and the parameters; without it the array starts as zeros. `element_type` is
  there where it is not the kernel's; `u8` and `u16` are MLIR's `i8` and `i16`. `gram` replaces the
  array X by X * X^T, which makes it positive definite. `determined` says which elements of an
  output are more than rounding errors (default: all): the standard values give gramschmidt a
  matrix of little more than half the rank.
- `tolerance` is there where a recurrence amplifies rounding errors.
- `flops` counts additions, subtractions, multiplications, divisions, roots, minima and maxima of
  the text, with loop-invariant products and repeated subexpressions counted once.
- `traffic` counts array elements: those read before they are written, plus those written. Without
  it, every array counts once.
- `parallel` and `simd` name the loops that a C programmer would put `omp parallel for` and
  `omp simd` on.
- `sizes`: the parameters of each size class, in order.
- `source` names an entry of another suite whose loops and other fields are taken over.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..support.summaries import summary
from ..support.typed_values import check_kind
from .table_expressions import evaluate

PACKAGE = __name__.rpartition(".")[0]

SUITES = ("polybench", "tiramisu", "interchange", "gemm", "tile_size", "field")

ELEMENT_TYPES: Mapping[str, type[np.generic] | np.dtype[Any]] = MappingProxyType(
    {
        "f64": np.float64,
        "f32": np.float32,
        "f16": np.float16,
        "bf16": np.dtype([("bfloat16", "<u2")]),
        "i64": np.int64,
        "i32": np.int32,
        "i16": np.int16,
        "u64": np.uint64,
        "u32": np.uint32,
        "u16": np.uint16,
        "u8": np.uint8,
        "i8": np.int8,
    }
)

TOLERANCES: Mapping[str, float] = MappingProxyType(
    {"f64": 1e-9, "f32": 1e-5, "f16": 1e-2, "bf16": 8e-2}
    | dict.fromkeys(("i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8"), 0.0)
)
"""Differences that rounding explains, relative to the largest value of an output."""

SUBSCRIPTS = ("i", "j", "k", "l", "u", "v")

CHUNK = 1 << 20
"""Elements initialised at a time: their intermediate values stay in the caches."""

Array = NDArray[Any]
Size = str | Mapping[str, int]
"""A size class such as "LARGE", or the value of every parameter."""


@dataclass(frozen=True)
class KernelArray:
    """An array argument: its shape and initial value as expressions, and its role in the kernel.

    `element_type` is a name in `ELEMENT_TYPES`.
    `determined` is an expression in the subscripts that is true where the values that the kernel
    computes do not consist of rounding errors alone.
    """

    name: str
    shape: tuple[str, ...]
    element_type: str = "f64"
    initial: str = "0"
    gram: bool = False
    output: bool = False
    determined: str | None = None

    def extents(self, parameters: Mapping[str, int]) -> tuple[int, ...]:
        """The shape for given parameters."""
        return tuple(int(evaluate(extent, parameters)) for extent in self.shape)

    def nbytes(self, parameters: Mapping[str, int]) -> int:
        """Its size in memory."""
        elements = math.prod(self.extents(parameters))
        return elements * np.dtype(ELEMENT_TYPES[self.element_type]).itemsize

    def create(self, parameters: Mapping[str, int]) -> Array:
        """A new array with its initial values."""
        array = np.zeros(self.extents(parameters), ELEMENT_TYPES[self.element_type])
        if self.initial != "0":
            rows = max(1, CHUNK * len(array) // max(1, array.size))
            for start in range(0, len(array), rows):
                chunk = array[start : start + rows]
                chunk[...] = evaluate(
                    self.initial, {**subscripts(chunk.shape, start), **parameters}
                )
        return np.matmul(array, array.T) if self.gram else array

    def determined_mask(self, shape: tuple[int, ...], parameters: Mapping[str, int]) -> Array:
        """A Boolean array of the given shape: which elements can be compared."""
        if self.determined is None:
            return np.ones(shape, np.bool_)
        mask = evaluate(self.determined, {**subscripts(shape), **parameters})
        return np.broadcast_to(mask, shape)


@dataclass(frozen=True)
class KernelEntry:
    """One kernel of the catalogue: a function in a file, and data about its arguments.

    `table` is the name of the table that has it, which in the suite `field` is its domain. `source`
    is the entry that the loops come from: the kernel itself, or one of another suite that has the
    same loops and element type. Correct versions that round differently agree up to `tolerance`,
    relative to the largest value of an output. `parallel` and `simd` are loops by the names of
    their variables.
    """

    name: str
    table: str
    source: str
    function: str
    element_type: str
    parameters: tuple[str, ...]
    scalars: Mapping[str, str]
    arrays: tuple[KernelArray, ...]
    sizes: Mapping[str, Mapping[str, int]]
    flops_expression: str
    traffic_expression: str | None
    tolerance: float
    parallel: tuple[str, ...]
    simd: tuple[str, ...]

    @property
    def file(self) -> Path:
        """The file of affine text that the loops are in."""
        return Path(str(resources.files(PACKAGE) / f"{self.source}.mlir"))

    @property
    def text(self) -> str:
        """The kernel as affine text."""
        return self.file.read_text(encoding="utf-8")

    @property
    def argument_names(self) -> tuple[str, ...]:
        """Names of the function's arguments, in order: parameters, scalars, arrays."""
        return (*self.parameters, *self.scalars, *(array.name for array in self.arrays))

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the arrays that hold the results."""
        return tuple(array.name for array in self.arrays if array.output)

    def parameter_values(self, size: Size) -> Mapping[str, int]:
        """The parameters of a size; raises KeyError for an unknown class or missing parameter."""
        check_kind(
            f"{self.name}: size", size, (str, Mapping), "a class of sizes, or values by name"
        )
        if not isinstance(size, str):
            return {name: size[name] for name in self.parameters}
        known = self.find_size(size)
        if known is None:
            raise KeyError(f"{self.name} has no size {size}: it has {', '.join(self.sizes)}")
        return self.sizes[known]

    def find_size(self, name: str) -> str | None:
        """The class of sizes with this name, in upper or lower case."""
        return next((each for each in self.sizes if each.casefold() == name.casefold()), None)

    def arguments(self, size: Size) -> list[int | float | Array]:
        """New arguments for one call, with the kernel's initial values."""
        parameters = self.parameter_values(size)
        scalars = (float(evaluate(value, parameters)) for value in self.scalars.values())
        arrays = (array.create(parameters) for array in self.arrays)
        return [*parameters.values(), *scalars, *arrays]

    def array_bytes(self, size: Size) -> int:
        """Bytes of all array arguments."""
        parameters = self.parameter_values(size)
        return sum(array.nbytes(parameters) for array in self.arrays)

    def output_arrays(self, arguments: list[int | float | Array]) -> dict[str, Array]:
        """The result arrays among the arguments of a call, by name."""
        values = dict(zip(self.argument_names, arguments, strict=True))
        return {name: np.asarray(values[name]) for name in self.outputs}

    def flops(self, size: Size) -> int:
        """Arithmetic operations of one call."""
        return int(evaluate(self.flops_expression, self.parameter_values(size)))

    def traffic(self, size: Size) -> int:
        """Bytes that one call must at least read and write."""
        if self.traffic_expression is None:
            return self.array_bytes(size)
        elements = int(evaluate(self.traffic_expression, self.parameter_values(size)))
        return elements * np.dtype(ELEMENT_TYPES[self.element_type]).itemsize

    def __repr__(self) -> str:
        return summary(self, f"{self.name}({', '.join(self.argument_names)})")


def subscripts(shape: tuple[int, ...], start: int = 0) -> dict[str, Array]:
    """The subscripts of every element as arrays that broadcast to `shape`.

    The first one counts from `start`.
    """
    ranges = [np.arange(extent) for extent in shape]
    ranges[0] = ranges[0] + start
    return dict(zip(SUBSCRIPTS, np.ix_(*ranges), strict=False))


def kernel_file(name: str) -> Path | None:
    """The file of a shipped kernel; None where there is none of this name."""
    suite, _, kernel = name.partition("/")
    file = Path(str(resources.files(PACKAGE) / suite / f"{kernel}.mlir"))
    if suite in SUITES and kernel.isprintable() and not {"/", "\0"} & {*kernel} and file.is_file():
        return file  # without the tables, which take a while to read
    entry = catalogue().get(name)
    return None if entry is None else entry.file


@cache
def catalogue() -> Mapping[str, KernelEntry]:
    """All shipped kernels by name, "suite/kernel"."""
    tables = {suite: read_table(suite) for suite in SUITES}
    entries: dict[str, KernelEntry] = {}
    for suite, table in tables.items():
        for kernel, fields in table.items():
            name = f"{suite}/{kernel}"
            source = fields.get("source", name)
            source_suite, source_kernel = source.split("/")
            entries[name] = make_entry(name, source, tables[source_suite][source_kernel] | fields)
    return MappingProxyType(entries)


def read_table(suite: str) -> dict[str, dict[str, Any]]:
    """The table of one suite, or all tables in its folder: fields by kernel."""
    root = resources.files(PACKAGE)
    files = [root / f"{suite}.toml"]
    if not files[0].is_file():
        files = [each for each in (root / suite).iterdir() if each.name.endswith(".toml")]
    kernels: dict[str, dict[str, Any]] = {}
    for file in sorted(files, key=lambda each: each.name):
        table = tomllib.loads(file.read_text(encoding="utf-8"))
        name = file.name.removesuffix(".toml")
        kernels |= {kernel: {**fields, "table": name} for kernel, fields in table.items()}
    return kernels


def make_entry(name: str, source: str, fields: Mapping[str, Any]) -> KernelEntry:
    """The entry `name` with the loops of the entry `source`."""
    parameters = tuple(fields["parameters"])
    element_type = fields["element_type"]
    sizes = {
        size: dict(zip(parameters, values, strict=True)) for size, values in fields["sizes"].items()
    }
    return KernelEntry(
        name=name,
        table=fields["table"],
        source=source,
        function=function_name(source.rpartition("/")[2]),
        element_type=element_type,
        parameters=parameters,
        scalars=fields.get("scalars", {}),
        arrays=tuple(
            KernelArray(**{"element_type": element_type, **array}) for array in fields["arrays"]
        ),
        sizes=sizes,
        flops_expression=fields["flops"],
        traffic_expression=fields.get("traffic"),
        tolerance=fields.get("tolerance", TOLERANCES[element_type]),
        parallel=tuple(fields.get("parallel", ())),
        simd=tuple(fields.get("simd", ())),
    )


def function_name(kernel: str) -> str:
    """The function that implements a kernel: "jacobi-2d" -> "jacobi_2d", "2mm" -> "kernel_2mm"."""
    identifier = kernel.replace("-", "_")
    return f"kernel_{identifier}" if identifier[0].isdigit() else identifier
