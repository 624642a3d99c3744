"""The Python module of a library: typed functions, and copies of what checks their arguments."""

from __future__ import annotations

import keyword
from collections.abc import Iterator, Sequence
from importlib.resources import files
from textwrap import wrap

from ...lowering.llvm.names import RUNTIME_FUNCTIONS
from ...support.version import __version__
from ..calling.arguments import Argument, ArrayArgument, FloatArgument, IntegerArgument
from ..calling.elements import ELEMENTS, Element
from ..calling.errors import BuildError
from ..library.interface import Interface, c_name
from .levels import levels_of
from .shared_library import SharedLibrary

_COPIED = (
    *("runtime.calling.arguments", "runtime.calling.array_memory"),
    *("runtime.calling.compiled_function", "runtime.calling.elements"),
    *("runtime.calling.errors", "runtime.calling.openmp_runtime"),
    "support.user_error",
)
"""Modules of loopwright that need each other and NumPy alone; where they are stays as it is."""

_COPY = "_loopwright"
"""The package of the copies."""

_ABOUT_COPIES = '"""Checks of arguments, from loopwright."""\n'

_IMPORTED = ("ArrayArgument", "CompiledFunction", "ELEMENTS", "FloatArgument", "IntegerArgument")
_RESERVED = frozenset(
    (*_IMPORTED, "NDArray", "Path", "Place", "SharedCode", "annotations", "errors", "library", "np")
)
"""Names of the module that no function may have."""


def python_module(library: SharedLibrary, version: str) -> dict[str, str]:
    """The files of the module by path; raises BuildError for a name that is taken."""
    for interface in library.interfaces:
        if interface.symbol in _RESERVED:
            raise BuildError(
                f"a function of a Python module cannot be called '{interface.symbol}'; "
                "build it with a prefix"
            )
    root = files("loopwright")
    packages = sorted({"", *(name.rpartition(".")[0] for name in _COPIED), "runtime"})
    copies = {
        f"{_COPY}/{path}": root.joinpath(path).read_text(encoding="utf-8")
        for name in _COPIED
        for path in [f"{name.replace('.', '/')}.py"]
    }
    return {
        "__init__.py": _module(library, version),
        "py.typed": "",
        **{
            "/".join((_COPY, *filter(None, name.split(".")), "__init__.py")): _ABOUT_COPIES
            for name in packages
        },
        **copies,
    }


def _module(library: SharedLibrary, version: str) -> str:
    names = [_python_name(interface.symbol) for interface in library.interfaces]
    levels = ", ".join(level.name for level in library.levels)
    functions = [
        _function(interface, name)
        for interface, name in zip(library.interfaces, names, strict=True)
    ]
    openmp = RUNTIME_FUNCTIONS if library.parallel else ()
    listing = "".join(f"    {name!r},\n" for name in sorted((*names, "errors", "library")))
    return f'''"""{", ".join(names)}: machine code for {levels}, made by loopwright {__version__}.

`library` says which of it runs here, and where what C and C++ programs need is.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .{_COPY}.runtime.calling import errors
from .{_COPY}.runtime.calling.arguments import (
    ArrayArgument,
    ComplexArrayArgument,
    FloatArgument,
    IntegerArgument,
    Place,
)
from .{_COPY}.runtime.calling.compiled_function import CompiledFunction, SharedCode
from .{_COPY}.runtime.calling.elements import ELEMENTS

__version__ = {version!r}
__all__ = [
{listing}]

library = SharedCode.load(
    Path(__file__).parent,
    {library.name!r},
    {tuple(level.name for level in library.levels)!r},
    {tuple(level.name for level in levels_of(library.architecture))!r},
    {openmp!r},
)

{"".join(functions).rstrip()}
'''


def _python_name(name: str) -> str:
    return f"{name}_" if keyword.iskeyword(name) else name


def _arguments(interface: Interface) -> list[tuple[int, Argument]]:
    """The arguments that Python passes, with their positions in the function."""
    return [
        (position, argument)
        for position, argument in enumerate(interface.signature.arguments)
        if position not in interface.fixed_integers
    ]


