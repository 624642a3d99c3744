"""The corpus: programs in the forms that other tools print, and inputs for them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_ROOM = Path(__file__).parents[1] / "passes" / "polyhedral" / "importing"
FOLDER = _ROOM / "corpus"
REFERENCES = _ROOM / "references.npz"

_TYPES = {
    "f32": np.float32,
    "f64": np.float64,
    "i1": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "index": np.int64,
}

Argument = NDArray[np.generic] | int | float


@dataclass(frozen=True)
class Piece:
    """A program of the corpus; `text` may have comments that say how it is called.

    `// shapes: 8x8 3x3` are those of dynamic arguments, 8 in each dimension without; `// by hand`
    says that there is no reference.
    """

    file: str
    function: str
    text: str

    @property
    def name(self) -> str:
        """The file and the function."""
        return f"{self.file}:{self.function}"

    @property
    def has_reference(self) -> bool:
        """Whether the lowered form of MLIR's own tools has been run."""
        return "// by hand" not in self.text

    @property
    def kinds(self) -> list[str]:
        """The types of the arguments."""
        return [each.partition(":")[2].strip() for each in _split(self._signature[0])]

    @property
    def results(self) -> list[str]:
        """The types of the results that are arrays, which come behind the arguments."""
        kinds = [each.strip() for each in _split(self._signature[1])]
        return [each for each in kinds if each.startswith(("memref", "tensor"))]

    @property
    def _signature(self) -> tuple[str, str]:
        head = rf"func\.func @{self.function}\((.*?)\)(?: -> (.*?))?(?: attributes .*?)? \{{\n"
        found = re.search(head, self.text)
        assert found is not None, self.name
        results = found[2] or ""
        return found[1], results[1:-1] if results.startswith("(") else results

    def arguments(self) -> list[Argument]:
        """Inputs, the same ones at every call."""
        given = re.search("// shapes: (.*)", self.text)
        kinds = [*self.kinds, *self.results]
        shapes = iter(given[1].split() if given else [])
        return [argument(each, next(shapes, "-"), n) for n, each in enumerate(kinds)]


def argument(kind: str, shape: str, number: int) -> Argument:
    """A value of a type; `shape` is `-` where the type, and 8 for what it leaves open, say it."""
    found = re.match(r"(?:memref|tensor)<((?:(?:\d+|\?|\*)x)*)([a-z]\w*)", kind)
    if not found:
        return number + 1.5 if kind.startswith("f") else number + 4
    extents = found[1].replace("?", "8").replace("*", "400").rstrip("x") if shape == "-" else shape
    sizes = [int(extent) for extent in extents.split("x") if extent]
    kind_of_element = _TYPES[found[2]]
    values = (np.arange(int(np.prod(sizes))) * 7 + number * 3) % 11
    if not np.issubdtype(kind_of_element, np.floating):
        return (values - 3).astype(kind_of_element).reshape(sizes)
    return (values / 4 + 0.25).astype(kind_of_element).reshape(sizes)


def _split(text: str) -> list[str]:
    """The parts between commas outside of brackets."""
    parts, depth, part = list[str](), 0, ""
    for character in text.replace("->", "  "):
        depth += (character in "<([{") - (character in ">)]}")
        if character == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += character
    return [*parts, part] if part.strip() else parts


def pieces() -> Iterator[Piece]:
    """All programs of the corpus."""
    for file in sorted(FOLDER.glob("*.mlir")):
        for text in file.read_text().split("// -----\n"):
            if text.strip():
                yield Piece(file.stem, re.findall(r"func\.func @(\w+)", text)[0], text)
