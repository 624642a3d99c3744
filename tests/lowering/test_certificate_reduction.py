"""Certificates of partial results (rfactor): no broken one is accepted."""

from __future__ import annotations

import json
import re
from functools import cache

import pytest
from support.rejections import mutants, rejection

import loopwright
from loopwright import certificate as checker
from loopwright.lowering.certificate import certificate

PROGRAM = """
func.func @f(%n: index, %A: memref<?x?xTYPE>, %s: memref<?xTYPE>, %t: memref<?xTYPE>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      %a = affine.load %A[%i, %j] : memref<?x?xTYPE>
      %b = affine.load %s[%i] : memref<?xTYPE>
      %c = arith.KIND %b, %a : TYPE
      affine.store %c, %s[%i] : memref<?xTYPE>
    }
    %d = affine.load %s[%i] : memref<?xTYPE>
    affine.store %d, %t[%i] : memref<?xTYPE>
  }
  return
}
"""
SCHEDULES = {
    "each": "rfactor{loops=j}",
    "lanes": "tile{loops=j sizes=8},rfactor{loops=j},vectorize{loops=S0.j width=8}",
    "twice": "tile{loops=j sizes=8},rfactor{loops=jt},rfactor{loops=S0.j}",
    "tiles": "tile{loops=j sizes=T},parallel{loops=i},distribute{loops=i}",
}


@cache
def text_of(schedule: str, kind: str = "addf", element: str = "f64") -> str:
    text = PROGRAM.replace("TYPE", element).replace("KIND", kind)
    function = loopwright.load(text)["f"]
    return json.dumps(certificate(function.schedule(SCHEDULES[schedule], fast_math=True)))


@pytest.mark.parametrize("schedule", [each for each in SCHEDULES if each != "tiles"])
def test_what_is_right_is_accepted(schedule: str) -> None:
    data = json.loads(text_of(schedule))
    assert any("combination" in line for line in data["nest"])
    assert checker.Check(data).run() == {"S0"}
    assert rejection({**data, "fast_math": False}) is not None


KINDS = [
    *(("addf", each) for each in ("f32", "f64")),
    *(("mulf", each) for each in ("f32", "f64")),
    *((kind, each) for kind in ("maximumf", "minnumf", "minimumf") for each in ("f32", "f64")),
    *((kind, each) for kind in ("addi", "muli", "andi") for each in ("i1", "i8", "i64")),
    *((kind, each) for kind in ("maxsi", "minsi", "maxui", "minui") for each in ("i8", "i32")),
]


@pytest.mark.parametrize(("kind", "element"), KINDS)
def test_the_neutral_element_is_that_of_the_operation(kind: str, element: str) -> None:
    data = json.loads(text_of("each", kind, element))
    assert rejection(data) is None
    nest = data["nest"]
    number = next(k for k, line in enumerate(nest) if "arith.constant" in line)
    others = ["true", "false"] if element == "i1" else [f"{x} : {element}" for x in (0, 1, 7, -1)]
    if element.startswith("f"):
        others = [f"{x}e+00 : {element}" for x in ("0.000000", "-0.000000", "1.000000")]
    same = nest[number]
    for other in others:
        nest[number] = re.sub(r"constant .*", f"constant {other}", same)
        assert nest[number] == same or rejection(data) is not None


