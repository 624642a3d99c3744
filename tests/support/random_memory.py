"""Sizes, scalars and arrays of a random program, and the subscripts that stay inside of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .choice import Chooser, chance, choose, distinct
from .random_expressions import multiple, quasi_affine
from .random_styles import EXTENTS, draw_style
from .ranges import Affine, Index, Linear, affine_map, join

INTEGERS = ("i32", "i64", "i8", "i16")
ELEMENT_TYPES = (*INTEGERS, "f64", "f32")
NARROW_FLOATS = ("f16", "bf16")


def is_float(kind: str) -> bool:
    """Whether an element type is a floating-point one."""
    return "f" in kind


def width(kind: str) -> int:
    """The bits of an element type."""
    return int(kind.lstrip("bfi"))


@dataclass
class ArraySpec:
    """An array; `uppers` collects, per dimension, bounds of all subscripts so far.

    `anchors` maps a dimension to the size that *is* its extent (read with memref.dim). `origin` is
    added to the subscripts of each dimension, so that accesses at small negative offsets differ.
    Elements of one with `below` are subscripts: from 0 to there, and never stored to.
    """

    name: str
    element_type: str
    rank: int
    local: bool = False
    stack: bool = False
    static: bool = True
    uppers: list[list[Linear]] = field(default_factory=list[list[Linear]])
    anchors: dict[int, str] = field(default_factory=dict[int, str])
    origin: int = 0
    below: Linear | None = None

    def __post_init__(self) -> None:
        self.uppers = [[] for _ in range(self.rank)]


class Memory:
    """Declares sizes and arrays on demand, and knows all bounds at the end."""

    def __init__(self, chooser: Chooser, element_types: Sequence[str] = ELEMENT_TYPES):
        self.chooser = chooser
        self.element_types = distinct(chooser, element_types, 1 + chance(chooser, 30))
        self.sizes: dict[str, str] = {}
        self.scalars: dict[str, str] = {}
        self.arrays: dict[str, ArraySpec] = {}
        self.frees: list[str] = []
        self.style = draw_style(chooser)
        self._count = 0

    def fresh(self, prefix: str) -> str:
        """A new SSA name."""
        self._count += 1
        return f"%{prefix}{self._count}"

    def size(self) -> str:
        """An old or new size: an index argument, an i32 argument, or an extent."""
        if self.sizes and (len(self.sizes) == 3 or chance(self.chooser, 70)):
            return choose(self.chooser, list(self.sizes))
        name = "%" + "NMK"[len(self.sizes)]
        kind = choose(self.chooser, ("index", "index", "size i32", "dim"))
        self.sizes[name] = kind
        if kind == "dim":
            spec = self.new_array(choose(self.chooser, (1, 2)))
            spec.anchors[0] = name
        return name

    def size_names(self) -> tuple[str, ...]:
        """All sizes."""
        return tuple(self.sizes)

    def size_arguments(self) -> list[tuple[str, str]]:
        """Sizes that are arguments, with their kind."""
        return [(name, kind) for name, kind in self.sizes.items() if kind != "dim"]

    def scalar(self, element_type: str) -> str:
        """A scalar argument of the type."""
        for name, kind in self.scalars.items():
            if kind == element_type:
                return name
        name = f"%s{len(self.scalars)}"
        self.scalars[name] = element_type
        return name

    def new_array(self, rank: int, element_type: str | None = None) -> ArraySpec:
        """Declares an array argument."""
        kind = element_type or choose(self.chooser, self.element_types)
        spec = ArraySpec(f"%A{len(self.arrays)}", kind, rank, static=chance(self.chooser, 70))
        spec.origin = choose(self.chooser, (0, 0, 1, 2, 3))
        self.arrays[spec.name] = spec
        return spec

    def array(self, visible: Sequence[str], element_type: str, least_rank: int = 0) -> ArraySpec:
        """An array of the type: one of the locals in `visible`, an argument, or a new one."""
        known = [
            spec
            for spec in self.arrays.values()
            if spec.element_type == element_type
            and spec.rank >= least_rank
            and (not spec.local or spec.name in visible)
            and spec.below is None
        ]
        arguments = sum(not spec.local for spec in self.arrays.values())
        if known and (arguments >= self.style.most_arguments or chance(self.chooser, 65)):
            return choose(self.chooser, known)
        rank = max(least_rank, choose(self.chooser, (1, 2, 0, 2, 1, 3)))
        return self.new_array(rank, element_type)

    def access(self, spec: ArraySpec, indices: Sequence[Index]) -> list[Affine] | None:
        """Subscripts inside `spec`; None where there are none."""
        moved = self._subscripts(spec, indices)
        return None if moved is None else self.placed(spec, moved)

    def neighbours(
        self, spec: ArraySpec, indices: Sequence[Index], count: int
    ) -> list[list[Affine]] | None:
        """`count` accesses at small distances from one of them; None where there are none."""
        first = self._subscripts(spec, indices)
        if first is None:
            return None
        result: list[list[Affine]] = []
        for _ in range(count):
            moved = [
                subscript.shifted(0 if dimension in spec.anchors else self.chooser.integer(-1, 1))
                for dimension, subscript in enumerate(first)
            ]
            result.append(self.placed(spec, moved))
        return result

    def _subscripts(self, spec: ArraySpec, indices: Sequence[Index]) -> list[Affine] | None:
        """Any subscripts, which may be negative in dimensions without an anchor."""
        dense = chance(self.chooser, 60)
        order = distinct(self.chooser, indices, spec.rank)
        subscripts: list[Affine] = []
        for dimension in range(spec.rank):
            if dimension in spec.anchors:
                subscript = self._anchored(spec.anchors[dimension], indices)
                if subscript is None:
                    return None
            elif dense and dimension < len(order):
                offset = choose(self.chooser, (0, 0, 0, 1, -1, 2, -2))
                subscript = multiple(order[dimension]).shifted(offset)
            else:
                subscript = self.subscript(indices)
            subscripts.append(subscript)
        return subscripts

    def placed(self, spec: ArraySpec, subscripts: Sequence[Affine]) -> list[Affine]:
        """The subscripts, moved so far that they are never negative, and noted."""
        result: list[Affine] = []
        for dimension, moved in enumerate(subscripts):
            if dimension in spec.anchors:
                result.append(moved)
                continue
            at = moved.shifted(spec.origin)
            result.append(at.plus(at.low.missing()))
            spec.uppers[dimension].append(result[-1].high)
        return result

    def _anchored(self, size: str, indices: Sequence[Index]) -> Affine | None:
        """A subscript below `size`."""
        fitting = [
            subscript
            for index in indices
            for offset in (0, -1, 1)
            for subscript in (multiple(index).shifted(offset),)
            if subscript.low.never_negative()
            and (Linear.size(size).shifted(-1) + subscript.high * -1).never_negative()
        ]
        return choose(self.chooser, fitting) if fitting else None

    def subscript(self, indices: Sequence[Index]) -> Affine:
        """Any quasi-affine function of the indices; it may be negative."""
        form = self.chooser.integer(0, 9)
        if not indices or form == 9:
            return Affine.constant(self.chooser.integer(0, 3))
        if form == 8:
            # reversed: from the last value of the index down to 0
            first = choose(self.chooser, indices)
            return Affine(((first, -1),), first.high)
        return quasi_affine(self.chooser, indices, self.extent)

    def extent(self) -> Linear:
        """A size, or a number in a program of constant bounds."""
        if self.style.constant_bounds:
            return Linear((), choose(self.chooser, EXTENTS))
        return Linear.size(self.size())

    def shape(self, spec: ArraySpec) -> tuple[Linear, ...]:
        """The extents: one more than the largest subscript."""
        return tuple(
            Linear.size(spec.anchors[dimension])
            if dimension in spec.anchors
            else _extent(uppers, spec.local)
            for dimension, uppers in enumerate(spec.uppers)
        )

    def type(self, spec: ArraySpec) -> str:
        """`memref<?x8xf64>`."""
        extents = ""
        for extent in self.shape(spec):
            extents += f"{extent.constant}x" if spec.static and not extent.coefficients else "?x"
        return f"memref<{extents}{spec.element_type}>"

    def allocation(self, spec: ArraySpec) -> list[str]:
        """Allocates and fills a local array."""
        lines: list[str] = []
        operands: list[str] = []
        shape = self.shape(spec)
        for extent in shape:
            if spec.static and not extent.coefficients:
                continue
            name = self.fresh("e")
            lines.append(f"{name} = affine.apply {affine_map([Affine((), extent)])}")
            operands.append(name)
        kind = "alloca" if spec.stack else "alloc"
        lines.append(f"{spec.name} = memref.{kind}({', '.join(operands)}) : {self.type(spec)}")
        value = self.fresh("z")
        number = "1.0" if is_float(spec.element_type) else "1"
        lines.append(f"{value} = arith.constant {number} : {spec.element_type}")
        names = [f"%x{dimension}" for dimension in range(spec.rank)]
        for name, extent in zip(names, shape, strict=True):
            lines.append(f"affine.for {name} = 0 to {bound_text([Affine((), extent)], 'min')} {{")
        target = f"{spec.name}[{', '.join(names)}]"
        lines.append(f"affine.store {value}, {target} : {self.type(spec)}")
        return [*lines, *["}"] * spec.rank]

    def prologue(self) -> list[str]:
        """Definitions of the sizes that are not index arguments."""
        lines: list[str] = []
        for name, kind in self.sizes.items():
            if kind == "size i32":
                lines.append(f"{name} = arith.index_cast {name}_i32 : i32 to index")
        anchored = [(spec, size) for spec in self.arrays.values() for size in spec.anchors.values()]
        for spec, size in anchored:
            zero = self.fresh("c")
            lines.append(f"{zero} = arith.constant 0 : index")
            lines.append(f"{size} = memref.dim {spec.name}, {zero} : {self.type(spec)}")
        return lines

    def epilogue(self) -> list[str]:
        """Frees what the function body allocated."""
        return [f"memref.dealloc {n} : {self.type(self.arrays[n])}" for n in self.frees]


def _extent(uppers: Sequence[Linear], local: bool) -> Linear:
    extent = join(uppers or [Linear()]).shifted(1)
    if extent.coefficients and not local:
        return extent
    least = 0 if extent.coefficients else 1
    return extent.shifted(max(0, least - extent.constant))


def bound_text(expressions: Sequence[Affine], keyword: str) -> str:
    """A loop bound: `0`, `%n` or a map, with `min` or `max` before several expressions."""
    first = expressions[0]
    if len(expressions) > 1:
        return f"{keyword} {affine_map(expressions)}"
    if not first.terms:
        if not first.sizes.coefficients:
            return str(first.sizes.constant)
        if len(first.sizes.coefficients) == 1 and first.text() == first.sizes.coefficients[0][0]:
            return first.text()
    return affine_map(expressions)
