"""Random mutants of certificates: what the checker accepts computes the same, for some sizes."""

from __future__ import annotations

import json
import random
import re
from functools import cache
from typing import Any

import islpy as isl
import pytest

import loopwright
from loopwright import certificate as checker
from loopwright.kernels.catalogue import catalogue
from loopwright.lowering.certificate import certificate
from loopwright.passes.polyhedral.isl_context import bounded

from ..support import certified_text
from .test_certificate_instances import CASES
from .test_certificate_instances import text_of as text_of_case

CERTIFIED = [
    ("gemm", "distribute{loops=i},tile{loops=S1.i,k,S1.j sizes=2,3,4},interchange{loops=jt,kt,it},"
     "pack{loops=it array=A scaled=true},parallel{loops=jt},vectorize{loops=S1.j width=4}"),
    ("jacobi-1d", "tile{loops=S1.i sizes=3},parallel{loops=S0.i}"),
    ("jacobi-1d", "affine-schedule,tile{loops=t,i sizes=2,3},wavefront{loops=tt,it factors=1,1}"),
    ("trisolv", ""),
    ("atax", "distribute{loops=S1.i},vectorize{loops=S0.i width=4}"),
    ("mvt", "tile{loops=S0.i sizes=T}"),
    ("mvt", "tile{loops=S0.j sizes=3},rfactor{loops=S0.j}"),
    *((name, "") for name in CASES),
]  # fmt: skip
SIZES = [
    {**dict.fromkeys(("n", "m", "ni", "nj", "nk"), size), "tsteps": 3, "steps": steps}
    for size, steps in ((5, 3), (7, 4))
]


@cache
def text_of(number: int) -> str:
    """A certificate, as JSON."""
    name, pipeline = CERTIFIED[number]
    if name in CASES:
        return text_of_case(name)
    entry = catalogue()[f"polybench/{name}"]
    function = loopwright.load(entry.text)[entry.function]
    return json.dumps(certificate(function.schedule(pipeline, fast_math=True)))


def is_accepted(data: dict[str, Any]) -> bool:
    """Whether the checker accepts a certificate."""
    try:
        with bounded(20_000_000):
            checker.Check(data).run()
    except (ValueError, LookupError, isl.Error):
        return False
    return True


def is_right(data: dict[str, Any]) -> bool:
    """Whether the nest computes what the program does, for some sizes."""
    for sizes in SIZES:
        wanted = certified_text.run(data, "program", sizes)
        for backward in (False, True):
            found = certified_text.run(data, "nest", sizes, backward=backward)
            # Copies to an argument of its own elements write what was there.
            if any(found[key] != wanted.get(key) for key in {*wanted} & {*found}):
                return False
            if not {*wanted} <= {*found}:
                return False
    return True


def mutant(source: random.Random, lines: list[str]) -> list[str]:
    """Some lines with one change."""
    lines = list(lines)
    number = source.randrange(len(lines))
    line = lines[number]
    other = source.randrange(len(lines))
    kind = source.randrange(7)
    words = list(re.finditer(r"(?<![\w.])(\d+|i\d+|%c\d+)\b(?!\.)", line))
    if kind <= 2 and words:
        word = source.choice(words)
        if word[0].isdigit():
            new = str(int(word[0]) + source.choice((-1, 1)))
        else:
            new = f"{word[0].rstrip('0123456789')}{source.randrange(4)}"
        lines[number] = f"{line[: word.start()]}{new}{line[word.end() :]}"
    elif kind == 3:
        del lines[number]
    elif kind == 4:
        lines[number], lines[other] = lines[other], lines[number]
    elif kind == 5:
        swaps = (("for :", "for parallel :"), (" parallel", ""), (" vector", ""), ("addf", "mulf"),
                 ("extsi", "extui"), ("extui", "extsi"), ("i16", "i32"), ("A_buffer", "A"),
                 ("load A[", "load A_buffer["), ("load p_hoisted", "load c"),
                 (">=", ">"), ("<", "<="), (" and ", " or "), ("if : not", "if :"))  # fmt: skip
        lines[number] = line.replace(*source.choice(swaps), 1)
    else:
        lines[number] = line[2:] if source.random() < 0.5 else f"  {line}"
    return lines


def check(seeds: range) -> int:
    """How many mutants of the seeds are accepted; all of them are right."""
    accepted = 0
    for seed in seeds:
        source = random.Random(seed)
        data = json.loads(text_of(source.randrange(len(CERTIFIED))))
        same = source.choice([*data["same"], ""])
        if same and source.random() < 0.3:
            data["same"][same] = mutant(source, [data["same"][same]])[-1:]
            data["same"][same] = "".join(data["same"][same])
        elif source.random() < 0.2:
            data["program"] = mutant(source, data["program"])
        else:
            data["nest"] = mutant(source, data["nest"])
        if is_accepted(data):
            accepted += 1
            assert is_right(data), f"seed {seed}"
    return accepted


@pytest.mark.parametrize("number", range(len(CERTIFIED)))
def test_what_is_right_is_accepted(number: int) -> None:
    data = json.loads(text_of(number))
    assert is_accepted(data)
    assert is_right(data)


def test_accepted_mutants_are_right() -> None:
    assert check(range(300)) < 150


@pytest.mark.campaign
def test_accepted_mutants_are_right_in_a_campaign() -> None:
    check(range(1000, 30_000))
