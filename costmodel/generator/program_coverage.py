"""Coverage of the program space by random programs, compared with PolyBench."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from xdsl.dialects.builtin import FixedBitwidthType

from ...dialects.errors import SourceError
from ...kernels.catalogue import catalogue
from ...passes.polyhedral.counting import (
    UncountableError,
    cardinality,
    fix_parameters,
    floating_point_operations,
)
from ...passes.polyhedral.extents import infer_extents
from ...passes.polyhedral.schedule_tree import Sequence as TreeSequence
from ...passes.polyhedral.schedule_tree import chains
from ...passes.polyhedral.scop import Access, Scop, Statement
from ...passes.schedules.schedule import Schedule, Transformation
from ...passes.search.space.trees import innermost_loops
from ...passes.transformations.fuse import Fuse
from ...passes.transformations.interchange import Interchange
from ...passes.transformations.parallel import Parallel
from ...passes.transformations.tile import Tile
from ...passes.transformations.vectorize import Vectorize
from ..original import original_schedule
from .random_program import random_program

QUANTILES = (0.1, 0.5, 0.9)
BENCHMARK_SUITE = "polybench"
BENCHMARK_SIZE = "LARGE"


@dataclass(frozen=True)
class CoverageStatistics:
    """Statistics of a program; `legal` are the transformations that are legal somewhere in it.

    `bytes` are those of all arrays, `types` those of their elements, `intensity` operations on
    floats per such byte. A program `reduces` where a statement changes one element in all
    iterations of a loop, and `repeats` where a loop is in no subscript of a statement, as time
    loops are.
    """

    statements: int
    nests: int
    depth: int
    reads: int
    instances: int
    bytes: int
    intensity: float
    types: frozenset[str]
    reduces: bool
    repeats: bool
    is_rectangular: bool
    legal: frozenset[str]


def coverage_of(scop: Scop, sizes: Mapping[str, int]) -> CoverageStatistics:
    """Counts a program at its sizes; raises UncountableError."""
    names = infer_extents(scop, sizes)
    domains = [fix_parameters(statement.domain, names) for statement in scop.statements]
    memory = sum(
        math.prod(
            names[extent] if isinstance(extent, str) else int(str(extent)) for extent in shape
        )
        * _bytes(array.element_type)
        for array in scop.arrays
        if array.argument is not None
        for shape in [array.shape]
    )
    root = scop.tree
    return CoverageStatistics(
        len(scop.statements),
        len(root.children) if isinstance(root, TreeSequence) else 1,
        max(len(statement.loops) for statement in scop.statements),
        max(len(statement.reads) for statement in scop.statements),
        sum(map(cardinality, domains)),
        memory,
        floating_point_operations(scop, names) / max(1, memory),
        frozenset(str(array.element_type) for array in scop.arrays if array.argument is not None),
        any(map(_reduces, scop.statements)),
        any(len(_used(statement)) < len(statement.loops) for statement in scop.statements),
        all(domain.is_box() for domain in domains),
        frozenset(_legal(Schedule.original(scop))),
    )


def _reduces(statement: Statement) -> bool:
    """Whether an element is read and written in all iterations of a loop that others depend on."""
    return any(
        read.array is write.array and read.map == write.map and _used(statement) - _dims(write)
        for write in statement.writes
        for read in statement.reads
    )


def _used(statement: Statement) -> set[int]:
    """The loops, counted from outside, that are in some subscript."""
    return {dim for access in statement.accesses for dim in _dims(access)}


def _dims(access: Access) -> set[int]:
    return {dim for result in access.map.results for dim in result.used_dims()}


def _bytes(element_type: object) -> int:
    return element_type.bitwidth // 8 if isinstance(element_type, FixedBitwidthType) else 8


def _legal(schedule: Schedule) -> Iterator[str]:
    for name, probes in _probes(schedule).items():
        if any(schedule.legal(probe) for probe in probes):
            yield name


def _probes(schedule: Schedule) -> dict[str, list[Transformation]]:
    """Some transformations of each kind."""
    longest = [members for members in chains(schedule.tree) if len(members) > 1]
    pairs = [tuple(map(schedule.short_name, members[:2])) for members in longest]
    roots = [members[0] for members in chains(schedule.tree)]
    first = [schedule.short_name(loop) for loop in roots]
    inner = [schedule.short_name(loop) for loop in innermost_loops(schedule.tree)]
    siblings = [
        (schedule.short_name(one), schedule.short_name(other)) for one, other in pairwise(roots)
    ]
    return {
        "parallel": [Parallel((name,)) for name in first],
        "interchange": [Interchange(pair[::-1]) for pair in pairs],
        "tile": [Tile(pair, sizes=(8, 8)) for pair in pairs],
        "vectorize": [Vectorize((name,)) for name in inner],
        "fuse": [Fuse(pair, shift="auto") for pair in siblings],
    }


def random_coverage(seeds: Iterable[int]) -> Iterator[CoverageStatistics]:
    """Those of random programs."""
    for seed in seeds:
        program = random_program(seed)
        with_scop = original_schedule(program.text).scop
        try:
            yield coverage_of(with_scop, program.sizes)
        except (UncountableError, SourceError):
            continue


def benchmark_coverage() -> Iterator[CoverageStatistics]:
    """Those of PolyBench's kernels."""
    for entry in catalogue().values():
        if entry.name.startswith(f"{BENCHMARK_SUITE}/"):
            try:
                yield coverage_of(
                    original_schedule(entry.text).scop, entry.parameter_values(BENCHMARK_SIZE)
                )
            except (UncountableError, SourceError):
                continue


def coverage_table(
    random: Sequence[CoverageStatistics], benchmarks: Sequence[CoverageStatistics]
) -> list[list[str]]:
    """Quantiles and shares, one row per property."""
    rows = [["", f"random ({len(random)})", f"{BENCHMARK_SUITE} ({len(benchmarks)})"]]
    numbers: dict[str, Callable[[CoverageStatistics], float]] = {
        "statements": lambda f: f.statements,
        "loop nests": lambda f: f.nests,
        "depth": lambda f: f.depth,
        "reads of a statement": lambda f: f.reads,
        "statement instances": lambda f: f.instances,
        "bytes of arrays": lambda f: f.bytes,
        "operations per byte": lambda f: f.intensity,
    }
    columns = (random, benchmarks)
    for name, value in numbers.items():
        rows.append([name, *(_quantiles([value(f) for f in statistics]) for statistics in columns)])
    for depth in range(1, 8):
        shares = (_share(f.depth == depth for f in statistics) for statistics in columns)
        rows.append([f"depth {depth}", *shares])
    for name in sorted({name for statistics in columns for f in statistics for name in f.types}):
        rows.append(
            [name, *(_share(name in f.types for f in statistics) for statistics in columns)]
        )
    rows.append(["reductions", *(_share(f.reduces for f in statistics) for statistics in columns)])
    rows.append(["time loops", *(_share(f.repeats for f in statistics) for statistics in columns)])
    rows.append(
        ["rectangular", *(_share(f.is_rectangular for f in statistics) for statistics in columns)]
    )
    for name in ("parallel", "interchange", "tile", "vectorize", "fuse"):
        shares = (_share(name in f.legal for f in statistics) for statistics in columns)
        rows.append([f"{name} legal somewhere", *shares])
    return rows


def _quantiles(values: Sequence[float]) -> str:
    return " .. ".join(f"{value:.3g}" for value in np.quantile(values, QUANTILES))


def _share(flags: Iterable[bool]) -> str:
    return f"{np.mean([float(flag) for flag in flags]):.0%}"
