"""Views of arrays: rows, slices and transposes, as affine functions of an index."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..text.affine import Affine, Name, Term, quotient
from ..text.isl_text import is_zero
from .element_types import ArrayType, ElementType

ZERO = Affine()
ONE = Affine(constant=1)


@dataclass(frozen=True)
class ArrayValue:
    """An array in memory: an argument, or with its `sizes` one that the function allocates.

    One that is `returned` is an argument in the text: the caller allocates it.
    """

    name: str
    type: ArrayType
    sizes: tuple[Affine, ...] | None = None
    returned: bool = False

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.type.extents)

    def element(self, subscripts: Sequence[Affine]) -> str:
        """The text of an element: `%A[%i, %j] : memref<?x?xf64>`."""
        inner = ", ".join(each.render() for each in subscripts)
        return f"%{self.name}[{inner}] : {self.type.mlir}"


@dataclass(frozen=True)
class Subscript:
    """One dimension of the array: a constant, or `start + step * index` along an axis."""

    start: Affine
    step: int = 0
    axis: int | None = None


@dataclass(frozen=True)
class View:
    """Elements of an array, with the extents of each axis; one without axes is an element.

    Of complex numbers it may be one `part`, as the operation of the complex dialect that gives it.
    One of a list `is_weak`: its elements are numbers of Python. The subscripts of a `reshaped` one
    are those of the other shape; it `may_be_copy` where its elements may not be contiguous.
    """

    array: ArrayValue
    subscripts: tuple[Subscript, ...]
    extents: tuple[Affine, ...]
    part: str = ""
    is_read_only: bool = False
    is_weak: bool = False
    reshaped: Reshaped | None = None
    may_be_copy: bool = False

    @classmethod
    def whole(cls, array: ArrayValue, extents: Sequence[Affine]) -> View:
        """All of an array."""
        subscripts = tuple(Subscript(ZERO, 1, axis) for axis in range(len(extents)))
        return cls(array, subscripts, tuple(extents))

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.extents)

    @property
    def element_type(self) -> ElementType:
        """The type of its elements."""
        element = self.array.type.element
        return element.part if self.part else element

    @property
    def is_whole(self) -> bool:
        """Whether it is all of its array, as it lies in memory."""
        whole = View.whole(self.array, self.extents)
        is_plain = not self.part and self.reshaped is None
        return is_plain and self.subscripts == whole.subscripts

    def at(self, point: Sequence[Affine]) -> tuple[Affine, ...]:
        """The subscripts of the element at a point of a result that this view is broadcast to."""
        own = point[len(point) - self.rank :]
        index = [ZERO if e == ONE else p for p, e in zip(own, self.extents, strict=True)]
        subscripts = tuple(
            each.start if each.axis is None else each.start.plus(index[each.axis], each.step)
            for each in self.subscripts
        )
        return subscripts if self.reshaped is None else self.reshaped.at(subscripts)

    def transposed(self, order: Sequence[int]) -> View:
        """The axes in another order."""
        axes = [order.index(axis) for axis in range(self.rank)]
        return self.along(axes, [self.extents[axis] for axis in order])

    def along(self, axes: Sequence[int], extents: Sequence[Affine]) -> View:
        """The view whose axes are these, of the extents; two that are one run along a diagonal."""
        subscripts = tuple(
            each if each.axis is None else replace(each, axis=axes[each.axis])
            for each in self.subscripts
        )
        return replace(self, subscripts=subscripts, extents=tuple(extents))

    def indexed(self, items: Sequence[Affine | Range | None]) -> View:
        """The view behind subscripts, one for each axis; None is a new axis of extent 1."""
        subscripts = list(self.subscripts)
        extents: list[Affine] = []
        axis = 0
        for item in items:
            if item is None:
                extents.append(ONE)
                continue
            for position, old in enumerate(self.subscripts):
                if old.axis != axis:
                    continue  # a new axis is none of any dimension
                if isinstance(item, Affine):
                    subscripts[position] = Subscript(old.start.plus(item, old.step))
                else:
                    start = old.start.plus(item.start, old.step)
                    subscripts[position] = Subscript(start, old.step * item.step, len(extents))
            if isinstance(item, Range):
                extents.append(item.extent)
            axis += 1
        return replace(self, subscripts=tuple(subscripts), extents=tuple(extents))

    def broadcast_to(self, extents: Sequence[Affine]) -> View | None:
        """Its elements at all points of a shape; None where they are not known to fit."""
        new = len(extents) - self.rank
        if broadcast(self.extents, tuple(extents)) != tuple(extents):
            return None
        subscripts = list(self.subscripts)
        for position, each in enumerate(subscripts):
            if each.axis is not None and self.extents[each.axis] == ONE:
                subscripts[position] = Subscript(each.start)
            elif each.axis is not None:
                subscripts[position] = replace(each, axis=each.axis + new)
        places = {"subscripts": tuple(subscripts), "extents": tuple(extents)}
        return replace(self, **places, is_read_only=True)


@dataclass(frozen=True)
class Reshaped:
    """A view in another shape: runs of its axes, and those with as many elements that they become.

    All extents of a run but the first one that is not 1 are numbers.
    """

    view: View
    old: tuple[tuple[Affine, ...], ...]
    new: tuple[tuple[Affine, ...], ...]

    @property
    def extents(self) -> tuple[Affine, ...]:
        """The other shape."""
        return tuple(extent for run in self.new for extent in run)

    def at(self, point: Sequence[Affine]) -> tuple[Affine, ...]:
        """The subscripts of the element at a point of the other shape."""
        place: list[Affine] = []
        left = list(point)
        for old, new in zip(self.old, self.new, strict=True):
            own, left = left[: len(new)], left[len(new) :]
            position = ZERO
            for index, extent in zip(own, new, strict=True):
                position = index.plus(position, extent.constant) if position != ZERO else index
            place += _unravelled(position, old)
        return self.view.at(place)


def _unravelled(position: Affine, extents: tuple[Affine, ...]) -> list[Affine]:
    """The subscripts of an element by its position in row-major order."""
    place = [ZERO] * len(extents)
    moving = [axis for axis, extent in enumerate(extents) if extent != ONE]
    for axis in reversed(moving[1:]):
        extent = max(extents[axis].constant, 1)  # of an array without elements, none is read
        place[axis] = quotient("mod", position, extent)
        position = quotient("floordiv", position, extent)
    if moving:
        place[moving[0]] = position
    return place


@dataclass(frozen=True)
class Range:
    """A slice: its first index, the distance of two, and how many there are."""

    start: Affine
    step: int
    extent: Affine

    @classmethod
    def of(cls, start: Affine, stop: Affine, step: int) -> Range:
        """The indices from `start` on to before `stop`."""
        length = stop.plus(start, -1).times(1 if step > 0 else -1)
        if not length.terms:
            length = Affine(constant=max(length.constant, 0))
        return cls(start, step, quotient("ceildiv", length, abs(step)))


def same(one: Affine, other: Affine) -> bool:
    """Whether two expressions are equal for all values."""
    return is_zero(one.plus(other, -1))


def spelled(value: Affine) -> str:
    """An expression in the user's terms."""
    text = ""
    for term, factor in sorted(value.terms, key=lambda each: each[1] < 0):
        size = "" if abs(factor) == 1 else f"{abs(factor)} * "
        sign = "-" if factor < 0 else "+"
        text += (
            f" {sign} {size}{_spelled_term(term)}"
            if text or factor < 0
            else size + _spelled_term(term)
        )
    if value.constant or not text:
        sign = "-" if value.constant < 0 else "+"
        text += f" {sign} {abs(value.constant)}" if text else str(value.constant)
    return text.strip()


