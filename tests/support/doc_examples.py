"""Runs the fenced code blocks of a page of the documentation, one after the other.

`python` blocks run in one namespace per page; a block of `>>>` lines is a doctest. `console` blocks
are commands behind `$ ` and what they print, in which `...` stands for any text and white space
does not count. After the comment `<!-- numbers vary -->`, any number stands for any other one, and
what a measurement says about its own quality does not count.
`mlir`, `c` and `toml` blocks, and `python` blocks that begin so, whose first line is a comment with
the name of a file are written to that file. All this happens in the current directory.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from sybil import Document, Example, Region
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser

from loopwright import cli, opt

FILE_NAME = re.compile(r"(?://|#|/\*) ([\w./-]+\.\w+)(?: \*/)?\n")
NUMBERS_VARY = "<!-- numbers vary -->"

COMPARISON = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
UNIT = re.compile(r"\b(?:ns|us|ms|s|min)\b")
QUALITY = re.compile(r"\bpinned\b|\* not steady yet: .*|\*$|(?<=0%)\*|~(?=0x)", re.MULTILINE)


class ExampleFailed(AssertionError):
    """A command that prints something else than the page says."""


def run_page(path: Path) -> set[int]:
    """Runs all examples of a page; returns the lines on which they begin."""
    parsers = (
        *(CodeBlockParser(language, write_file) for language in ("mlir", "c", "toml")),
        CodeBlockParser("console", run_console),
        PythonOrFileParser(doctest_optionflags=COMPARISON),
    )
    document = Document.parse(str(path), *parsers)
    document.namespace["__name__"] = "__main__"
    lines: set[int] = set()
    for example in document.examples():
        example.evaluate()
        lines.add(example.line)
    return lines


class PythonOrFileParser(PythonCodeBlockParser):
    """Python that is run, or a file that is written where the first line names one."""

    def __call__(self, document: Document) -> Iterator[Region]:
        for region in super().__call__(document):
            if FILE_NAME.match(str(region.parsed)):
                region.evaluator = write_file
            yield region


def write_file(example: Example) -> None:
    """Writes a block to the file that its first line names."""
    name = FILE_NAME.match(example.parsed)
    assert name is not None, f"{example.path}:{example.line}: the first line names no file"
    path = Path(name[1])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(example.parsed)


def run_console(example: Example) -> None:
    """Runs the commands of a block, and compares what each prints with what comes behind it."""
    varies = example.document.text[: example.region.start].rstrip().endswith(NUMBERS_VARY)
    text = str(example.parsed)
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, expected = _command(part)
        printed = run_command(command)
        if not agrees(expected, printed, numbers_vary=varies):
            raise ExampleFailed(
                f"{example.path}:{example.line}: {command}\nexpected:\n{expected}\ngot:\n{printed}"
            )


def _command(part: str) -> tuple[str, str]:
    """The command, whose lines but the last end in a backslash, and what it prints."""
    lines = part.splitlines(keepends=True)
    end = next(n for n, line in enumerate(lines, start=1) if not line.endswith("\\\n"))
    return "".join(lines[:end]).replace("\\\n", " ").strip(), "".join(lines[end:])


def agrees(expected: str, printed: str, *, numbers_vary: bool) -> bool:
    """Whether a command has printed what is expected."""
    if numbers_vary:
        expected, printed = map(_without_numbers, (expected, printed))
    # White space around `...` belongs to what it stands for.
    pattern = re.sub(r"\s*\.\.\.\s*", "...", expected.strip())
    return doctest.OutputChecker().check_output(pattern, printed.strip(), COMPARISON)


def _without_numbers(text: str) -> str:
    return QUALITY.sub("", UNIT.sub("s", NUMBER.sub("0", text)))


def run_command(command: str) -> str:
    """What a command prints, with its errors where it fails.

    Ours run in this process, which saves a second each.
    """
    words = shlex.split(command)
    ours = {"loopwright": cli.main, "loopwright-opt": opt.run}
    is_plain = not any(word in ("|", ">", "&&") for word in words)
    if words[0] in ours and is_plain:
        output, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            try:
                status = ours[words[0]](words[1:])
            except SystemExit as end:  # --help and --version
                status = end.code
        return output.getvalue() + (errors.getvalue() if status else "")
    folder = str(Path(sys.executable).parent)
    environment = os.environ | {
        "PATH": os.pathsep.join([folder, os.environ["PATH"]]),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    done = subprocess.run(
        command, shell=True, env=environment, capture_output=True, text=True, timeout=120
    )
    return done.stdout + (done.stderr if done.returncode else "")
