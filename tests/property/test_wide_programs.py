"""Random programs of all operations on special values: what the generator draws."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from support.arithmetic import numbers
from support.campaign import Campaign
from support.pairs import SCHEDULES
from support.random_programs import WIDE_SEEDS, RandomProgram, seeded_program
from support.random_values import WIDE_DIVISIONS, WIDE_OPERATIONS, WIDE_PREDICATES, WIDE_UNARY

PROGRAMS = 12

OPERATIONS = {*WIDE_OPERATIONS["i"], *WIDE_OPERATIONS["f"], *WIDE_DIVISIONS}
OPERATIONS |= {*WIDE_UNARY["i"], *WIDE_UNARY["f"]}
OPERATIONS |= {f"arith.cmpi {predicate}," for predicate in WIDE_PREDICATES["i"]}
OPERATIONS |= {f"arith.cmpf {predicate}," for predicate in WIDE_PREDICATES["f"]}


@cache
def drawn() -> list[RandomProgram]:
    return [seeded_program(WIDE_SEEDS + seed, calls=True) for seed in range(1000)]


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_every_operation_is_drawn(operation: str) -> None:
    assert any(f"{operation} " in program.text for program in drawn())


def test_special_values() -> None:
    found: set[str] = set()
    for program in drawn():
        for value in program.make_arguments(dict.fromkeys(program.sizes, 8)):
            if isinstance(value, np.ndarray):
                array = numbers(value)
                if array.dtype.kind == "f":
                    found |= {"nan"} if np.isnan(array).any() else set()
                    found |= {"inf"} if np.isinf(array).any() else set()
                    found |= {"-0"} if (np.signbit(array) & (array == 0)).any() else set()
                elif (array == np.iinfo(array.dtype).min).any():
                    found.add(f"least {array.dtype}")
    assert found == {"nan", "inf", "-0", *(f"least int{bits}" for bits in (8, 16, 32, 64))}


def test_sample(tmp_path: Path) -> None:
    pairs = PROGRAMS * SCHEDULES
    campaign = Campaign.of_pairs(pairs, seed=WIDE_SEEDS, jobs=1, limit=120, folder=tmp_path)
    assert not campaign.run()
    assert campaign.counts["same"] > pairs // 2
