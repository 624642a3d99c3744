"""Programs like those of the field, of kinds that the suite `field` does not have as they are.

`field_like_labels.loops` has the kinds of labelled programs: the loops, and a range of each size.
A program is a kind with sizes drawn from a seed. `field_like_searched.loops` has programs with
sizes of their own, for which nobody has tuned anything: searches are compared on them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

from loop_text import affine_text

FOLDER = Path(__file__).parent

Range = tuple[int, int]


@dataclass(frozen=True)
class Kind:
    """The loops of a kind of programs, the range of each size, and types of elements."""

    name: str
    sizes: Mapping[str, Range]
    elements: tuple[str, ...]
    source: str


@dataclass(frozen=True)
class Instance:
    """A program and a value for each of its sizes."""

    name: str
    text: str
    sizes: Mapping[str, int]


def kinds(name: str) -> list[Kind]:
    """The kinds of a file: `labels` or `searched`."""
    text = (FOLDER / f"field_like_{name}.loops").read_text()
    return list(_read(text))


def _read(text: str) -> Iterator[Kind]:
    """Each begins with `# name: n=40..500 m=8; f32,f64`."""
    for part in text.removeprefix("# ").split("\n# "):
        head, _, source = part.partition("\n")
        name, _, rest = head.partition(": ")
        sizes, _, elements = rest.partition("; ")
        ranges = dict(size.split("=") for size in sizes.split())
        bounds = {size: tuple(map(int, each.split(".."))) for size, each in ranges.items()}
        found = {size: (each[0], each[-1]) for size, each in bounds.items()}
        yield Kind(name, found, tuple(elements.split(",")), source)


def instance(kind: Kind, seed: int) -> Instance:
    """The program of a kind and a seed: sizes are as often small as large."""
    random = Random(f"{kind.name} {seed}")
    sizes = {
        name: round(low * (high / low) ** random.random())
        for name, (low, high) in kind.sizes.items()
    }
    if random.random() < 0.5:
        sizes = {name: max(1, size // 8 * 8) if size > 16 else size for name, size in sizes.items()}
    text = affine_text(kind.name, random.choice(kind.elements), kind.source)
    return Instance(f"{kind.name} {seed}", text, sizes)
