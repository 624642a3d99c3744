"""Text to verified modules."""

from __future__ import annotations

from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import ParseError, VerifyException

from .context import make_context
from .errors import SourceError
from .parser import SourceParser


def parse_module(
    text: str, file_name: str = "<string>", *, context: Context | None = None
) -> ModuleOp:
    """Parses and verifies a module; raises SourceError.

    Operations outside of a module are wrapped into one. `context` is what they may come from, by
    default all dialects of loopwright.
    """
    parser = SourceParser(context or make_context(), text, file_name)
    try:
        module = parser.parse_module()
    except ParseError as error:
        raise SourceError(error.msg, parser.source.location(error.span.start)) from error
    verify(module)
    return module


def parse_file(path: str | Path, *, context: Context | None = None) -> ModuleOp:
    """Reads, parses and verifies a file; raises SourceError."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise SourceError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SourceError(f"cannot read {path}: not UTF-8 text") from error
    return parse_module(text, str(path), context=context)


def verify(module: Operation) -> None:
    """Verifies an operation and all inside it; raises SourceError at the culprit."""
    for operation in module.walk():
        try:
            operation.verify(verify_nested_ops=False)
        except VerifyException as error:
            raise SourceError.at(operation, str(error).splitlines()[0]) from error
