"""The optimised loops of regions as C."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr

from ...dialects.errors import SourceError
from ...lowering.c import emit_c
from ...lowering.generate import generate
from ...lowering.loops.index_magnitudes import SizeLimits
from ...lowering.specialise import specialise
from ...passes.machine.target import Target
from ...passes.polyhedral.isl_context import ISL_LOCK
from ...passes.polyhedral.typical_sizes import typical_sizes
from ...passes.schedules.schedule import Schedule
from ...runtime.choosing.schedule_names import RULES
from ...runtime.jit.size_limits import generated_limits
from ...runtime.program import Function

PREFIX = "loopwright_"

_HELPERS = {
    "floord": "n / d - (n % d < 0)",
    "min": "n < d ? n : d",
    "max": "n > d ? n : d",
}
"""What the text of isl's expressions calls."""

ROWS = f"{PREFIX}joined_rows"

_JOINED_ROWS = f"""\
/* Row 0 of the array that rows lie in, and how many elements are from one to the next: at least
   as many as are accessed, or -1 where they do not lie so. */
static void *{ROWS}(
        const void *pointers, int64_t first, int64_t rows, int64_t size, int64_t *length) {{
    uintptr_t start = 0, next = 0, distance = *length * size;
    const char *at = (const char *)pointers + first * (int64_t)sizeof start;
    if (first < 0 || first >= rows)
        return 0;
    __builtin_memcpy(&start, at, sizeof start);
    for (int64_t row = first + 1; row < rows; row++) {{
        __builtin_memcpy(&next, at + (row - first) * sizeof next, sizeof next);
        if (row == first + 1) {{
            if (next - start < distance || next < start || (next - start) % size) {{
                *length = -1;
                return 0;
            }}
            distance = next - start;
        }} else if (next != start + (row - first) * distance) {{
            *length = -1;
            return 0;
        }}
    }}
    *length = distance / size;
    return (void *)(start - first * distance);
}}
"""
"""What finds the array that the rows of `T **` lie in."""


@dataclass(frozen=True)
class Options:
    """How regions are optimised: `schedule` is a text, or None for the default schedule.

    With `machine_code`, loops are our own machine code for the target, else C, whose compiler
    decides on its own which products and sums are fused. Where it `allows_races`, others may
    lose what they write while loops write back what was there.
    """

    schedule: str | None = None
    sizes: Mapping[str, int] | None = None
    threads: int | None = 1
    fast_math: bool = False
    target: Target | None = None
    machine_code: bool = False
    fuses_products: bool = True
    allows_races: bool = False


def given_sizes(function: Function, options: Options) -> dict[str, int]:
    """The sizes of a region that the code is for."""
    given = options.sizes or {}
    return {size.name: given[size.name] for size in function.scop.sizes if size.name in given}


def schedule_of(function: Function, options: Options, how: str) -> Schedule | None:
    """The schedule of a region; one that is not given is chosen as `how` says (None: as written).

    Raises SourceError and others.
    """
    scop = function.scop
    for statement in scop.statements:
        if statement.is_opaque:
            reason = "this has subscripts, bounds or jumps that depend on data or are not affine"
            raise SourceError.at(statement.body[0], reason)
    if options.schedule is None:
        with ISL_LOCK:
            typical = typical_sizes(scop, given_sizes(function, options))
        if typical is None:
            return None
        return function.choose_schedule(
            how,
            typical,
            threads=options.threads,
            fast_math=options.fast_math,
            target=options.target,
        )
    schedule = function.schedule(
        options.schedule, fast_math=options.fast_math, target=options.target
    )
    if schedule.run_time_sizes:
        raise SourceError(f"give the tile sizes {', '.join(schedule.run_time_sizes)} as numbers")
    return schedule


def optimised_loops(
    function: Function, options: Options, name: str
) -> tuple[func.FuncOp, SizeLimits]:
    """The loops of a region as a function of this name, which can be printed as C.

    With the sizes that they are for. Raises SourceError and others.
    """
    given = given_sizes(function, options)
    # The model has learned from our own vector code, which a C compiler does not get.
    schedule = schedule_of(function, options, RULES)
    with ISL_LOCK:
        if schedule is not None:
            loops = generate(schedule, given, vectors=False, trusted=True)
        else:
            loops = specialise(function.function, {}, {})
    limits = generated_limits(function.function, loops, function.scop, given)
    loops.properties["sym_name"] = StringAttr(name)
    loops.properties.pop("arg_attrs", None)  # the caller passes elements as signed ones
    emit_c(loops)  # raises for what C cannot express, which concerns this region alone
    return loops, limits


def c_text(loops: Sequence[func.FuncOp], entries: Sequence[str]) -> str:
    """Loops and the functions that call them, as static functions with names of their own."""
    text = emit_c(ModuleOp([each.clone() for each in loops]))
    lines = text.split("\n")
    includes = {line for line in lines if line.startswith("#include")}
    code = "\n".join(line for line in lines if not line.startswith("#include")).strip("\n")
    code = re.sub(rf"^void {PREFIX}", f"static void {PREFIX}", code, flags=re.MULTILINE)
    code = "\n\n".join([code, *entries]).lstrip("\n")
    if "abort();" in code:
        includes.add("#include <stdlib.h>")
    helpers = re.findall(r"^static inline [\w ]+?\*?(\w+)\(", code, flags=re.MULTILINE)
    missing = [
        f"static inline int64_t {name}(int64_t n, int64_t d) {{\n    return {body};\n}}\n"
        for name, body in _HELPERS.items()
        if name not in helpers and re.search(rf"\b{name}\(", code)
    ]
    code = "\n".join([*missing, code])
    for helper in {*helpers, *_HELPERS}:
        code = re.sub(rf"(?<![\w.]){helper}\(", f"{PREFIX}{helper}(", code)
    if f"{ROWS}(" in code:
        code = f"{_JOINED_ROWS}\n{code}"
    head = sorted({*includes, "#include <stdint.h>"})
    return "\n".join([*head, "", code])
