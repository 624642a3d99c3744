"""`loopwright-opt`: parse, transform and print programs, the xDSL way."""

from __future__ import annotations

import argparse
import inspect
import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import IO, Any, NoReturn

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.universe import Universe
from xdsl.utils.exceptions import DiagnosticException, ShrinkException
from xdsl.xdsl_opt_main import xDSLOptMain

from .dialects.errors import SourceError
from .dialects.parse import parse_module
from .dialects.registry import DIALECTS
from .dialects.verify import one_line
from .passes.schedules.errors import TransformationError
from .passes.syntax.pipeline import (
    PassCall,
    Word,
    describe_options,
    parse_calls,
    read_options,
    unknown,
)
from .support.bounded_files import read_stream
from .support.version import __version__
from .universe import LOOPWRIGHT_UNIVERSE

_PROGRAM = "loopwright-opt"


class UsageError(Exception):
    """A mistake on the command line."""


class PassError(Exception):
    """A pass of xDSL that cannot handle a program."""


class LoopwrightOptMain(xDSLOptMain):
    """xDSL's driver with the dialects, passes and error messages of loopwright."""

    version_format = f"{_PROGRAM} {__version__} (xDSL {{xdsl_version}})"

    def register_all_dialects(self) -> None:
        """All dialects of xDSL and its plug-ins; ours take the place of those of the same name."""
        dialects = {
            **Universe.get_multiverse().all_dialects,
            **DIALECTS,
            **LOOPWRIGHT_UNIVERSE.all_dialects,
        }
        for name, factory in dialects.items():
            self.ctx.register_dialect(name, factory)

    def register_all_passes(self) -> None:
        """All passes of xDSL and its plug-ins, and ours."""
        super().register_all_passes()
        self.available_passes.update(LOOPWRIGHT_UNIVERSE.all_passes)

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        """The arguments of xDSL's driver."""
        arg_parser.prog = _PROGRAM
        arg_parser.formatter_class = argparse.RawDescriptionHelpFormatter
        arg_parser.epilog = "\n".join(self._describe_passes())
        arg_parser.error = _usage_error
        add_argument = arg_parser.add_argument

        def add(*names: str, **options: Any) -> argparse.Action:
            if "--passes" in names:
                # xDSL's text would be the names of all passes on one line.
                options |= {"metavar": "PIPELINE", "help": "passes to run, as described below"}
            return add_argument(*names, **options)

        arg_parser.add_argument = add
        super().register_all_arguments(arg_parser)

    def _describe_passes(self) -> Iterator[str]:
        yield "passes of loopwright, written as 'tile{loops=i,j sizes=32,32},parallel{loops=it}':"
        for name, factory in sorted(LOOPWRIGHT_UNIVERSE.all_passes.items()):
            cls = factory()
            summary = (inspect.getdoc(cls) or "").splitlines()[0]
            yield f"  {name}{{{describe_options(cls)}}}\n      {summary}"
        others = ", ".join(sorted(self.available_passes.keys() - LOOPWRIGHT_UNIVERSE.all_passes))
        yield f"\npasses of xDSL:\n  {others}"

    def get_input_stream(self) -> tuple[IO[bytes], str]:
        """The input, which is MLIR text unless there is a front end for its suffix."""
        if self.args.input_file == "-":
            self.args.input_file = None
        stream, extension = super().get_input_stream()
        return stream, extension if extension in self.available_frontends else "mlir"

    def parse_chunk(
        self, chunk: IO[bytes], file_extension: str, start_offset: int = 0
    ) -> ModuleOp | None:
        """A verified module, or None when what was expected to fail has been reported."""
        name = self.args.input_file or "<stdin>"
        try:
            text = read_stream(chunk, name).decode()
        except UnicodeDecodeError:
            raise UsageError(f"cannot read '{name}': it is not UTF-8 text") from None
        try:
            # Empty lines in place of the chunks before, so that positions are those in the file.
            return parse_module(
                "\n" * start_offset + text,
                name,
                context=self.ctx,
                implicit_module=not self.args.no_implicit_module,
            )
        except SourceError as error:
            if self.args.parsing_diagnostics or self.args.verify_diagnostics:
                print(error)
                return None
            raise

    def setup_pipeline(self) -> None:
        """Checks the pipeline and hands it on in xDSL's own syntax; raises SourceError."""
        text = self.args.passes
        calls = parse_calls(text)
        specs: list[str] = []
        for call in calls:
            factory = self.available_passes.get(call.name.text)
            if factory is None:
                raise unknown(call.name, text, "pass", self.available_passes)
            if call.name.text in LOOPWRIGHT_UNIVERSE.all_passes:
                cls = factory()
                specs.append(str(cls(**read_options(call, text, cls))))
            else:
                specs.append(_to_xdsl(call))
        self.args.passes = ",".join(specs)
        super().setup_pipeline()

    def apply_passes(self, prog: ModuleOp) -> None:
        """Runs the pipeline; a mistake found there is a diagnostic that can be expected."""
        running = [""]
        check = self.pipeline.callback

        def callback(
            previous: ModulePass | None, module: ModuleOp, following: ModulePass | None
        ) -> None:
            if check is not None:
                check(previous, module, following)
            running[:] = [following.name] if following else []

        try:
            replace(self.pipeline, callback=callback).apply(self.ctx, prog)
        except (SourceError, TransformationError) as error:
            if self.args.verify_diagnostics:
                raise DiagnosticException(str(error)) from error
            raise
        except (ShrinkException, OSError):
            raise
        except Exception as error:
            if self.args.verify_diagnostics and isinstance(error, DiagnosticException):
                raise
            # Passes of xDSL fail in their own ways on programs that they do not support.
            raise PassError(f"pass {running[0]} failed: {describe(error)}") from error


def _to_xdsl(call: PassCall) -> str:
    """The pass in xDSL's syntax, where names such as `S1.j` are in quotes."""
    if call.nested is not None:
        return f"{call.name.text}[{call.nested}]"
    options = " ".join(
        f"{name.text}={','.join(map(_quoted, values))}" if values else name.text
        for name, values in call.options
    )
    return f"{call.name.text}{{{options}}}" if options else call.name.text


def _quoted(word: Word) -> str:
    is_literal = re.fullmatch(r"true|false|[-+]?\d+(\.\d*([eE][-+]?\d+)?)?", word.text)
    return word.text if is_literal else f'"{word.text}"'


def _usage_error(message: str) -> NoReturn:
    raise UsageError(message)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs the tool; exits with 0, with 1 after a mistake of the user, or with 130 on Ctrl-C."""
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Runs the tool and answers the exit status; mistakes are told on standard error."""
    try:
        LoopwrightOptMain("loopwright's optimiser driver", arguments).run()
        sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Nobody reads the rest; the interpreter must not try to write it once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except SourceError as error:
        return _report(str(error) if error.location else f"{_PROGRAM}: {error}")
    except OSError as error:
        return _report(f"{_PROGRAM}: error: cannot open '{error.filename}': {error.strerror}")
    except (UsageError, TransformationError, PassError) as error:
        return _report(f"{_PROGRAM}: error: {error}")
    except Exception as error:
        # Printers of xDSL fail in their own ways on programs that they do not support.
        return _report(f"{_PROGRAM}: error: {describe(error)}")
    return 0


def describe(error: Exception) -> str:
    """An error that was not meant for users, as one line."""
    name = type(error).__name__
    text = one_line(str(error))
    return f"{text} ({name})" if text else name


def _report(message: str) -> int:
    sys.stdout.flush()
    print(message, file=sys.stderr)
    return 1


if __name__ == "__main__":
    main()
