"""Parsing and verification of modules."""

from __future__ import annotations

from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import ParseError

from .affine import ForOp
from .context import make_context
from .errors import SourceError
from .hinted_errors import HintedParseError
from .locations import Source
from .memref import INSPECTED
from .parser import SourceParser
from .source_text import read_source
from .verify import one_line, verify

_CLEARER = {
    "Expected suffix identifier after {first_char}": (
        "expected a name after this character: ASCII letters, digits, '_', '$', '.' or '-'"
    ),
}
"""Messages of xDSL that show the name of a variable, where an `f` is missing before the text."""


def parse_module(
    text: str,
    file_name: str = "<string>",
    *,
    context: Context | None = None,
    implicit_module: bool = True,
) -> ModuleOp:
    """Parses, normalises and verifies a module; raises SourceError.

    Operations outside of a module are wrapped into one, unless `implicit_module` is false.
    `context` is what they may come from, by default all dialects of loopwright.
    """
    source = Source(text, file_name)
    parser = None
    try:
        parser = SourceParser(context or make_context(), source)
        module = parser.parse_module(implicit_module)
    except SourceError:
        raise
    except ParseError as error:
        hint = error.hint if isinstance(error, HintedParseError) else None
        location = source.location(error.span.start)
        message = _CLEARER.get(error.msg, one_line(error.msg))
        raise SourceError(message, location, hint) from error
    except RecursionError as error:
        raise SourceError(
            "the program is nested too deeply", source.location(parser.pos if parser else 0)
        ) from error
    except Exception as error:
        # xDSL reports some mistakes (such as an attribute that does not verify) through whatever
        # its constructors raise; all of them are about the text just read.
        raise SourceError(
            f"syntax error: {one_line(str(error))}", source.location(parser.pos if parser else 0)
        ) from error
    for operation in module.walk():
        if isinstance(operation, ForOp):
            operation.use_dims()
        operation.attributes.pop(INSPECTED, None)  # Only the compiler knows.
    verify(module)
    return module


def parse_file(path: str | Path, *, context: Context | None = None) -> ModuleOp:
    """Reads, parses, normalises and verifies a file; raises SourceError."""
    return parse_module(read_source(path), str(path), context=context)
