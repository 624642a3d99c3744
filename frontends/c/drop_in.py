"""Drop-in sources: a C file whose regions are replaced by calls of optimised code."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from xdsl.dialects import func

from ...dialects.errors import SourceError
from ...dialects.marks import FULL_RANGE
from ...passes.machine.target import Target
from ...passes.polyhedral.isl_context import TooComplexError
from ...passes.schedules.errors import TransformationError
from ...runtime.calling.api_checks import (
    check_flags,
    check_path,
    check_sizes,
    check_target,
    check_text,
    check_texts,
    check_threads,
)
from ...support.markup import MOST_COLUMNS, MOST_ROWS, notebook, table
from ...support.output_files import write_output
from ...support.summaries import shortened
from .c_file import read_regions, read_source
from .c_source import CSource
from .call_check import Entry, Kernel, entry
from .clang_library import macro_names
from .flags import LIMITED_RANGE, UNKNOWN_TO_CLANG, may_fuse, may_race
from .machine_code import machine_code
from .memory_checks import check_conditional_accesses, check_gathers
from .optimised import PREFIX, Options, c_text, optimised_loops
from .regions import Region
from .translate import Translation
from .tree import Block, Declare, Name, all_statements, expressions_of, walk
from .variables import assigned_symbols, loop_symbols
from .visible_names import check_visible


@dataclass(frozen=True)
class DropIn:
    """The text of a drop-in source, the regions that it replaces, and why others stay."""

    text: str
    replaced: tuple[str, ...]
    left_out: tuple[SourceError, ...]

    def __repr__(self) -> str:
        return f"<DropIn of {len(self.replaced)} regions; {len(self.left_out)} stay as they are>"

    def _repr_html_(self) -> str:
        """The regions and what became of them, for notebooks."""
        rows = [["region", ""], *([name, "replaced"] for name in self.replaced)]
        for each in self.left_out:
            place = "" if each.location is None else f"line {each.location.line}"
            rows.append([place, f"as written: {each.message}"])
        shown = [
            [shortened(cell, 2 * MOST_COLUMNS) for cell in row] for row in rows[: MOST_ROWS + 1]
        ]
        return notebook("Drop-in source", table(shown), len(rows) - 1)


@dataclass(frozen=True)
class _Replacement:
    region: Region
    entry: Entry
    loops: func.FuncOp | None
    assembly: str = ""
    behind: str = ""
    heads: Sequence[str] = ()


def drop_in(
    path: str | Path,
    output: str | Path,
    *,
    schedule: str | None = None,
    sizes: Mapping[str, int] | None = None,
    threads: int | None = 1,
    fast_math: bool = False,
    target: Target | None = None,
    cflags: Sequence[str] = (),
    machine_code: bool = False,
) -> DropIn:
    """Writes a copy of a C file in which calls of optimised code stand for the affine regions.

    The calls check sizes and aliasing when they run, and the region as written runs where a check
    fails. `schedule` is a text; without it, each region gets the default schedule for large arrays.
    The code is for `sizes` only, and for all that are not given. With other `threads` than 1, loops
    may have OpenMP pragmas. Schedules are for `target`, by default this machine. `cflags` are what
    a C compiler needs for the file. With `machine_code`, the loops are machine code for the target,
    in assembly statements; products and sums are fused unless `cflags` are for ISO C (`-std=c99`)
    or have `-ffp-contract=off`. With `-fallow-store-data-races` or `-Ofast` among them, what is
    written under a condition may always be written. Raises SourceError, OSError.
    """
    for name, each in (("path", path), ("output", output)):
        check_path("drop_in", name, each)
    check_flags("drop_in", fast_math=fast_math, machine_code=machine_code)
    check_threads("drop_in", threads)
    check_sizes("drop_in", sizes)
    check_texts("drop_in", "cflags", cflags)
    if schedule is not None:
        check_text("drop_in", "schedule", schedule)
    check_target("drop_in", target)
    fuses, races = may_fuse(cflags), may_race(cflags)
    options = Options(schedule, sizes, threads, fast_math, target, machine_code, fuses, races)
    known = [each for each in cflags if each not in UNKNOWN_TO_CLANG]
    made = drop_in_text(path, str(output), known, options)
    write_output(output, made.text)
    return made


def drop_in_text(path: str | Path, name: str, flags: Sequence[str], options: Options) -> DropIn:
    """The drop-in source of a C file, which will be called `name`; raises SourceError, OSError."""
    source = read_source(path)
    if options.fast_math:
        flags = [LIMITED_RANGE, *flags]

    def check(translation: Translation) -> None:
        _check(translation, options)

    found = read_regions(source, flags, check)
    replacements: list[_Replacement] = []
    left_out = list(found.left_out)
    for translation in found.translations:
        try:
            if translation.region.is_marked:
                check(translation)
            replacements.append(_replacement(translation, options))
        except SourceError as error:
            place = error.location or translation.region.place
            left_out.append(SourceError(error.message, place, error.hint))
        except (TransformationError, TooComplexError) as error:
            left_out.append(SourceError(str(error), translation.region.place))
    text = _spliced(source, name, replacements, macro_names(source, flags))
    names = tuple(each.region.name for each in replacements)
    return DropIn(text, names, tuple(left_out))


def _check(translation: Translation, options: Options) -> None:
    """Raises SourceError for a region that no call may stand for."""
    _check_place(translation)
    _check_products(translation)
    _check_threads(translation, options)
    check_gathers(translation)
    check_conditional_accesses(translation)


def _replacement(translation: Translation, options: Options) -> _Replacement:
    region, function = translation.region, translation.function
    behind, heads = _rotations(translation), _heads(translation)
    kernel, name = f"{PREFIX}{region.name}_loops", f"{PREFIX}{region.name}"
    fixed = dict(options.sizes or {})
    code = machine_code(function, options, kernel) if options.machine_code else None
    if code is not None:
        called = Kernel(kernel, code.limits, True, code.failures)
        made = entry(translation, function.scop, called, name, fixed)
        return _Replacement(region, made, None, code.text, behind, heads)
    loops, limits = optimised_loops(function, options, kernel)
    made = entry(translation, function.scop, Kernel(kernel, limits), name, fixed)
    return _Replacement(region, made, loops, behind=behind, heads=heads)


def _rotations(translation: Translation) -> str:
    """Loops that rotate pointers as the region does; raises SourceError for what is no such text.

    for (t = 0; t < T; t++) { f(a, b); p = a; a = b; b = p; }
        ->   else { for (t = 0; t < T; t++) { p = a; a = b; b = p; } }
    """
    texts: list[str] = []
    declarations: dict[str, None] = {}
    data = translation.region.function.source.data
    statements = translation.region.block.statements
    declared = [each for each in statements if isinstance(each, Declare)]
    assigned = assigned_symbols(statements, loop_symbols(statements)).keys()
    for each in translation.rotations:
        loop = each.loop
        head = data[loop.start : loop.body.start].decode(errors="replace")
        parts = (*expressions_of(loop.first), loop.test, loop.step)
        names = {one.symbol for part in parts for one in walk(part) if isinstance(one, Name)}
        extents = dict.fromkeys((one.start, one.end) for one in each.copies)
        others = [
            one
            for one in all_statements(loop.body.statements)
            if one not in each.copies and not isinstance(one, Block)
        ]
        overlaps = (one.start < end and begin < one.end for one in others for begin, end in extents)
        if not _HEAD.fullmatch(head) or names & assigned or any(overlaps):
            raise SourceError(
                f"the pointer '{each.pointers[0].name}' is used behind a loop that swaps it",
                loop.place,
                "write `for (t = a; t < b; t++)`, with a statement for each pointer",
            )
        own = [one for one in declared if one.symbol in names | each.targets]
        declarations |= {data[one.start : one.end].decode(): None for one in own}
        copies = (data[begin:end].decode() for begin, end in extents)
        body = " ".join(text if text.endswith(";") else f"{text};" for text in copies)
        texts.append(f"{head.rstrip()} {{ {body} }}")
    return f" else {{ {' '.join((*declarations, *texts))} }}" if texts else ""


_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)

_HEAD = re.compile(r"for\s*\([^;,]*;[^;,]*;[^;,]*[-+=][^;,]*\)\s*")
"""The head of a loop that sets nothing but its variable."""


def _check_place(translation: Translation) -> None:
    """Raises SourceError where a call cannot stand for the region."""
    region = translation.region
    for symbol in translation.ended_loops:
        raise SourceError(
            f"the loop variable '{symbol.name}' is read behind the region",
            region.place,
            "declare it in the loop",
        )
    for symbol in () if _heads(translation) else translation.uncertain_reads:
        raise SourceError(
            f"'{symbol.spelling}' is read only where a loop or condition runs: its pointer may "
            "lead nowhere else",
            region.place,
            "copy it into a variable before the region",
        )
    if not region.keeps_jumps:
        raise SourceError(
            "a jump leads out of this region, or into its middle",
            region.place,
            "put all of the statements that it passes into the region",
        )
    check_visible([each.symbol for each in translation.parameters], region)
    function = region.function
    head = function.source.data[function.start : function.body.start].decode(errors="replace")
    if not function.is_static and re.search(r"\binline\b", head):
        raise SourceError(
            f"'{function.name}' is inline, and may not call static functions",
            region.place,
            "make it static inline",
        )
    if not region.has_own_text:
        raise SourceError(
            "the region is a part of what a macro expands to, or of what a jump leaves",
            region.place,
            "write the loop outside of the macro, or without the jump",
        )


def _check_products(translation: Translation) -> None:
    """Raises SourceError for products of complex numbers that recover infinities.

    They are several times the work of the formula, where C has a branch that is never taken.
    """
    for line, node in zip(translation.code.splitlines(), translation.nodes, strict=True):
        if "complex.mul" in line and FULL_RANGE in line:
            raise SourceError(
                "a product of complex numbers recovers infinities from NaN: C is as fast",
                translation.place(node),
                f"give {LIMITED_RANGE} if there are none",
            )


def _heads(translation: Translation) -> list[str]:
    """The heads of the loops that C follows pointers in, without steps; none where unknown."""
    found: list[str] = []
    data = translation.region.function.source.data
    for each in translation.running:
        head = data[each.start : each.body.start].decode(errors="replace")
        head = _COMMENT.sub(" ", head)
        match = re.match(r"for\s*\([^;]*;[^;]*;", head)
        if match is None:
            return []
        found.append(match.group())
    return found


def _condition(heads: Sequence[str]) -> tuple[str, str]:
    """What tells whether loops run: statements, and the condition that they do not.

    for (int i = 0; i < g->n; i++) ...   ->   int runs = 0; for (int i = 0; i < g->n;) { runs = 1;
                                              break; }
    """
    if not heads:
        return "", ""
    name = f"{PREFIX}runs"
    loops = "".join(f"{each}) {{ " for each in heads)
    ends = "break; }" * len(heads)
    return f"int {name} = 0; {loops}{name} = 1; {ends} ", f"!{name} || "


def _check_threads(translation: Translation, options: Options) -> None:
    """Raises SourceError where several threads of the program make a difference."""
    region = translation.region
    for symbol, node in () if options.allows_races else translation.conditional_stores:
        raise SourceError(
            f"'{symbol.name}' is written under a condition on data, and optimised code would "
            "always write it: another thread may do so at the same time",
            node.place,
            "write `x = test ? value : x`, or give -fallow-store-data-races, where none does",
        )
    data = region.function.source.data
    begin, end = _extent(data, region)
    for directive in re.findall(rb"#[ \t]*pragma[ \t]+omp[ \t]+([^\n]*)", data[begin:end]):
        words = directive.decode(errors="replace").split()
        if words[:1] == ["simd"]:
            continue
        if words[:2] != ["parallel", "for"]:
            raise SourceError(
                f"the region is shared among threads: #pragma omp {' '.join(words[:2])}",
                region.place,
                "mark a region around the whole parallel part",
            )
        if options.threads == 1:
            raise SourceError(
                "the region has OpenMP pragmas, and optimised code is for one thread",
                region.place,
                "give --threads",
            )


def _spliced(
    source: CSource, name: str, replacements: Sequence[_Replacement], macros: set[str]
) -> str:
    """The file with calls in place of the regions, and what they call at its end."""
    if not replacements:
        return source.text
    data = source.data
    heads: dict[int, list[str]] = {}
    for each in replacements:
        heads.setdefault(each.region.function.start, []).append(each.entry.prototype)
    edits: list[tuple[int, int, str]] = []
    for start, texts in heads.items():
        begin = _line_start(data, start)
        text = "".join(f"{text}\n" for text in texts) + _line_mark(source, begin)
        edits.append((begin, begin, text))
    for each in replacements:
        begin, end = _extent(data, each.region)
        original = re.sub(
            rb"^[ \t]*#[ \t]*pragma[ \t]+(end)?scop\b[^\n]*", b"", data[begin:end], flags=re.M
        ).decode()
        before, stops = _condition(each.heads)
        text = f"{{ {before}if ({stops}!{each.entry.call}) {{\n"
        text += f"{_line_mark(source, begin)}{_blank(data, begin)}"
        text += f"{original}\n}}{each.behind} }}\n{_line_mark(source, end)}{_blank(data, end)}"
        edits.append((begin, end, text))
    pieces: list[str] = []
    position = 0
    for begin, end, text in sorted(edits):
        pieces += [data[position:begin].decode(), text]
        position = end
    pieces.append(data[position:].decode().rstrip("\n") + "\n")
    text = _line_directive(1, source.file) + "".join(pieces)
    loops = [each.loops for each in replacements if each.loops is not None]
    code = c_text(loops, [each.entry.body for each in replacements])
    used = set(re.findall(r"\b[A-Za-z_]\w*\b", code))
    # Those of the compiler itself begin with two underscores.
    undefined = sorted(each for each in macros & used - _KEPT if not each.startswith("__"))
    undefs = "".join(f"#undef {macro}\n" for macro in undefined)
    line = text.count("\n") + 2
    assembly = "".join(f"\n{each.assembly}" for each in replacements if each.assembly)
    return f"{text}{_line_directive(line, name)}{undefs}{_QUIET}{code}{assembly}"


_KEPT = frozenset(
    [
        *("NULL", "INFINITY", "NAN", "bool", "true", "false"),
        *("signbit", "isnan", "isinf", "isfinite", "isnormal", "isunordered", "islessgreater"),
        *("INT64_C", "INT64_MIN", "INT64_MAX", "INT32_MIN", "INT32_MAX"),
    ]
)
"""Macros of the C library that generated code uses."""

_QUIET = """\
#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif
"""


def _extent(data: bytes, region: Region) -> tuple[int, int]:
    """Where the text of a region begins and ends; marks, and pragmas before it, belong to it."""
    begin, end = region.block.start, region.block.end
    if region.is_marked:
        newline = data.find(b"\n", end)
        return begin, len(data) if newline < 0 else newline
    rest = re.match(rb"\s*;", data[end:])
    if rest is not None:
        end += rest.end()
    while True:  # such as #pragma omp parallel for
        start = _line_start(data, begin)
        before = data[:start].rstrip(b" \t\n")
        line = before[_line_start(before, len(before)) :]
        if data[start:begin].strip() or not re.match(rb"[ \t]*#[ \t]*pragma\b", line):
            return begin, end
        begin = _line_start(before, len(before))


def _line_start(data: bytes, offset: int) -> int:
    return data.rfind(b"\n", 0, offset) + 1


def _blank(data: bytes, offset: int) -> str:
    """Blanks in place of what is before it in its line, so that columns stay."""
    return " " * (offset - _line_start(data, offset))


def _line_mark(source: CSource, offset: int) -> str:
    return _line_directive(source.data.count(b"\n", 0, offset) + 1, source.file)


def _line_directive(line: int, file: str) -> str:
    quoted = file.replace("\\", "\\\\").replace('"', '\\"')
    return f'#line {line} "{quoted}"\n'