def _function(interface: Interface, name: str) -> str:
    taken: set[str] = set()
    parameters: list[str] = []
    described: list[str] = []
    descriptions: list[str] = []
    for place, (position, argument) in enumerate(_arguments(interface)):
        parameter = c_name(argument.place.name, taken)
        while keyword.iskeyword(parameter) or parameter in taken:
            parameter += "_"
        taken.add(parameter)
        parameters.append(f"{parameter}: {_annotation(argument)}")
        where = f"Place({interface.signature.kernel!r}, {place}, {parameter!r})"
        descriptions.append(_description(interface, position, argument, where))
        if isinstance(argument, ArrayArgument):
            shape = " x ".join(str(each) for each in interface.shape(position)) or "one element"
            use = "written" if argument.writes else "read" if argument.reads else "not used"
            described.append(f"{parameter}: {shape}, {use}")
    passed = [
        interface.passed_dimensions(position)
        for position, argument in _arguments(interface)
        if isinstance(argument, ArrayArgument)
    ]
    results = interface.signature.results
    kinds = [_scalar(result) for result in results]
    returned = (
        "None" if not kinds else kinds[0] if len(kinds) == 1 else f"tuple[{', '.join(kinds)}]"
    )
    call = f"_{name}({', '.join(each.partition(':')[0] for each in parameters)})"
    lines = [
        f"_{name} = CompiledFunction(",
        "    library,",
        f"    {interface.symbol!r},",
        "    (",
        *(f"        {description}," for description in descriptions),
        "    ),",
        f"    {tuple(passed)!r},",
        f"    ({''.join(f'{element_text(result)}, ' for result in results)}),",
        ")",
        "",
        "",
        f"def {name}(",
        *(f"    {parameter}," for parameter in parameters),
        f") -> {returned}:",
        *_docstring(interface, described),
        f"    return {call}  # type: ignore[no-any-return]" if kinds else f"    {call}",
        "",
        "",
    ]
    text = "\n".join(lines) + "\n"
    return text.replace(f"def {name}(\n)", f"def {name}()")


def _docstring(interface: Interface, described: Sequence[str]) -> Iterator[str]:
    sizes = ", ".join(
        f"{name} = {interface.sizes[name]}"
        for (_, dimension), name in interface.size_names.items()
        if dimension is None and name in interface.fixed
    )
    title = f"The function @{interface.signature.kernel}" + (f" for {sizes}." if sizes else ".")
    yield from wrap(f'"""{title}', 96, initial_indent="    ", subsequent_indent="    ")
    if described:
        yield ""
        yield "    Arrays are contiguous and row-major; one that is written overlaps no other."
        yield ""
        yield from (f"    {line}" for line in described)
    yield '    """'


def _annotation(argument: Argument) -> str:
    if isinstance(argument, ArrayArgument):
        return " | ".join(f"NDArray[np.{_dtype(dtype.name)}]" for dtype in argument.element.dtypes)
    return _scalar(argument.element)


def _dtype(name: str) -> str:
    return {"bool": "bool_", "void16": "void"}.get(name, name)


def _scalar(element: Element) -> str:
    if element.bits is None:
        return "float"
    return "bool" if element.bits == 1 else "int"


def element_text(element: Element) -> str:
    """The expression that gives an element type."""
    if element.is_unsigned:
        return f"ELEMENTS['i{element.bits}'].unsigned()"
    of_both_signs = ELEMENTS[element.name]
    return f"ELEMENTS[{element.name!r}]" + ("" if element == of_both_signs else ".signed()")


def _description(interface: Interface, position: int, argument: Argument, where: str) -> str:
    element = element_text(argument.element)
    match argument:
        case ArrayArgument():
            shape = tuple(
                extent if isinstance(extent, int) else None for extent in interface.shape(position)
            )
            uses = f"{argument.reads}, {argument.writes}"
            return f"{type(argument).__name__}({where}, {element}, {shape!r}, {uses})"
        case IntegerArgument():
            return f"IntegerArgument({where}, {element}, False)"
        case FloatArgument():
            return f"FloatArgument({where}, {element})"
