"""Random programs of the latest kinds under their default schedules: what the generator draws."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from support.campaign import Campaign
from support.pairs import SCHEDULES
from support.random_programs import DEFAULT_SEEDS, LATEST_SEEDS, seeded_program

PROGRAMS = 4

FORMS = {
    "subscripts from floats": r"%near\d+ = arith.fptosi %v\d+ : f\d\d to i(32|64)",
    "carried states": r"= 0 to [359] iter_args\(%a\d+ = %v\d+\)",
    "states in memory": r"affine.for %\w = 0 to [359] \{",
    "products of two planes": r"= 0 to 18 \{\n *affine.for %\w = 0 to 5 \{",
    "loops that begin inside of borders": r"affine.for %\w = [123] to (19|2\d|3\d|6\d) ",
    "loops that begin before their array": r"affine.for %\w = -2 to ",
    "numbers clamped by comparisons": r"= arith.select %v\d+, %v\d+, %v\d+ : i32\n *%g\d+ = ",
    "last bits as subscripts": r"= arith.andi %v\d+, %v\d+ : i32\n *%g\d+ = arith.index_cast",
    "elements by their number": r"floordiv \d+\) \+ 3, \(.*mod \d+\) \+ 3\]",
    "edges of stencils": r"affine.if affine_set<\(d0\) : \(d0 - \d+ == 0\)>\(%\w\) -> ",
    "rounded halves": r"math.roundeven %v\d+ : f\d\d\n.* = arith.fptosi",
}


@cache
def texts() -> str:
    seeds = [seed + n for seed in (DEFAULT_SEEDS, LATEST_SEEDS) for n in range(150)]
    return "".join(seeded_program(seed, calls=True).text for seed in seeds)


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_are_drawn(form: str) -> None:
    assert re.search(FORMS[form], texts())


def test_sample(tmp_path: Path) -> None:
    pairs = PROGRAMS * SCHEDULES
    campaign = Campaign.of_pairs(pairs, seed=LATEST_SEEDS, jobs=1, limit=120, folder=tmp_path)
    assert not campaign.run()
    assert campaign.counts["same"] > pairs // 2
