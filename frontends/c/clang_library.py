"""Parsing of C with libclang, and what its Python bindings leave out."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...dialects.errors import SourceError
from ...dialects.source_location import Location
from ...support.extras import extra_for
from .c_source import CSource

with extra_for("reading C"):
    from clang import cindex

_ARGUMENTS = (
    "-std=gnu17",
    "-w",
    # Old programs, which other compilers take with a warning.
    *("-Wno-error=implicit-function-declaration", "-Wno-error=implicit-int"),
    *("-Wno-error=int-conversion", "-Wno-error=incompatible-pointer-types"),
)

_COMPLEX = tuple(
    f"-DCMPLX{suffix}(x,y)=__builtin_complex(({part})(x),({part})(y))"
    for suffix, part in (("", "double"), ("F", "float"))
)
"""Macros that complex.h of the GNU C library keeps from clang."""

UNARY = {
    1: "x++",
    2: "x--",
    3: "++x",
    4: "--x",
    5: "&",
    6: "*",
    7: "+",
    8: "-",
    9: "~",
    10: "!",
    11: "__real__",
    12: "__imag__",
    13: "__extension__",
}
"""Operators by libclang's number (CXUnaryOperatorKind)."""

BINARY = {
    "Mul": "*",
    "Div": "/",
    "Rem": "%",
    "Add": "+",
    "Sub": "-",
    "Shl": "<<",
    "Shr": ">>",
    "LT": "<",
    "GT": ">",
    "LE": "<=",
    "GE": ">=",
    "EQ": "==",
    "NE": "!=",
    "And": "&",
    "Xor": "^",
    "Or": "|",
    "LAnd": "&&",
    "LOr": "||",
    "Assign": "=",
    "MulAssign": "*=",
    "DivAssign": "/=",
    "RemAssign": "%=",
    "AddAssign": "+=",
    "SubAssign": "-=",
    "ShlAssign": "<<=",
    "ShrAssign": ">>=",
    "AndAssign": "&=",
    "XorAssign": "^=",
    "OrAssign": "|=",
    "Comma": ",",
}
"""Operators by libclang's name."""


def _arguments(source: CSource, flags: Sequence[str]) -> list[str]:
    """The arguments of clang: headers that it lacks, such as omp.h, are those of gcc."""
    macros = _COMPLEX if "<complex.h>" in source.text and "CMPLX" in source.text else ()
    folders = sorted(Path("/usr/lib/gcc").glob("*/*/include"))
    behind = [text for each in folders for text in ("-idirafter", str(each))]
    return [*_ARGUMENTS, *macros, *behind, *flags]


def parse(source: CSource, flags: Sequence[str] = ()) -> cindex.TranslationUnit:
    """The syntax tree of a file; raises SourceError for what a C compiler refuses."""
    index = cindex.Index.create()
    try:
        unit = index.parse(source.file, _arguments(source, flags), [(source.file, source.text)])
    except cindex.TranslationUnitLoadError:
        raise SourceError(
            f"{source.file}: clang cannot parse the file with these flags: "
            f"{' '.join(flags) or 'none'}"
        ) from None
    for each in unit.diagnostics:
        if each.severity >= cindex.Diagnostic.Error:
            raise SourceError(each.spelling, place_of(each.location, source), _remedy(each))
    return unit


def macro_names(source: CSource, flags: Sequence[str] = ()) -> set[str]:
    """The macros that are defined behind the file's text."""
    detailed = 1  # CXTranslationUnit_DetailedPreprocessingRecord
    unit = cindex.Index.create().parse(
        source.file, _arguments(source, flags), [(source.file, source.text)], options=detailed
    )
    children = unit.cursor.get_children()
    return {each.spelling for each in children if each.kind.name == "MACRO_DEFINITION"}


def _remedy(diagnostic: cindex.Diagnostic) -> str | None:
    if diagnostic.spelling.endswith("file not found"):
        return "give its directory: -I DIR among the C flags (--cflags)"
    return None


def place_of(location: cindex.SourceLocation, source: CSource) -> Location | None:
    """A position of libclang; in a header, the line is read from there."""
    if location.file is None:
        return None
    if location.file.name == source.file:
        return source.location(location.line, location.column)
    try:
        text = Path(location.file.name).read_text(errors="replace")
    except OSError:
        text = ""
    return CSource(location.file.name, text).location(location.line, location.column)


def unary_operator(cursor: cindex.Cursor) -> str:
    """The operator of a unary expression, as in `UNARY`."""
    return UNARY.get(_library().clang_getCursorUnaryOperatorKind(cursor), "")


def evaluate(cursor: cindex.Cursor) -> int | float | None:
    """The value of a constant expression; None where it has none."""
    library = _library()
    result = library.clang_Cursor_Evaluate(cursor)
    if not result:
        return None
    try:
        kind = library.clang_EvalResult_getKind(result)
        if kind == 1:
            if library.clang_EvalResult_isUnsignedInt(result):
                return int(library.clang_EvalResult_getAsUnsigned(result))
            return int(library.clang_EvalResult_getAsLongLong(result))
        return float(library.clang_EvalResult_getAsDouble(result)) if kind == 2 else None
    finally:
        library.clang_EvalResult_dispose(result)


def _library() -> Any:
    library = cindex.conf.lib
    if library.clang_Cursor_Evaluate.restype is not ctypes.c_void_p:
        library.clang_getCursorUnaryOperatorKind.argtypes = [cindex.Cursor]
        library.clang_getCursorUnaryOperatorKind.restype = ctypes.c_int
        for name, result in (
            ("getKind", ctypes.c_int),
            ("isUnsignedInt", ctypes.c_uint),
            ("getAsUnsigned", ctypes.c_ulonglong),
            ("getAsLongLong", ctypes.c_longlong),
            ("getAsDouble", ctypes.c_double),
            ("dispose", None),
        ):
            function = getattr(library, f"clang_EvalResult_{name}")
            function.argtypes, function.restype = [ctypes.c_void_p], result
        library.clang_Cursor_Evaluate.argtypes = [cindex.Cursor]
        library.clang_Cursor_Evaluate.restype = ctypes.c_void_p
    return library


def unconverted(cursor: cindex.Cursor) -> cindex.Cursor:
    """An expression without parentheses and conversions of C around it."""
    while cursor.kind.name in ("PAREN_EXPR", "UNEXPOSED_EXPR"):
        inner = [each for each in cursor.get_children() if each.kind.is_expression()]
        if len(inner) != 1:
            break
        cursor = inner[0]
    return cursor


def is_structure_or_pointer(kind: cindex.Type) -> bool:
    """Whether a parameter is a structure, a pointer or an array: other names of what is passed."""
    name = kind.get_canonical().kind.name
    return name in ("RECORD", "POINTER") or name.endswith("ARRAY")
