"""The function that a region is replaced by: checks of the arguments, then the optimised loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from ...dialects.errors import SourceError
from ...lowering.llvm.entry_points import LARGEST_SIZE
from ...lowering.loops.index_magnitudes import SizeLimits
from ...passes.polyhedral.bounds import sizes_outside
from ...passes.polyhedral.gathers import gathered_arguments
from ...passes.polyhedral.isl_context import ISL_LOCK, coalesced
from ...passes.polyhedral.scop import AccessKind, Scop
from .c_types import ArrayType, ComplexType, Elements, NumberType, PointerType
from .memory_checks import has_unknown_length
from .optimised import ROWS
from .translate import Parameter, Translation
from .tree import Symbol


@dataclass(frozen=True)
class Entry:
    """A function of C: its prototype, its `body`, and the `call` that stands for the region.

    The prototype has no names of parameters: they may be macros of the file, where it stands.
    """

    prototype: str
    body: str
    call: str


@dataclass(frozen=True)
class Kernel:
    """The optimised loops as a function of C.

    `limits` has the sizes that they are for. Those `in_assembly` take the extents of an array
    behind its address, and count allocations that have failed in `failures`.
    """

    name: str
    limits: SizeLimits
    in_assembly: bool = False
    failures: str | None = None


def entry(
    translation: Translation, scop: Scop, kernel: Kernel, name: str, fixed: Mapping[str, int]
) -> Entry:
    """The function `name`, which calls `kernel`; `fixed` are the sizes that this is made for.

    It returns 0 where the region as written has to run. Raises SourceError for what it cannot
    check.
    """
    maker = _Maker(translation, scop, fixed, kernel)
    declared = [_declaration(kind, parameter) for kind, parameter in maker.declared]
    head = f"static int {name}({', '.join(declared) or 'void'})"
    kinds = ", ".join(kind for kind, _ in maker.declared)
    checks = "".join(f"    {line}\n" for line in maker.checks())
    call = f"    {kernel.name}({', '.join(maker.passed)});\n"
    if kernel.failures is not None:
        call += f"    if ({kernel.failures})\n        abort();\n"
    body = f"{head} {{\n{checks}{call}    return 1;\n}}\n"
    if kernel.in_assembly:
        body = _declared(kernel, maker.kinds) + body
    prototype = f"static int {name}({kinds or 'void'});"
    return Entry(prototype, body, f"{name}({', '.join(maker.given)})")


def _declared(kernel: Kernel, kinds: Sequence[str]) -> str:
    """The declarations of what is in assembly."""
    hidden = '__attribute__((visibility("hidden")))'
    text = f"extern void {kernel.name}({', '.join(kinds) or 'void'}) {hidden};\n"
    if kernel.failures is not None:
        text += f"extern volatile int64_t {kernel.failures} {hidden};\n"
    return f"{text}\n"


class _Maker:
    def __init__(
        self,
        translation: Translation,
        scop: Scop,
        fixed: Mapping[str, int],
        kernel: Kernel,
    ) -> None:
        self.in_assembly = kernel.in_assembly
        self.limits = kernel.limits
        self.scop = scop
        self.fixed = fixed
        self.region = translation.region
        self.parameters = translation.parameters
        self.gathered = gathered_arguments(scop)
        self.arrays = {each.argument: each for each in scop.arrays if each.argument is not None}
        self.written = {
            access.array.argument
            for statement in scop.statements
            for access in statement.accesses
            if access.kind is AccessKind.WRITE
        }
        self.declared: list[tuple[str, str]] = []
        self.given: list[str] = []
        self.lines: list[str] = []
        self.joined: list[str] = []
        self.imaginary: list[tuple[str, str]] = []
        self.bytes: dict[int, str] = {}
        self.shared: dict[str, str] = {}
        self.texts: dict[int, list[str]] = {}
        self.kinds_of: dict[int, list[str]] = {}
        self.sizes = {
            (size.argument, size.dimension): f"s{position}"
            for position, size in enumerate(scop.sizes)
        }
        for argument, parameter in enumerate(translation.parameters):
            if parameter.elements is None:
                self._number(argument, parameter)
        for argument, parameter in enumerate(translation.parameters):
            if parameter.elements is not None:
                self._array(argument, parameter, parameter.elements.parts)
        arguments = range(len(translation.parameters))
        self.passed = [text for argument in arguments for text in self.texts[argument]]
        self.passed += [name for _, name in self.imaginary]
        self.kinds = [kind for argument in arguments for kind in self.kinds_of[argument]]
        self.kinds += [kind for kind, _ in self.imaginary]

    def _number(self, argument: int, parameter: Parameter) -> None:
        symbol = parameter.symbol
        kind, given = str(symbol.type), symbol.spelling
        if parameter.mlir == "index":
            kind, given = "long long", f"(long long){given}"
        elif isinstance(symbol.type, ComplexType):
            kind = str(symbol.type.part)
            self.imaginary.append((kind, f"i{argument}"))
            self.declared.append(self.imaginary[-1])
            self.given.append(f"__imag__ {given}")
            given = f"__real__ {given}"
        self.declared.append((kind, f"a{argument}"))
        self.given.append(given)
        self._size(argument, None, f"a{argument}")  # one of data that a subscript has, too
        self.texts[argument] = [f"a{argument}"]
        self.kinds_of[argument] = [kind]
        self._share(argument, symbol, f"sizeof({symbol.type})")

    def _share(self, argument: int, symbol: Symbol, size: str) -> None:
        """Passes the address of a variable: what the region writes must not change it."""
        if symbol.has_address or (symbol.is_global and not symbol.is_const):
            self.declared.append(("const void *", f"v{argument}"))
            self.given.append(f"(const void *)&{symbol.spelling}")
            self.shared[f"v{argument}"] = size

    def _size(self, argument: int, dimension: int | None, text: str) -> None:
        name = self.sizes.get((argument, dimension))
        if name is not None:
            self.lines.append(f"const int64_t {name} = {text};")

    def _array(self, argument: int, parameter: Parameter, elements: Elements) -> None:
        symbol = parameter.symbol
        if str(elements.element).endswith("long long"):
            raise SourceError(
                f"'{symbol.name}' has elements of type '{elements.element}'",
                self.region.place,
                "use long or int64_t",
            )
        name = f"r{argument}" if symbol.has_rows else f"a{argument}"
        self.declared.append(("void *", name))
        address = "&" if isinstance(symbol.type, NumberType) else ""
        self.given.append(f"(void *){address}{symbol.spelling}")
        if symbol.has_rows:
            self._rows_of(argument, _element_text(elements))
        if isinstance(symbol.type, PointerType):
            self._share(argument, symbol, "sizeof(void *)")
        extents: list[str] = []
        dynamic: list[str] = []
        for dimension, extent in enumerate(elements.extents):
            text = str(extent)
            if extent is None:
                text = f"a{argument}_{dimension}"
                if not symbol.has_rows:
                    self._extent(argument, dimension, parameter)
                self._size(argument, dimension, text)
                # C has no arrays without elements.
                dynamic.append(f"({text} < 1 ? 1 : {text})")
                text = dynamic[-1]
            extents.append(text)
        kind = _element_text(elements)
        rows = "".join(f"[{each}]" for each in extents[1:])
        cast = f"({kind} (*){rows})a{argument}" if rows else f"({kind} *)a{argument}"
        self.texts[argument] = [f"a{argument}", *dynamic] if self.in_assembly else [*dynamic, cast]
        self.kinds_of[argument] = ["void *", *("int64_t" for _ in dynamic)]
        size = " * ".join(f"(uintptr_t){each}" for each in extents)
        self.bytes[argument] = f"{size} * sizeof({kind})" if size else f"sizeof({kind})"

    def _extent(self, argument: int, dimension: int, parameter: Parameter) -> None:
        """The extent of an array: what is declared, else as many rows as are accessed."""
        symbol = parameter.symbol
        text = f"a{argument}_{dimension}"
        is_array = isinstance(symbol.type, ArrayType) and not symbol.is_parameter
        is_array &= not parameter.lengths
        if dimension == 0 and not is_array:
            self.lines.append(f"const int64_t {text} = {self._accessed(argument, 0)} + 1;")
            return
        if parameter.lengths:
            self.declared.append(("long long", text))
            self.given.append(f"(long long){parameter.lengths[dimension - 1]}")
            return
        row = symbol.spelling + "[0]" * dimension
        self.declared.append(("long long", text))
        self.given.append(f"(long long)(sizeof({row}) / sizeof({row}[0]))")

    def _rows_of(self, argument: int, kind: str) -> None:
        """Where rows lie at one distance, apart from each other, an array with rows so long."""
        name, rows, row = f"a{argument}", f"a{argument}_0", f"a{argument}_1"
        first = self._accessed(argument, 0, first=True)
        self.lines += [
            f"const int64_t {rows} = {self._accessed(argument, 0)} + 1;",
            f"int64_t {row} = {self._accessed(argument, 1)} + 1;",
        ]
        self.shared[f"r{argument}"] = f"(uintptr_t){rows} * sizeof(void *)"
        # Which rows there are is known for the sizes that C and the region agree on.
        self.joined += [
            f"void *const {name} = {ROWS}(r{argument}, {first}, {rows}, sizeof({kind}), &{row});",
            f"if ({row} < 0 || {row} > {self._largest(argument, 1)})",
            "    return 0;",
        ]

    def _largest(self, argument: int, dimension: int | None) -> int:
        """The largest value of a size."""
        return min(self.limits.largest.get((argument, dimension), LARGEST_SIZE), LARGEST_SIZE)

    def _accessed(self, argument: int, dimension: int, *, first: bool = False) -> str:
        """The last or first subscript with which an array is accessed, over the sizes, or -1."""
        array = self.arrays.get(argument)
        ranges = [
            access.relation.range()
            for statement in self.scop.statements
            for access in statement.accesses
            if access.array is array
        ]
        if not ranges:
            return "-1"
        with ISL_LOCK:
            elements = ranges[0]
            for each in ranges[1:]:
                elements = elements.union(each)
            try:
                elements = self._renamed(elements)
                found = elements.dim_min(dimension) if first else elements.dim_max(dimension)
                nothing = isl.Set.universe(found.domain().get_space())
                none = isl.PwAff.val_on_domain(nothing.subtract(found.domain()), isl.Val(-1))
                found = coalesced(found.union_add(none))
                build = isl.AstBuild.from_context(isl.Set.universe(found.domain().get_space()))
                return f"({build.expr_from_pw_aff(found).to_C_str()})"
            except isl.Error:
                name = array.name if array is not None else ""
                raise SourceError(
                    f"isl cannot tell how many elements of '{name}' are accessed",
                    self.region.place,
                ) from None

    def _renamed(self, sizes: isl.Set) -> isl.Set:
        """A set with the sizes' names in the function."""
        for position, name in enumerate(sizes.get_var_names(isl.dim_type.param)):
            sizes = sizes.set_dim_name(isl.dim_type.param, position, self._name_of(name))
        return sizes

    def _name_of(self, name: str | None) -> str:
        return next(f"s{n}" for n, each in enumerate(self.scop.sizes) if each.name == name)

    def checks(self) -> list[str]:
        """The statements in front of the call of the kernel."""
        lines = list(self.lines)
        for size in self.scop.sizes:
            if size.dimension is None and size.name in self.fixed:
                lines.append(f"if ({self._name_of(size.name)} != {self.fixed[size.name]})")
                lines.append("    return 0;")
            else:
                largest = self._largest(size.argument, size.dimension)
                name = self._name_of(size.name)
                lines += [f"if ({name} < -{largest} || {name} > {largest})", "    return 0;"]
        outside = self._outside()
        if outside is not None:
            lines += [f"if ({outside})", "    return 0;"]
        lines += self.joined
        ranges = [
            (f"a{argument}", self.bytes[argument], argument in self.written)
            for argument in self.bytes
            if argument in self.arrays and self._has_range(argument)
        ]
        ranges += [(name, size, False) for name, size in self.shared.items()]
        for position, (one, one_bytes, one_written) in enumerate(ranges):
            for other, other_bytes, other_written in ranges[position + 1 :]:
                if one_written or other_written:
                    lines.append(
                        f"if ((uintptr_t){one} < (uintptr_t){other} + {other_bytes}\n"
                        f"        && (uintptr_t){other} < (uintptr_t){one} + {one_bytes})"
                    )
                    lines.append("    return 0;")
        return lines

    def _has_range(self, argument: int) -> bool:
        """Whether an array is accessed, and only in what is known of it."""
        if argument in self.gathered:
            return not has_unknown_length(self.parameters[argument])
        array = self.arrays[argument]
        return any(
            access.array is array
            for statement in self.scop.statements
            for access in statement.accesses
        )

    def _outside(self) -> str | None:
        """The condition that an access leaves its array, or C means something else."""
        with ISL_LOCK:
            outside = sizes_outside(self.scop, {})
            if outside.is_empty():
                return None
            outside = self._renamed(outside)
            build = isl.AstBuild.from_context(isl.Set.universe(outside.get_space()))
            return build.expr_from_set(outside).to_C_str()


def _declaration(kind: str, name: str) -> str:
    return f"{kind}{name}" if kind.endswith("*") else f"{kind} {name}"


def _element_text(elements: Elements) -> str:
    kind = elements.mlir.rpartition("x")[2].strip("<>").removeprefix("memref<")
    return _ELEMENTS.get(kind, f"int{kind[1:]}_t")


_ELEMENTS = {
    "f16": "_Float16",
    "bf16": "__bf16",
    "f32": "float",
    "f64": "double",
    "i1": "_Bool",
}
