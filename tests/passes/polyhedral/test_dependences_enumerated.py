"""Dependences against enumeration: shipped kernels and random programs at small sizes."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.dependence_oracle import check_dependences, program_order
from support.random_programs import programs, sizes_of

from loopwright.dialects.parse import parse_module
from loopwright.kernels.catalogue import catalogue
from loopwright.passes.polyhedral.dependences import compute_dependences
from loopwright.passes.polyhedral.raising.raise_function import raise_module

# Every kernel whose dependences are not trivial.
KERNELS = [name for name in catalogue() if name.startswith("polybench/")]


# Instances of random programs up to which all pairs of them are looked at.
LIMIT = 80


@pytest.mark.parametrize("name", KERNELS)
def test_kernel(name: str) -> None:
    entry = catalogue()[name]
    sizes = {parameter: 3 + number % 3 for number, parameter in enumerate(entry.parameters)}
    (scop,) = raise_module(parse_module(entry.text)).values()
    check_dependences(scop, compute_dependences(scop), entry.arguments(sizes))


def run(data: st.DataObject) -> None:
    """Draws a program and its sizes."""
    program = data.draw(programs())
    (scop,) = raise_module(parse_module(program.text)).values()
    arguments = program.make_arguments(data.draw(sizes_of(program).map(clip)))
    assume(len(program_order(scop, arguments)) <= LIMIT)
    check_dependences(scop, compute_dependences(scop), arguments)


def clip(sizes: dict[str, int]) -> dict[str, int]:
    """Sizes so small that all pairs of instances can be looked at."""
    return {name: min(size, 4) for name, size in sizes.items()}


@given(st.data())
@settings(max_examples=12, deadline=None, derandomize=True)
def test_random_program(data: st.DataObject) -> None:
    run(data)


@pytest.mark.campaign
@given(st.data())
@settings(max_examples=1000, deadline=None)
def test_random_programs_campaign(data: st.DataObject) -> None:
    run(data)
