"""The workload of products of matrices and the like: their best schedules, and what is near."""

from __future__ import annotations

from pathlib import Path

from loopwright.cli import main
from loopwright.costmodel.dataset.shards import list_shards, read_table
from loopwright.costmodel.generator import CONTRACTION, random_program
from loopwright.costmodel.generator.exclusions import contains_benchmark
from loopwright.costmodel.labelled_data import ContractionWorkload, SearchedWorkload
from loopwright.costmodel.original import original_schedule
from loopwright.passes.polyhedral.bounds import check_bounds
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.polyhedral.scop import Access, Scop, Statement
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.search.space.trees import tree_key
from loopwright.runtime.program import load

PROGRAMS = 40
# The default schedule and what is near it do not wait for the search, however far that comes.
WORKLOAD = ContractionWorkload(
    seed=2, threads=2, model="roofline", budget=2.0, best=2, others=1, near=12
)


def test_most_programs_have_a_product_of_arrays_over_different_loops() -> None:
    found = 0
    for seed in range(PROGRAMS):
        program = random_program(seed, CONTRACTION)
        assert not contains_benchmark(program.text)
        scop = original_schedule(program.text).scop
        check_bounds(scop, infer_extents(scop, program.sizes))
        assert max(len(statement.loops) for statement in scop.statements) >= 2
        found += any(map(_is_contraction, scop.statements))
    assert found > 0.8 * PROGRAMS


def _is_contraction(statement: Statement) -> bool:
    """Whether two reads have a loop each that the other does not depend on, and share one."""
    (write,) = statement.writes
    reads = [_loops(read) for read in statement.reads if read.array is not write.array]
    return any(
        one - other and other - one and (one & other) - _loops(write)
        for one in reads
        for other in reads
    )


def _loops(access: Access) -> frozenset[int]:
    return frozenset(position for row in access.coefficients for position, c in enumerate(row) if c)


def _packs(scop: Scop) -> bool:
    return any(statement.name.startswith("pack_") for statement in scop.statements)


def test_variations_of_the_default_schedule_come_last_and_keep_its_panels() -> None:
    kinds: set[tuple[str, bool]] = set()
    for item in range(6):
        instance = WORKLOAD.instance(item)
        (function,) = load(instance.text).values()
        original = Schedule.original(function.scop)
        sizes = infer_extents(function.scop, instance.sizes)
        found = list(WORKLOAD.schedules(item, original, sizes))
        names = [name for _, name in found]
        assert names == sorted(names, key=("default", "best", "other", "default+neighbour").index)
        # Packed arrays of other layouts may have the same loops.
        keys = set[object]()
        for schedule, _ in found:
            steps = [str(step) for step in schedule.transformations]
            packs = tuple(step for step in steps if step.startswith("pack"))
            keys.add((tree_key(schedule.tree), packs))
        assert len(keys) == len(found)
        kinds |= {(name, _packs(schedule.scop)) for schedule, name in found}
    assert {("default", True), ("default+neighbour", True)} <= kinds


def test_the_command_searches_for_as_many_threads_as_it_measures_with(tmp_path: Path) -> None:
    command = ["data", "generate", "--workload", "contraction", "--programs", "1", "--seed", "6"]
    command += ["--model", "roofline", "--threads", "2", "--workers", "1", "-o", str(tmp_path)]
    assert main(command) == 0
    rows = read_table(list_shards(tmp_path).shards).to_pylist()
    assert {row["origin"] for row in rows} == {"contraction"}
    assert any("parallel" in row["schedule"] and row["threads"] == 2 for row in rows)


def test_its_programs_are_not_those_of_other_workloads() -> None:
    other = SearchedWorkload(seed=2, threads=2)
    assert WORKLOAD.identity(1) != other.identity(1)
    assert WORKLOAD.instance(1).text != other.instance(1).text
