"""What random C files are made of: types, loops, walks of pointers, expressions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Value:
    """An expression, and whether its type is an integer's."""

    text: str
    is_integer: bool


@dataclass(frozen=True)
class Loop:
    """A loop variable from 0 to a bound."""

    name: str
    bound: str


INTEGERS = (
    *("int", "int", "int", "unsigned", "short", "unsigned short", "unsigned char"),
    *("signed char", "char", "long", "unsigned long", "_Bool"),
)
FLOATS = ("double", "double", "float")
OPERATORS = ("+", "-", "*")
BITS = ("&", "|", "^")
SIGNS = ("<", "<=", ">", ">=", "==", "!=")
HEAD = """\
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
static int calls;
static inline int to_int(double x) { return x > 100 ? 100 : x > -100 ? (int)x : -100; }
static double square(double x) { return x * x; }
static int clamp(int x, int low, int high) {
    if (x < low) return low;
    if (x > high)
        return high;
    return x;
}
"""
LOOPS = (
    "for (int {v} = 0; {v} < {n}; {v}++)",
    "for (int {v} = 0; {v} < {n}; {v}++)",
    "for (int {v} = 0; {v} < {n}; ++{v})",
    "for (int {v} = 0; {v} <= {n} - 1; {v} += 1)",
    "for (int {v} = 1; {v} < {n} - 1; {v}++)",
    "for (int {v} = 1; {v} < {n}; {v}++)",
    "for (int {v} = 0; {v} < {n}; {v} += 2)",
    "for (int {v} = {n} - 1; {v} >= 0; {v}--)",
    "for (int {v} = {n}; {v}-- > 0;)",
    "for (long {v} = 0; {v} < {n}; {v}++)",
    "for (int {v} = 0; {v} != {n}; {v}++)",
    "for (size_t {v} = 0; {v} < {n}; {v}++)",
    "for (unsigned {v} = 0; {v} < {n}; {v}++)",
    "for (unsigned {v} = 0; {v} + 1 < {n}; {v}++)",
    "for (size_t {v} = {n}; {v}-- > 0;)",
    "for ({v} = 0; {v} < {n}; {v}++)",
    "for ({v} = 0; {v} < {n}; {v}++)",
    "for ({v} = {n} - 1; {v} > 0; {v}--)",
    "for ({v} = 0; {n} > {v}; {v}++)",
)
SHORT_LOOPS = (
    "for (unsigned char {v} = 0; {v} < {n}; {v}++)",
    "for (short {v} = 0; {v} < {n}; {v} += 3)",
    "for (signed char {v} = 1; {v} <= {n}; {v}++)",
    "for (unsigned short {v} = {n}; {v}-- > 0;)",
)
"""The same with variables of short types."""
TRIANGLES = (
    "for (int {i} = 0; {i} < {n}; {i}++) for (int {j} = 0; {j} <= {i}; {j}++)"
    " {a}[{i} * ({i} + 1) / 2 + {j}] = {value};",
    "int {k} = 0; for (int {i} = 0; {i} < {n}; {i}++) for (int {j} = 0; {j} <= {i}; {j}++)"
    " {a}[{k}++] = {value};",
    "for (int {i} = 0; {i} < {n}; {i}++) for (int {j} = {i}; {j} < {n}; {j}++)"
    " {a}[{j} * ({j} + 1) / 2 + {i}] = {value};",
    "int {k} = 0; for (int {i} = 0; {i} < {n}; {i}++) {{ for (int {j} = 0; {j} < {i}; {j}++)"
    " {a}[{k} + {j}] = {value}; {k} += {i} + 1; }}",
)
"""Packed triangles."""
NESTED = (
    "for (int {v} = 0; {v} <= {o}; {v}++)",
    "for (int {v} = 0; {v} < {o}; {v}++)",
    "for ({v} = {o}; {v} < {n}; {v}++)",
    "for (int {v} = MAX({o} - 1, 0); {v} < MIN({o} + 2, {n}); {v}++)",
    "for (int {v} = 0; {v} < 3 && {v} < {n}; {v}++)",
)
"""Where an outer loop with the same bound has the variable {o}."""
WALKS = (
    "for ({i} = 0; {i} < {n}; {i}++) *{q}++ = {value};",
    "for ({i} = 0; {i} < {n}; {i}++, {q}++) {{ *{q} = {value}; }}",
    "for ({i} = 0; {i} < {n}; {i}++) {{ {q}[0] = {value}; {q}[1] = 3; {q} += 2; }}",
    "int {k} = {n}; while ({k}-- > 0) *{q}++ = {value};",
    "int {k} = {n}; while ({k} > 0) {{ *{q}++ = {value}; --{k}; }}",
    "if ({n} > 0) {{ int {k} = {n}; do {{ *{q}++ = {value}; }} while (--{k}); }}",
    "for ({type} *{r} = {q}, *{e} = {q} + {n}; {r} < {e}; {r}++) *{r} = {value};",
    "{type} *{r}, *{e}; for ({r} = {q}, {e} = {q} + {n}; {r} != {e}; ++{r}) *{r} = {value};",
    "{type} *{e} = {q} + {n}; while ({q} < {e}) *{q}++ = {value};",
    "{type} *{r} = {q}, *{e} = {r} + {n}; while ({r} < {e}) {{ *{r} = {value}; {r}++; }}",
    "{q} += {n}; for ({i} = 0; {i} < {n}; {i}++) *--{q} = {value};",
    "for ({i} = 0; {i} < {n}; {i}++) {{ {type} *{r} = {q} + {i} * {m};"
    " for (int {j} = 0; {j} < {m}; {j}++) *{r}++ = {value}; }}",
    "for ({i} = 0; {i} < {n}; {i}++) {{ for (int {j} = 0; {j} < {m}; {j}++) *{q}++ = {value};"
    " {q} += 3; }}",
    "for ({i} = 0; {i} < {n}; {i}++) {{ for (int {j} = 0; {j} < {m}; {j}++) {q}[{j}] = {value};"
    " {q} += {m}; }}",
    "for ({i} = 0; {i} < {n}; {i}++) {{ if ({test}) *{q} = {value}; {q}++; }}",
    "for ({i} = 0; {i} < {n}; {i}++) if ({test}) *{q}++ = {value};",
    "for ({type} *{r} = {q}, *{e} = {q} + {n} - 1; {r} < {e}; {r}++, {e}--)"
    " {{ {type} {k} = *{r}; *{r} = *{e}; *{e} = {k}; }}",
    "for (int {j} = 0, {k} = {n} - 1; {j} < {k}; {j}++, {k}--)"
    " {{ {type} {e} = {q}[{j}]; {q}[{j}] = {q}[{k}]; {q}[{k}] = {e}; }}",
    "for (int {j} = 0, {k} = {n} - 1; {j} < {n}; {k} = {j}++) {q}[{j}] = {q}[{k}] - {value};",
    "for ({i} = 0; {i} < {n}; {i}++) {{"
    " if ({i} == 0 || {i} == {n} - 1) {{ {q}[{i}] = {value}; continue; }}"
    " {q}[{i}] = {q}[{i} - 1] - {q}[{i} + 1]; }}",
    "for ({i} = 0; {i} < {n}; {i}++) for (int {j} = 0; {j} + {i} < {m}; {j}++)"
    " {q}[{j} + {i}] = {value};",
)
"""Pointers {q}, and with `*{p}++` in the value a second one."""


