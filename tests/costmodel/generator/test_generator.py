"""Random programs: repeatable, valid, in bounds, finite, various, and none of PolyBench's."""

from __future__ import annotations

import hashlib
from functools import cache

import numpy as np
import pytest

from loopwright.costmodel.generator import GENERATOR_VERSION, RandomProgram, random_program
from loopwright.costmodel.generator.exclusions import contains_benchmark, statement_shapes
from loopwright.costmodel.generator.program_parts import Interval
from loopwright.kernels.catalogue import catalogue
from loopwright.passes.polyhedral.bounds import check_bounds
from loopwright.passes.polyhedral.counting import cardinality, fix_parameters
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.polyhedral.scop import Scop
from loopwright.runtime.calling.inputs import Settings, make_arguments
from loopwright.runtime.program import Function, load

SEEDS = range(24)


@cache
def program(seed: int) -> RandomProgram:
    return random_program(seed)


@cache
def function(seed: int) -> Function:
    (found,) = load(program(seed).text).values()
    return found


def small(seed: int) -> dict[str, int]:
    """Sizes at which everything is quick."""
    return {name: min(size, 12) for name, size in program(seed).sizes.items()}


def test_programs_of_a_version_never_change() -> None:
    texts = [f"{random_program(seed)}" for seed in range(40)]
    digest = hashlib.sha256("".join(texts).encode()).hexdigest()[:16]
    # Another digest means other programs of the same seeds: increase GENERATOR_VERSION with it.
    assert (GENERATOR_VERSION, digest) == (1, "39a294054f583863")


@pytest.mark.parametrize("seed", SEEDS)
def test_programs_are_in_bounds(seed: int) -> None:
    scop = function(seed).scop
    for sizes in (program(seed).sizes, small(seed)):
        check_bounds(scop, infer_extents(scop, sizes))


@pytest.mark.parametrize("seed", SEEDS)
def test_values_stay_finite_however_often_a_program_runs(seed: int) -> None:
    found = function(seed)
    settings = Settings({name: str(size) for name, size in small(seed).items()})
    arguments = make_arguments(found.scop, found.signature, settings)
    kernel = found.compile(schedule=None)
    with np.errstate(all="raise"):
        for _ in range(3):
            kernel(*arguments)
    arrays = [a for a in arguments if isinstance(a, np.ndarray)]
    assert arrays
    for array in arrays:
        assert np.isfinite(array).all()


def test_a_program_has_no_benchmark() -> None:
    assert not any(contains_benchmark(program(seed).text) for seed in SEEDS)


@pytest.mark.parametrize("name", [n for n in catalogue() if n.startswith("polybench/")])
def test_benchmarks_are_recognised(name: str) -> None:
    text = catalogue()[name].text
    assert contains_benchmark(text)
    renamed = text.replace("%i", "%row").replace("%A", "%matrix")
    assert statement_shapes(renamed) == statement_shapes(text)


def test_a_program_around_a_benchmark_is_recognised() -> None:
    text = catalogue()["polybench/gemm"].text
    body = text[text.index("  affine.for") : text.index("  return")]
    assert contains_benchmark(text.replace(body, body + body.replace("%C", "%A")))
    assert not contains_benchmark(text.replace("%alpha, %3", "%3, %3").replace("%j]", "%j + 1]"))


def depths(scop: Scop) -> list[int]:
    return [len(statement.loops) for statement in scop.statements]


def test_programs_cover_the_space() -> None:
    """What the papers have, and more, is there among a hundred programs."""
    texts = [random_program(seed).text for seed in range(100)]
    indents = [max(len(line) - len(line.lstrip()) for line in text.splitlines()) for text in texts]
    assert {2 * depth + 2 for depth in (1, 2, 3, 4, 5)} <= set(indents)
    for feature in ("f32", "f64", "i32", "i64", "%tsteps", "min affine_map", "math.", "divf"):
        assert any(feature in text for text in texts), feature
    nests = {sum(line.startswith("  affine.for") for line in text.splitlines()) for text in texts}
    assert {1, 2, 3, 4, 5} <= nests
    assert max(text.count("affine.load") for text in texts) >= 20


def test_sizes_make_runs_of_a_few_milliseconds() -> None:
    """Counted statement instances: neither so few that nothing can be measured, nor too many."""
    instances = []
    for seed in SEEDS:
        domains = (s.domain for s in function(seed).scop.statements)
        sizes = program(seed).sizes
        instances.append(sum(cardinality(fix_parameters(domain, sizes)) for domain in domains))
    assert min(instances) > 1e4
    assert max(instances) < 1e9
    assert np.quantile(instances, 0.9) / np.quantile(instances, 0.1) > 5


def test_intervals() -> None:
    assert Interval(-2.0, 1.0).magnitude == 2.0
    assert Interval(0.0, 1.0).hull(Interval(-1.0, 0.5)) == Interval(-1.0, 1.0)
    assert Interval(-1.0, 2.0).scaled(-2.0) == Interval(-4.0, 2.0)
