"""Generator of reference pages from the code: `python tools/reference.py`.

`docs/reference/transformations.md` from the registry, the docstrings and the fields of the
transformations; `docs/reference/cli.md` from the parsers of the commands; `calls.md` and `json.md`
in `reference_calls.py`. A test compares them.
"""

from __future__ import annotations

import argparse
import dataclasses
import inspect
from collections.abc import Iterable, Iterator
from pathlib import Path

from reference_calls import calls_page, json_page

from loopwright.cli import parser_of
from loopwright.commands import COMMANDS
from loopwright.passes.schedules.schedule import Transformation
from loopwright.passes.syntax.pipeline import describe_options
from loopwright.passes.transformations.registry import all_transformations
from loopwright.universe import LOOPWRIGHT_UNIVERSE

FOLDER = Path(__file__).parents[1] / "docs" / "reference"

TRANSFORMATIONS = """\
# Transformations

Written by `tools/reference.py` from the code. Each section has the effect with *before -> after*,
the pass of a pipeline, the operation of the `schedule` dialect, the letters of the compact notation
and the options. [Schedules](schedules.md) explains these formats and the names of loops.

Every step is checked against the dependences of the program when it is added; an illegal one is
refused with a reason.
"""

CLI = """\
# Command line

Written by `tools/reference.py` from the parsers of the commands. All commands but `machine`,
`train`, `calibrate`, `data`, `bench`, `cc`, `serve` and `completion` take a program: a file in
affine MLIR or [C](c.md), or the name of a [shipped kernel](kernels.md).

Results go to standard output, with `--json` as [documents](json.md); messages, warnings and
progress to standard error.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | a mistake, with one message; results that differ; a schedule that could not be proved |
| 130 | ended by Ctrl-C, with what was found until then |
| 141 | standard output was closed |
| 143 | ended by SIGTERM, as by Ctrl-C |
"""

OPT = """\
## loopwright-opt

xDSL's driver with the dialects, passes and messages of loopwright: it reads a module, runs the
passes of `-p PIPELINE` and prints the result. A transformation as a pass appends a step to the
`schedule.sequence` of the function that `func` names (needed where there are several). Passes of
xDSL can stand beside ours; `loopwright-opt --help` lists all of them and the options of the driver.

Besides the [transformations](transformations.md) there are:
"""


def transformations_page() -> str:
    """The page with all transformations, in alphabetical order."""
    # Those of plug-ins that happen to be installed are not ours to describe.
    known = {
        name: cls
        for name, cls in all_transformations().items()
        if cls.__module__.startswith("loopwright.")
    }
    rows = [(f"[`{name}`](#{name})", _summary(cls)) for name, cls in known.items()]
    sections = (_transformation(name, cls) for name, cls in known.items())
    return "\n".join([TRANSFORMATIONS, *_table(("step", "effect"), rows), "", *sections])


def _summary(cls: type) -> str:
    return (inspect.getdoc(cls) or "").splitlines()[0]


def _transformation(name: str, cls: type[Transformation]) -> str:
    letters = cls.symbol.replace("{}", "<number of loops>") or name
    signature = describe_options(cls)
    formats = [
        ("pass", f"`{name}{{{signature}}}`" if signature else f"`{name}`"),
        ("operation", f"`{_operation(name, cls)}`"),
        ("compact notation", f"`{letters}(...)`"),
    ]
    options = [
        (f"`{field.name.replace('_', '-')}`", field.metadata["doc"], _default(field))
        for field in dataclasses.fields(cls)
    ]
    return "\n".join(
        [
            f"## {name}\n",
            f"{inspect.getdoc(cls)}\n",
            *_table(("format", ""), formats),
            "",
            *_table(("option", "meaning", "default"), options),
            "",
        ]
    )


def _operation(name: str, cls: type[Transformation]) -> str:
    """The syntax of the operation: operands, then options behind their keywords."""
    fields = {field.name: field for field in dataclasses.fields(cls)}
    results = "%NEW, ... = " if "names" in fields else ""
    words = [f"{results}schedule.{name.replace('-', '_')}", "%LOOP, ..."]
    for field in fields.values():
        if field.name not in ("loops", "names"):
            text = f"{field.metadata.get('keyword', field.name)} {field.name.upper()}"
            required = field.default is dataclasses.MISSING
            words.append(text if required else f"[{text}]")
    return " ".join(words)


def _default(field: dataclasses.Field[object]) -> str:
    if field.default is dataclasses.MISSING:
        return "required"
    return "" if field.default in ((), None, "") else f"`{str(field.default).lower()}`"


def cli_page() -> str:
    """The page with the options of all commands."""
    rows = [(f"[`{name}`](#loopwright-{name})", text) for name, text in COMMANDS.items()]
    sections = (_command(parser_of(name)) for name in COMMANDS)
    ours = LOOPWRIGHT_UNIVERSE.all_passes
    passes = [
        (f"`{name}{{{describe_options(cls)}}}`", _summary(cls))
        for name, cls in ((name, factory()) for name, factory in sorted(ours.items()))
        if name not in all_transformations()
    ]
    return "\n".join(
        [
            CLI,
            *_table(("command", "what it does"), rows),
            "",
            *sections,
            OPT,
            *_table(("pass", "effect"), passes),
            "",
        ]
    )


def _command(parser: argparse.ArgumentParser, level: int = 2) -> str:
    lines = [f"{'#' * level} {parser.prog}\n", f"{_sentence(parser.description or '')}\n"]
    actions = [action for action in parser._actions if action.dest != "help"]
    nested = [a for a in actions if isinstance(a, argparse._SubParsersAction)]
    rows = [
        (f"`{_usage(action)}`", action.help or "") for action in actions if action not in nested
    ]
    if rows:
        lines += [*_table(("argument", "meaning"), rows), ""]
    lines += _epilog(parser.epilog or "")
    for action in nested:
        lines += [_command(sub, level + 1) for sub in action.choices.values()]
    return "\n".join(lines)


def _sentence(text: str) -> str:
    return text if text.endswith((".", ":")) else f"{text[:1].upper()}{text[1:]}."


def _usage(action: argparse.Action) -> str:
    """An argument as a help text has it: `-t T, --threads T`."""
    choices = "{" + ",".join(map(str, action.choices)) + "}" if action.choices else None
    value = action.metavar or choices or action.dest.upper()
    if action.nargs == 0:
        value = ""
    elif action.nargs == "?":
        value = f"[{value}]"
    elif action.nargs in ("*", "+"):
        value = f"{value} ..."
    names = action.option_strings or [""]
    return ", ".join(f"{name} {value}".strip() for name in names)


def _epilog(text: str) -> Iterator[str]:
    """Paragraphs of a long help, and its examples as a block of code."""
    prose, _, examples = text.partition("examples:\n")
    if prose.strip():
        yield f"{prose.strip()}\n"
    if examples:
        yield f"```sh\n{inspect.cleandoc(examples)}\n```\n"


def _table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(header)} |"
    yield f"|{'---|' * len(header)}"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"


PAGES = {
    "transformations.md": transformations_page,
    "cli.md": cli_page,
    "calls.md": calls_page,
    "json.md": json_page,
}


def main() -> None:
    """Writes all pages."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page())
        print(f"wrote {FOLDER / name}")


if __name__ == "__main__":
    main()
