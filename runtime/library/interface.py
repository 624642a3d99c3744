"""C interfaces of functions, for fixed or run-time sizes."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...lowering.c.names import C_NAMES
from ...lowering.llvm.names import RUNTIME_FUNCTIONS
from ...passes.polyhedral.scop import Scop
from ..calling.arguments import ArrayArgument, IntegerArgument
from ..calling.derived_signature import signature_of
from ..calling.elements import Element
from ..calling.signature import Signature

_CPP_KEYWORDS = """
alignas alignof and and_eq asm bitand bitor catch char8_t char16_t char32_t class compl concept
consteval constexpr constinit const_cast co_await co_return co_yield decltype delete dynamic_cast
explicit export friend mutable namespace new noexcept not not_eq nullptr operator or or_eq private
protected public reinterpret_cast requires static_assert static_cast template this thread_local
throw try typeid typename typeof using virtual wchar_t xor xor_eq
"""
RESERVED = C_NAMES | frozenset((*_CPP_KEYWORDS.split(), *RUNTIME_FUNCTIONS))
"""Names that mean something in C or C++."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a C function; `meaning` is its description."""

    type: str
    name: str
    meaning: str

    def __str__(self) -> str:
        return self.type + ("" if self.type.endswith("*") else " ") + self.name


@dataclass(frozen=True)
class Interface:
    """The C interface of a function.

    `sizes` are those sizes of the function that the code is made for, and `fixed` the names of
    those that are not passed. An extent that is passed although it is known must be the known one.
    `size_names` names all sizes, by the position of the argument and the dimension (None for an
    integer).
    """

    symbol: str
    signature: Signature
    sizes: Mapping[str, int]
    fixed: Collection[str]
    size_names: Mapping[tuple[int, int | None], str]

    @classmethod
    def of(
        cls, scop: Scop, sizes: Mapping[str, int], fixed: Collection[str], prefix: str = ""
    ) -> Interface:
        """The interface of a function for the sizes that are known."""
        names = {(size.argument, size.dimension): size.name for size in scop.sizes}
        symbol = c_name(prefix + scop.name, RESERVED)
        return cls(symbol, signature_of(scop), dict(sizes), frozenset(fixed), names)

    @property
    def fixed_integers(self) -> dict[int, int]:
        """The values of integer arguments that are not passed, by position."""
        return {
            position: self.sizes[name]
            for (position, dimension), name in self.size_names.items()
            if dimension is None and name in self.fixed
        }

    @property
    def checked_extents(self) -> frozenset[tuple[int, int]]:
        """The extents that are passed although they are known, by argument and dimension."""
        return frozenset(
            (position, dimension)
            for (position, dimension), name in self.size_names.items()
            if dimension is not None and name in self.sizes and name not in self.fixed
        )

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters in order."""
        taken = set(RESERVED)
        result: list[Parameter] = []
        for parameter in self._parameters():
            name = c_name(parameter.name, taken)
            taken.add(name)
            result.append(Parameter(parameter.type, name, parameter.meaning))
        return tuple(result)

    @property
    def prototype(self) -> str:
        """The declaration in C."""
        start = f"int {self.symbol}("
        lines = [start]
        texts = [str(parameter) for parameter in self.parameters] or ["void"]
        for position, text in enumerate(texts):
            piece = text + (", " if position < len(texts) - 1 else ");")
            if position and len(lines[-1]) + len(piece.rstrip()) > 100:
                lines.append(" " * len(start))
            lines[-1] += piece
        return "\n".join(line.rstrip() for line in lines)

    def shape(self, position: int) -> tuple[int | str, ...]:
        """The extents of an array argument: numbers where they are known, else their names."""
        argument = self.signature.arguments[position]
        assert isinstance(argument, ArrayArgument)
        return tuple(self._extent(position, d) for d in range(len(argument.shape)))

    def passed_dimensions(self, position: int) -> tuple[int, ...]:
        """The dimensions of an array argument whose extents the caller passes."""
        found = [
            dimension
            for (argument, dimension), name in self.size_names.items()
            if argument == position and dimension is not None and name not in self.fixed
        ]
        return tuple(sorted(found))

    def _parameters(self) -> Iterator[Parameter]:
        for position, argument in enumerate(self.signature.arguments):
            name = argument.place.name
            kind = c_type(argument.element)
            if isinstance(argument, ArrayArgument):
                shape = self.shape(position)
                constant = "" if argument.writes else "const "
                yield Parameter(f"{constant}{kind} *", name, _describe(argument, shape))
                for dimension in self.passed_dimensions(position):
                    size = self.size_names[position, dimension]
                    must = f", must be {shape[dimension]}" if size in self.sizes else ""
                    yield Parameter("int64_t", size, f"extent {dimension} of {name}{must}")
            elif position not in self.fixed_integers:
                is_size = isinstance(argument, IntegerArgument) and argument.is_size
                yield Parameter(kind, name, "a size" if is_size else "a value")
        results = self.signature.results
        for number, result in enumerate(results, start=1):
            name = f"result{number}" if len(results) > 1 else "result"
            yield Parameter(f"{c_type(result)} *", name, "where the result is stored")

    def _extent(self, position: int, dimension: int) -> int | str:
        argument = self.signature.arguments[position]
        assert isinstance(argument, ArrayArgument)
        static = argument.shape[dimension]
        if static is not None:
            return static
        name = self.size_names[position, dimension]
        return self.sizes.get(name, name)


def _describe(argument: ArrayArgument, shape: Sequence[int | str]) -> str:
    use = {
        (True, True): "read and written",
        (True, False): "read",
        (False, True): "written",
        (False, False): "not used",
    }[argument.reads, argument.writes]
    extents = " x ".join(map(str, shape))
    return f"{extents} elements, {use}" if shape else f"one element, {use}"


def c_type(element: Element) -> str:
    """The C type of an element type."""
    match element.bits:
        case None:
            return {"f32": "float", "f64": "double"}.get(element.name, "uint16_t")
        case 1:
            return "bool"
        case bits:
            return f"{'u' if element.is_unsigned else ''}int{bits}_t"


def c_name(name: str, taken: Container[str]) -> str:
    """The identifier in C and C++ that is closest to a name, and not taken."""
    base = re.sub(r"\W", "_", name, flags=re.ASCII)
    base = base if base[0].isalpha() else f"f{base}"
    while base in taken:
        base += "_"
    return base
