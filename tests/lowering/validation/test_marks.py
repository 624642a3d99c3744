"""Loops that are marked parallel or vectorised although they carry a dependence."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.nest_mutations import with_nest
from support.scops import schedule_of
from support.validation import generated, kept_dependences

from loopwright.lowering.nest.nest import Block, For, Nest, Once
from loopwright.lowering.validation.validate import validate
from loopwright.lowering.validation.verdict import Property

VECTOR = {
    "an earlier element is read": ("%i - 1", "%i", 4, False),
    "a later element is read": ("%i + 1", "%i", 4, True),
    "the same element is read": ("%i", "%i", 4, True),
    "an element before the vector is read": ("%i - 4", "%i", 4, True),
    "the last element before the vector": ("%i - 3", "%i", 4, False),
    "every lane writes one element": ("%i", "0", 4, False),
}


def program(read: str, write: str) -> str:
    return f"""
func.func @f(%n: index, %A: memref<?xf64>) {{
  affine.for %i = 4 to %n {{
    %a = affine.load %A[{read}] : memref<?xf64>
    %b = arith.addf %a, %a : f64
    affine.store %b, %A[{write}] : memref<?xf64>
  }}
  return
}}
"""


TWO_STATEMENTS = """
func.func @f(%n: index, %A: memref<?xf64>, %B: memref<?xf64>) {
  affine.for %i = 1 to %n {
    %a = affine.load %A[%i] : memref<?xf64>
    affine.store %a, %B[%i OFFSET] : memref<?xf64>
    %b = affine.load %B[%i] : memref<?xf64>
    affine.store %b, %A[%i] : memref<?xf64>
  }
  return
}
"""


def marked(nest: Nest, **marks: object) -> Nest:
    """The nest with every loop marked."""
    match nest:
        case For(loop=loop, body=body):
            return replace(nest, loop=replace(loop, **marks), body=marked(body, **marks))
        case Once(body=body):
            return replace(nest, body=marked(body, **marks))
        case Block(parts):
            return Block(tuple(marked(part, **marks) for part in parts))
        case _:
            return nest


def is_proved(text: str, **marks: object) -> bool:
    schedule = schedule_of(text)
    nest = generated(schedule, {})
    changed = with_nest(nest, marked(nest.nest, **marks))
    verdict = validate(kept_dependences(schedule), changed)
    if verdict.violation is not None:
        assert verdict.violation.property is Property.PARALLELISM
        assert verdict.violation.witness is not None
    return verdict.is_proved


@pytest.mark.parametrize("case", list(VECTOR))
def test_vector(case: str) -> None:
    read, write, width, expected = VECTOR[case]
    assert is_proved(program(read, write), vector=width) == expected


@pytest.mark.parametrize(("offset", "expected"), [("", True), ("+ 1", True), ("- 1", False)])
def test_vector_of_two_statements(offset: str, expected: bool) -> None:
    """What the second one reads of other lanes must not be written by the first one later."""
    assert is_proved(TWO_STATEMENTS.replace("OFFSET", offset), vector=4) == expected


@pytest.mark.parametrize(
    ("read", "write", "expected"),
    [("%i", "%i", True), ("%i - 1", "%i", False), ("%i + 1", "%i", False), ("%i", "0", False)],
)
def test_parallel(read: str, write: str, expected: bool) -> None:
    assert is_proved(program(read, write), parallel=True) == expected
