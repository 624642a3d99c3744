"""Schedule trees as isl schedules, and bounded use of isl."""

from __future__ import annotations

import islpy as isl
import pytest
from support.polyhedral_programs import body, scop_of
from support.scop_execution import bind, instances, points, time_stamp

from loopwright.dialects.errors import SourceError
from loopwright.kernels.catalogue import catalogue
from loopwright.passes.polyhedral import dependences, isl_context
from loopwright.passes.polyhedral.dependences import compute_dependences
from loopwright.passes.polyhedral.isl_context import TooComplexError, bounded
from loopwright.passes.polyhedral.isl_schedule import to_isl


def test_bands_and_filters() -> None:
    scop = scop_of(catalogue()["polybench/gemm"].text)
    expected = """{
        domain: "[ni, nj, nk] -> { S0[i, j] : 0 <= i < ni and 0 <= j < nj;
                 S1[i, k, j] : 0 <= i < ni and 0 <= k < nk and 0 <= j < nj }",
        child: { schedule: "[ni, nj, nk] -> [{ S0[i, j] -> [(i)]; S1[i, k, j] -> [(i)] }]",
        child: { sequence: [
          { filter: "[ni, nj, nk] -> { S0[i, j] }",
            child: { schedule: "[ni, nj, nk] -> [{ S0[i, j] -> [(j)] }]" } },
          { filter: "[ni, nj, nk] -> { S1[i, k, j] }",
            child: { schedule: "[ni, nj, nk] -> [{ S1[i, k, j] -> [(k)] }]",
            child: { schedule: "[ni, nj, nk] -> [{ S1[i, k, j] -> [(j)] }]" } } } ] } } }"""
    assert to_isl(scop.tree, scop).plain_is_equal(isl.Schedule(" ".join(expected.split())))


@pytest.mark.parametrize("name", ["correlation", "cholesky", "jacobi-1d", "durbin"])
def test_the_order_is_that_of_the_tree(name: str) -> None:
    entry = catalogue()[f"polybench/{name}"]
    scop = scop_of(entry.text)
    sizes = {p.name: 3 + n for n, p in enumerate(scop.parameters)}
    times: dict[tuple[int, ...], tuple[str, tuple[int, ...]]] = {}
    maps = to_isl(scop.tree, scop).get_map().intersect_domain(scop.domain).get_map_list()
    for number in range(maps.n_map()):
        schedule = maps.get_at(number)
        name, rank = schedule.get_tuple_name(isl.dim_type.in_), schedule.dim(isl.dim_type.in_)
        for point in points(bind(schedule.wrap().flatten(), sizes)):
            times[point[rank:]] = (name, point[:rank])
    expected = sorted(instances(scop, sizes), key=lambda i: time_stamp(scop.tree, i, sizes))
    assert [times[time] for time in sorted(times)] == expected


def test_an_empty_tree() -> None:
    scop = body("", "%N: index")
    assert to_isl(scop.tree, scop).get_domain().is_empty()


def test_a_computation_that_takes_too_long_ends() -> None:
    with pytest.raises(TooComplexError), bounded(20):
        isl.Set("{ [i, j] : exists (k : i = 3k + j) and 0 <= i < 9 and 0 <= 7j < i }").is_empty()
    assert isl.DEFAULT_CONTEXT.get_max_operations() == 0
    assert not isl.Set("{ [i] : exists (k : i = 3k) and 0 <= i < 9 }").is_empty()


def test_other_errors_of_isl_stay_what_they_are() -> None:
    with pytest.raises(isl.Error, match="syntax error"), bounded():
        isl.Set("{ [i] : ")


def test_dependences_that_take_too_long_are_an_error_of_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scop = scop_of(catalogue()["polybench/cholesky"].text)
    monkeypatch.setattr(isl_context, "MAXIMAL_OPERATIONS", 1000)
    monkeypatch.setattr(dependences, "ARRAY_OPERATIONS", 1000)
    with pytest.raises(SourceError, match="the dependences of '@cholesky' are too complex"):
        compute_dependences(scop)
