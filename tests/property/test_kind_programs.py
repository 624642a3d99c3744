"""Random programs of the kinds that code generation has forms for: what the generator draws."""

from __future__ import annotations

import random
import re
from functools import cache
from pathlib import Path

import pytest
from support.campaign import Campaign
from support.choice import SeededChooser
from support.pairs import SCHEDULES
from support.random_kinds import NESTS_SINCE, KindNests
from support.random_memory import ELEMENT_TYPES, Memory
from support.random_programs import KIND_SEEDS, LATEST_SEEDS, seeded_program
from support.random_values import Scope, ValueGenerator

PROGRAMS = 8

# What the texts of some programs have: each is a kind of its own.
FORMS = {
    "subscripts from memory": r"= arith.index_cast %v\d+ : i(32|64) to index",
    "rows that are looked up": r"memref.load %A\d+\[%q\d+, %q\d+\]",
    "subscripts that are minima": r"%y\d+ = affine.min",
    "subscripts that are maxima": r"%y\d+ = arith.maxsi",
    "selection on a diagonal": r"affine.if affine_set<\(d0, d1\) : \(d0 - d1( [-+] \d)? == 0\)>",
    "comparison of indices": r"arith.cmpi ne, %\w, %\w : index",
    "colours that follow from rows": r"mod 2\) \+ 1\)>\(%\w\) to .* step 2",
    "channels of bytes": r"%\w \* 3 \+ \d\] : memref<[x?\d]+xi8>",
    "conversion without a sign": r"arith.extui %v\d+ : i8",
    "planes in turn": r"\[\(\(?%\w( \+ 1)?\)? mod 2\) \+ 3, ",
    "pixels that are cut to bytes": r"arith.shrsi %v\d+, %v\d+ : i32[^}]* : i32 to i8",
    "rows with a factor for each column": r"affine.load %A\d+\[4\] ",
    "stores under masks": r"scf.if %v\d+ \{",
    "sums over blocks in registers": r"to 8 iter_args\(%a\d+ = %a\d+\)",
    "extrema by comparison": r"arith.cmpf \w+, (%v\d+), (%a\d+) : f\d+\n.*select %v\d+, \1,",
    "rows of packed triangles": r"(%q\d+) = arith.muli %\w, %q\d+ : index\n.* = arith.divsi \1, ",
    "sweeps to the left": r"\[%\w \+ \d, -%\w( \+ \S+)+\]",
    "pairs but a diagonal": r"affine.if .*== 0.*\{\n *\} else \{",
    "sweeps upwards": r"\[-%\w( \+ \S+)+, ",
}


@cache
def texts() -> str:
    seeds = [seed for first in NESTS_SINCE for seed in range(first, first + 200)]
    return "".join(seeded_program(seed, calls=True).text for seed in seeds)


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_are_drawn(form: str) -> None:
    assert re.search(FORMS[form], texts())


@pytest.mark.parametrize("nest", dict.fromkeys(NESTS_SINCE[LATEST_SEEDS]))
def test_every_nest_stores(nest: object) -> None:
    chooser = SeededChooser(random.Random(0))
    code = ValueGenerator(chooser, Memory(chooser, ELEMENT_TYPES))
    nest(KindNests(chooser, code), Scope())  # pyright: ignore[reportCallIssue]
    assert any(".store" in line for line in code.lines)
    assert sum(line.endswith("{") for line in code.lines) == code.lines.count("}") + sum(
        line == "} else {" for line in code.lines
    )


def test_sample(tmp_path: Path) -> None:
    pairs = PROGRAMS * SCHEDULES
    campaign = Campaign.of_pairs(pairs, seed=KIND_SEEDS, jobs=1, limit=120, folder=tmp_path)
    assert not campaign.run()
    assert campaign.counts["same"] > pairs // 2