def _spelled_term(term: Term) -> str:
    if isinstance(term, Name):
        return _python_term(term)
    dividend = spelled(term.dividend)
    inner = dividend if dividend.isidentifier() else f"({dividend})"
    if term.operator == "ceildiv":
        return f"-(-{inner} // {term.divisor})"
    return f"{inner} {'%' if term.operator == 'mod' else '//'} {term.divisor}"


def python_text(value: Affine) -> str:
    """An expression as Python evaluates it."""
    parts = [f"{factor} * {_python_term(term)}" for term, factor in value.terms]
    return " + ".join([*parts, str(value.constant)])


def _python_term(term: Term) -> str:
    if isinstance(term, Name):
        return re.sub(r"\.shape\.(\d+)", r".shape[\1]", term.text)
    dividend = python_text(term.dividend)
    if term.operator == "ceildiv":
        return f"(-(-({dividend}) // {term.divisor}))"
    return f"(({dividend}) {'%' if term.operator == 'mod' else '//'} {term.divisor})"


def spelled_shape(extents: Sequence[Affine]) -> str:
    """Extents as Python writes them."""
    inner = ", ".join(map(spelled, extents))
    return f"({inner},)" if len(extents) == 1 else f"({inner})"


def broadcast(*shapes: tuple[Affine, ...]) -> tuple[Affine, ...] | None:
    """The extents of an elementwise result; None where the shapes are not known to agree."""
    rank = max(map(len, shapes), default=0)
    result: list[Affine] = [ONE] * rank
    for shape in shapes:
        for axis, extent in enumerate(shape, rank - len(shape)):
            if result[axis] == ONE:
                result[axis] = extent
            elif extent != ONE and not same(extent, result[axis]):
                return None
    return tuple(result)