ANY = (
    *("({x} + {y})", "({x} - {y})", "({x} * {y})", "({x} + {y})", "({x} - {y})", "({x} * {y})"),
    *("({test} ? {x} : {y})", "({test} ? {x} : {y})", "(-({x}))", "MAX({x}, {y})", "MIN({x}, {y})"),
)
"""Expressions that have the type of what they are made of, of integers alone, and of numbers."""
WHOLE = (
    *("({i} & {j})", "({i} | {j})", "({i} ^ {j})", "({i} / 3)", "({i} % 5)", "({i} << 2)"),
    *(
        "({i} >> 1)",
        "abs({i})",
        "clamp({i}, 0, 9)",
        "(unsigned char)({i})",
        "(short)({i})",
        "(!{i})",
    ),
    *("(~{i})", "({x} < {y})"),
)
REAL = (
    "({x} / 4.0)",
    "fabs({x})",
    "square({x})",
    "(float)({x})",
    "fmin({x}, 2.5)",
    "sqrt(fabs({x}))",
)
STYLES = (*("flat",) * 6, "rows", "variable", "points", "structure")


def without_endless(forms: Sequence[str], smallest: int) -> list[str]:
    """The loops that end where sizes are at least as large as the smallest one."""
    endless = ("unsigned {", "unsigned short", "size_t", "!=") if smallest < 0 else ()
    return [form for form in forms if not any(each in form for each in endless)]
