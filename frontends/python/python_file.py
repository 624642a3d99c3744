"""Python files as programs of the kernels that they define."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from ...dialects.errors import SourceError
from ...dialects.parse import parse_module
from ...dialects.source_location import Location
from ...runtime.program import Program
from ...support.bounded_files import read_bounded
from ..text.relocation import relocate
from .python_kernel import PythonKernel
from .untyped_kernel import UntypedKernel


def load_python(path: str | Path) -> Program:
    """The program of all annotated kernels that a Python file, which is run, defines.

    Raises SourceError where it has none or fails, OSError where it cannot be read.
    """
    file = Path(path)
    read_bounded(file)  # raises what other files raise
    kernels = {
        each.translation.name: each
        for each in _globals(file).values()
        if isinstance(each, PythonKernel) and not isinstance(each, UntypedKernel)
    }
    if not kernels:
        raise SourceError(
            f"{file}: there is no function with the decorator loopwright.kernel",
            hint="annotate all arguments of the kernels",
        )
    text = "".join(each.mlir for each in kernels.values())
    module = parse_module(text, str(file))
    places: list[Location] = []
    texts: dict[str, str] = {}
    for each in kernels.values():
        places += [each.source.location(node) for node in each.translation.nodes]
        texts |= each.source.texts(each.translation.nodes)
    relocate(module, places, texts)
    return Program(module)


def _globals(file: Path) -> dict[str, object]:
    """The names of a file behind its last line; raises SourceError where it fails."""
    name = f"loopwright.file.{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(file.parent))  # as `python FILE` does
    try:
        spec.loader.exec_module(module)
    except SourceError:
        raise
    except SyntaxError as error:
        if error.filename != str(file):
            raise _failure(file, error) from error
        place = Location(
            str(file), error.lineno or 1, error.offset or 1, (error.text or "").rstrip("\n")
        )
        raise SourceError(f"this is no Python: {error.msg}", place) from error
    except (Exception, SystemExit) as error:
        raise _failure(file, error) from error
    finally:
        sys.path.remove(str(file.parent))
        del sys.modules[name]
    return vars(module)


def _failure(file: Path, error: BaseException) -> SourceError:
    """The error at the innermost line of the file that was running."""
    trace = error.__traceback__
    line = 1
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(file):
            line = trace.tb_lineno
        trace = trace.tb_next
    reason = " ".join(f"{type(error).__name__}: {error}".split())
    return SourceError(f"running the file fails: {reason}", Location(str(file), line, 1))
