"""C headers with documented functions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap

from ...lowering.llvm.entry_points import Status
from ...lowering.llvm.options import Options
from ...passes.schedules.schedule import Schedule
from ...support.version import __version__
from .interface import Interface

_MEANINGS = {
    Status.OK: "the results are there",
    Status.OUT_OF_MEMORY: "arrays of its own could not be allocated; results are worthless",
    Status.OUT_OF_BOUNDS: "with these sizes it would leave an array or 64 bits; nothing happened",
    Status.OVERLAP: "two arrays overlap, and one is written; nothing has happened",
    Status.MISALIGNED: "an array is not aligned to its elements; nothing has happened",
    Status.WRONG_SHAPE: "an extent is not the one it must be; nothing has happened",
    Status.NULL_POINTER: "an array that has elements is NULL; nothing has happened",
    Status.UNSUPPORTED_PROCESSOR: "there is no code for this processor; nothing has happened",
    Status.WRONG_SUBSCRIPT: "a subscript among the data is outside of its array; results are "
    "worthless",
}

_RULES = """\
Arrays are contiguous and row-major: element [i][j] of an array of n x m elements is
array[i * m + j]. They are aligned to the size of an element at least (64 bytes are best), and one
that is written overlaps no other one. Functions may be called from several threads at once.
Every function returns a status, LOOPWRIGHT_OK (0) when all went well."""


@dataclass(frozen=True)
class Entry:
    """A function in a header: its interface and its schedules, by LLVM's name of the processor."""

    interface: Interface
    schedules: Mapping[str, Schedule | None]
    parallel: bool


def header_text(
    name: str, entries: Sequence[Entry], link: str, options: Options, others: Sequence[str] = ()
) -> str:
    """The text of the header `name`.h; `link` is the command that links a program.

    `others` are declarations besides those of the functions.
    """
    guard = include_guard(name, "H")
    parts = [
        f"/* Made by loopwright {__version__}. Link a program with it by\n"
        + f" *     {_quoted(link)}\n *\n"
        + "".join(f" * {line}\n" for line in _RULES.splitlines())
        + " */",
        f"#ifndef {guard}\n#define {guard}",
        "#include <stdbool.h>\n#include <stdint.h>",
        '#ifdef __cplusplus\nextern "C" {\n#endif',
        _statuses(),
        *others,
        *(_function(entry, options) for entry in entries),
        "#ifdef __cplusplus\n}\n#endif",
        "#endif",
    ]
    return "\n\n".join(parts) + "\n"


def include_guard(name: str, kind: str) -> str:
    """The macro of a header file that says whether it was included."""
    return f"LOOPWRIGHT_{re.sub(r'[^A-Z0-9]', '_', name.upper())}_{kind}"


def _statuses() -> str:
    rows: list[str] = []
    for status in Status:
        comma = "," if status is not max(Status) else ""
        rows.append(f"    /* {_MEANINGS[status]} */")
        rows.append(f"    LOOPWRIGHT_{status.name} = {status.value}{comma}")
    lines = ["enum loopwright_status {", *rows, "};"]
    text = "\n".join(lines)
    return f"#ifndef LOOPWRIGHT_STATUS\n#define LOOPWRIGHT_STATUS\n{text}\n#endif"


def _function(entry: Entry, options: Options) -> str:
    documentation = _documentation(entry, options)
    lines = [f" * {_quoted(line)}".rstrip() for line in documentation]
    return "\n".join(["/**", *lines, " */", entry.interface.prototype])


def _quoted(line: str) -> str:
    """The text, of which names of a program or a file are part, as one line of a comment."""
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
    return shown.replace("*/", "* /").replace("/*", "/ *")


def _documentation(entry: Entry, options: Options) -> Iterator[str]:
    interface = entry.interface
    processors = ", ".join(entry.schedules)
    yield f"The function @{interface.signature.kernel}, compiled for {processors}."
    yield ""
    sizes = ", ".join(
        f"{name} = {size}" for name, size in interface.sizes.items() if name in interface.fixed
    )
    yield from wrap(f"Fixed sizes: {sizes or 'none'}.", 96, subsequent_indent="    ")
    yield f"Threads: {_threads(entry, options)}."
    if options.fast_math:
        yield "Floating-point operations may have been reassociated and approximated (fast math)."
    for processor, schedule in entry.schedules.items():
        steps = schedule.transformations if schedule is not None else ()
        title = "Schedule" if len(entry.schedules) == 1 else f"Schedule for {processor}"
        yield f"{title}:" if steps else f"{title}: the loops as written."
        for number, step in enumerate(steps, start=1):
            yield f"    {step}{',' if number < len(steps) else ''}"
    yield ""
    width = max((len(parameter.name) for parameter in interface.parameters), default=0)
    for parameter in interface.parameters:
        yield f"@param {parameter.name:<{width}} {parameter.meaning}"
    yield "@return an enum loopwright_status"


def _threads(entry: Entry, options: Options) -> str:
    if not entry.parallel:
        return "one"
    return str(options.num_threads or "as many as OpenMP gives (OMP_NUM_THREADS)")
