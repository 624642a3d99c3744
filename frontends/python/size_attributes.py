"""What annotations and slices say about sizes, as attributes of the function in the text."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects.marks import ASSUMPTION, REFUSED
from .element_types import ArrayType, ElementType
from .parameters import Parameter
from .requirements import Requirement
from .views import ArrayValue

Use = tuple[int, int | None]
"""An argument by its position, or one of its extents."""


def equal_sizes(parameters: Sequence[Parameter]) -> tuple[tuple[str, tuple[Use, ...]], ...]:
    """The sizes that have one name: arguments, and extents of arrays."""
    uses: dict[str, list[Use]] = {}
    for position, each in enumerate(parameters):
        if each.type is int:
            uses.setdefault(each.name, []).insert(0, (position, None))
        elif isinstance(each.type, ArrayType):
            for dimension, extent in enumerate(each.type.extents):
                if isinstance(extent, str):
                    uses.setdefault(extent, []).append((position, dimension))
    return tuple((name, tuple(each)) for name, each in uses.items() if len(each) > 1)


def size_attributes(
    parameters: Sequence[Parameter],
    allocated: Sequence[ArrayValue],
    requirements: Sequence[Requirement],
) -> str:
    """The attributes of the function: which sizes are equal, and which are refused."""
    spelled = _Sizes(parameters, allocated)
    equations = [
        f"{spelled.of(first)} - {spelled.of(other)} == 0"
        for _, (first, *others) in equal_sizes(parameters)
        for other in others
    ]
    attributes: list[str] = []
    if equations:
        attributes.append(f"{ASSUMPTION} = affine_set<{spelled.head} : ({', '.join(equations)})>")
    inputs = spelled.dims, spelled.symbols
    sets = dict.fromkeys(
        text
        for each in requirements
        for text in each.affine_sets([spelled.named(name) for name in each.names], inputs)
    )
    if sets:
        attributes.append(f"{REFUSED} = [{', '.join(sets)}]")
    return f" attributes {{{', '.join(attributes)}}}" if attributes else ""


class _Sizes:
    """The dimensions and symbols of the attributes: integer arguments, and dynamic extents."""

    def __init__(self, parameters: Sequence[Parameter], allocated: Sequence[ArrayValue]) -> None:
        self._known: dict[Use, str] = {}
        self._names = {each.name: position for position, each in enumerate(parameters)}
        types = [*(each.type for each in parameters), *(each.type for each in allocated)]
        self.dims = self.symbols = 0
        for position, kind in enumerate(types):
            if isinstance(kind, ArrayType):
                for dimension, extent in enumerate(kind.extents):
                    if isinstance(extent, str):
                        self._known[position, dimension] = f"s{self.symbols}"
                        self.symbols += 1
            elif kind not in (float, complex) and not (
                isinstance(kind, ElementType) and kind.is_float
            ):
                self._known[position, None] = f"d{self.dims}"
                self.dims += 1

    @property
    def head(self) -> str:
        """`(d0, d1)[s0]`."""
        dims = ", ".join(f"d{n}" for n in range(self.dims))
        symbols = ", ".join(f"s{n}" for n in range(self.symbols))
        return f"({dims})" + (f"[{symbols}]" if symbols else "")

    def of(self, use: Use) -> str:
        """An argument, or an extent."""
        return self._known[use]

    def named(self, name: str) -> str:
        """The same, by its name in the text: `n`, or `A.shape.0`."""
        array, _, dimension = name.partition(".shape.")
        return self._known[self._names[array], int(dimension) if dimension else None]