# What to replace in the nest, in each line in turn that matches, and by what.
MUTANTS: list[tuple[str, str, str]] = [
    ("each", r"run combination", "run S0[0, 0]"),
    ("each", r"load (s_partial\d*)\[(.*), (.*)\]", r"load \1[\2, \3 + 1]"),
    ("each", r"load (s_partial\d*)\[.*\]", r"load s[i0]"),
    ("each", r"store (\S+), s_partial\d*\[.*\]", r"store \1, s[i0]"),
    ("each", r"store (\S+), s\[.*\]", r"store \1, t[0]"),
    ("each", r"load s\[", "load t["),
    ("each", r"arith.addf", "arith.subf"),
    ("each", r"arith.addf", "arith.mulf"),
    ("each", r"arith.addf (.*) : f64", r"arith.addf \1 : f32"),
    ("each", r"arith.addf (\S+), (\S+) ", r"arith.addf \2, \2 "),
    ("each", r"array (\w+) f64", r"array \1 f32"),
    ("each", r"< max\(n, 0\)", "< max(n + -1, 0)"),
    ("each", r"i(\d) >= 0", r"i\1 >= 1"),
    ("each", r"for (.*) < n$", r"for \1 < n + -1"),
    ("each", r"for (.*) < n$", r"for \1 < n + 1"),
    ("lanes", r"for (.*) < 8 and", r"for \1 < 7 and"),
    ("twice", r"array (.*)< 8$", r"array \1< 7"),
    ("twice", r"store (\S+), (s_partial\d*)\[.*\]", r"store \1, \2[0, 0, 0]"),
    ("tiles", r"for tiles of \w+( parallel)?", r"for\1"),
    ("tiles", r"tiles of \w+", "tiles of n"),
    ("tiles", r"tiles of \w+ :", "tiles of tile_T parallel :"),
    ("tiles", r"tiles of \w+", "tiles of tile_U"),
    ("tiles", r"tiles (.*) >= 0 ", r"tiles \1 >= 1 "),
    ("tiles", r"tiles (.*) < n$", r"tiles \1 < n + -1"),
    ("tiles", r"< (i\d+) \+ tile_T", r"< \1 + 2 * tile_T"),
    ("tiles", r"< (i\d+) \+ tile_T", r"< \1 + tile_T + -1"),
    ("tiles", r"< (i\d+) \+ tile_T", r"< \1 + tile_T + 1"),
    ("tiles", r"< (i\d+) \+ tile_T", r"< \1 + 8"),
    ("tiles", r"(i\d+) >= (i\d+)", r"\1 >= \2 + 1"),
    ("tiles", r"(i\d+) >= (i\d+)", r"\1 >= 0"),
]


@pytest.mark.parametrize(("schedule", "pattern", "other"), MUTANTS)
def test_mutants_are_rejected(schedule: str, pattern: str, other: str) -> None:
    data = json.loads(text_of(schedule))
    nest = data["nest"]
    found = list(mutants(nest, pattern, other))
    assert found, nest
    for change, lines in found:
        assert rejection({**data, "nest": lines}) is not None, change


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_every_part_is_needed_once(schedule: str) -> None:
    data = json.loads(text_of(schedule))
    nest = data["nest"]
    starts = [k for k, line in enumerate(nest) if line.strip().startswith("run ")]
    for start in starts:
        end = next(k for k in range(start, len(nest)) if "store" in nest[k]) + 1
        without = [*nest[:start], *nest[end:]]
        assert rejection({**data, "nest": without}) is not None
        if "initialisation" not in nest[start]:
            again = [*nest[:end], *nest[start:end], *nest[end:]]
            assert rejection({**data, "nest": again}) is not None


def test_other_values_are_not_combined() -> None:
    data = json.loads(text_of("each"))
    extra = [
        "run combination",
        "%c0 = load s[0] : f64",
        "%c1 = load t[0] : f64",
        "%c2 = arith.addf %c0, %c1 : f64",
        "store %c2, s[0] : f64",
    ]
    assert rejection({**data, "nest": [*data["nest"], *extra]}) is not None
    start = ["run initialisation", "%c0 = arith.constant -0.0 : f64", "store %c0, t[0] : f64"]
    assert rejection({**data, "nest": [*data["nest"], *start]}) is not None


def test_a_size_of_tiles_has_a_name_of_its_own() -> None:
    data = json.loads(text_of("tiles"))
    assert rejection(data) is None
    assert rejection({**data, "tile_sizes": []}) is not None
    assert rejection({**data, "tile_sizes": [*data["tile_sizes"], "n"]}) is not None
