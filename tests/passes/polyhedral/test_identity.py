"""Objects that hold isl's compare by identity: many of isl's have no equality, or a slow one."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from support.scops import schedule_of

import loopwright
from loopwright.passes.polyhedral.schedule_tree import loops

PACKAGES = ("passes", "lowering", "runtime", "costmodel", "frontends", "session", "reports")
PROGRAM = """func.func @f(%A: memref<9xf64>) {
  affine.for %i = 0 to 9 {
    %v = affine.load %A[%i] : memref<9xf64>
    affine.store %v, %A[%i] : memref<9xf64>
  }
  return
}"""


def compared_with_isl(tree: ast.Module) -> list[str]:
    """Data classes with a field of an isl type, compared, that are not `eq=False`."""
    found: list[str] = []
    for each in ast.walk(tree):
        marks = [ast.unparse(mark) for mark in getattr(each, "decorator_list", ())]
        is_compared = any(mark.startswith("dataclass") and "eq=False" not in mark for mark in marks)
        if not isinstance(each, ast.ClassDef) or not is_compared:
            continue
        fields = [ast.unparse(part) for part in each.body if isinstance(part, ast.AnnAssign)]
        if any("isl." in field and "compare=False" not in field for field in fields):
            found.append(each.name)
    return found


@pytest.mark.parametrize("package", PACKAGES)
def test_data_classes_with_objects_of_isl_have_identity(package: str) -> None:
    folder = Path(loopwright.__file__).parent / package
    texts = {str(file): file.read_text() for file in folder.resolve().rglob("*.py")}
    assert texts
    assert not {
        file: found
        for file, text in texts.items()
        if "isl." in text and (found := compared_with_isl(ast.parse(text)))
    }


def test_the_test_finds_them() -> None:
    text = "@dataclass(frozen=True)\nclass A:\n    domain: Mapping[str, isl.Set]\n"
    assert compared_with_isl(ast.parse(text)) == ["A"]
    assert not compared_with_isl(ast.parse(text.replace("True", "True, eq=False")))


def test_equal_loops_of_two_programs_are_compared() -> None:
    one, other = (next(loops(schedule_of(PROGRAM).tree)) for _ in range(2))
    assert one == one and one != other
    assert len({one, other}) == 2
