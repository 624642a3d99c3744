"""Drivers of C functions: `main` calls one with sizes and arrays, and prints what it did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

LARGEST = 17
"""Of the sizes: products of three are subscripts of an array."""

SIZES = ((7, 5), (1, 1), (0, 4), (4, 0), (2, LARGEST), (LARGEST, 16), (5, 7), (-3, 4), (6, -2))

_HEAD = """\
#include <stdio.h>
#include <stddef.h>
#include <string.h>
#define LENGTH 16000
#define START 2000
long optimised_calls;
static unsigned long state = 1;
static unsigned next(void) {
    state = state * 6364136223846793005ul + 1442695040888963407ul;
    return (unsigned)(state >> 40);
}
static unsigned long hash = 0;
static void add(const void *data, size_t size) {
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * 1099511628211ul;
}
static const double values[] = {-2.5, -1, 0, 0.5, 1, 3, 7.25, 100, 0.1, -0.0};
"""


@dataclass(frozen=True)
class Argument:
    """An array: how a function declares it."""

    name: str
    type: str
    style: str
    is_const: bool

    @property
    def is_float(self) -> bool:
        return self.type in ("float", "double")

    def structure(self) -> str:
        """The structure that this is or has the elements of."""
        if self.style == "points":
            return f"struct point_{self.name} {{ {self.type} x, y; }};\n"
        if self.style == "structure":
            return f"struct grid_{self.name} {{ int tag; {self.type} *cells; }};\n"
        return ""

    def parameter(self, restrict: str) -> str:
        """The declaration in the head of the function."""
        const = "const " if self.is_const else ""
        if self.style == "points":
            return f"{const}struct point_{self.name} *{restrict}{self.name}"
        if self.style == "structure":
            return f"{const}struct grid_{self.name} *{self.name}"
        if self.style == "pointers":
            return f"{self.type} **{self.name}"
        if self.style == "rows":
            return f"{const}{self.type} {self.name}[][{LARGEST}]"
        if self.style == "variable":
            return f"{const}{self.type} {self.name}[n][m]"
        return f"{const}{self.type} *{restrict}{self.name}"

    def functions(self) -> str:
        """The memory of the array, what fills it, and what adds it to the result."""
        a = self.name
        value = "values[next() % 10]" if self.is_float else "(next() % 5 ? next() % 9 : next())"
        # The sign and payload of a number that is none are not defined.
        kept = "if (v != v) v = 1e30;" if self.is_float else ""
        grid = f"static struct grid_{a} grid_{a} = {{5, memory_{a} + START}};\n"
        rows = f"static {self.type} *rows_{a}[{LARGEST}];\n"
        lead = f"memory_{a} + START + i * {LARGEST}"
        lead = f"    for (int i = 0; i < {LARGEST}; i++) rows_{a}[i] = {lead};\n"
        more = {"structure": grid, "pointers": rows}.get(self.style, "")
        return (
            f"static {self.type} memory_{a}[LENGTH];\n{more}"
            f"static void fill_{a}(void) {{\n{lead if self.style == 'pointers' else ''}"
            f"    for (int i = 0; i < LENGTH; i++) memory_{a}[i] = ({self.type}){value};\n}}\n"
            f"static void tell_{a}(void) {{\n    for (int i = 0; i < LENGTH; i++) {{\n"
            f"        {self.type} v = memory_{a}[i];\n        {kept}\n        add(&v, sizeof v);\n"
            f"    }}\n}}\n"
        )

    def passed(self, memory: str, offset: int) -> str:
        """The argument of a call: an element of the memory of this or another array."""
        if self.style == "structure":
            return f"&grid_{self.name}"
        if self.style == "pointers":
            return f"rows_{self.name}"
        place = f"memory_{memory} + START + {offset}"
        casts = {
            "points": f"(void *)({place})",
            "rows": f"(void *)({place})",
            "variable": f"(void *)({place})",
        }
        return casts.get(self.style, place)


def driver(
    structures: str,
    head: str,
    result: str,
    arrays: Sequence[Argument],
    smallest: int,
    is_restrict: bool,
) -> str:
    """The text; each call is a line of output."""
    text = f"{_HEAD}{structures}{head};\n{''.join(each.functions() for each in arrays)}"
    fill = "".join(f"fill_{each.name}(); " for each in arrays)
    tell = "".join(f"tell_{each.name}(); " for each in arrays)
    lines: list[str] = []
    for n, m in SIZES:
        if min(n, m) < smallest:
            continue
        for passed in _passed(arrays, is_restrict or n < 5):
            call = f"f({n}, {m}, {', '.join(passed)});"
            if result != "void":
                call = f"{{ {result} r = {call} if (r != r) r = 77; add(&r, sizeof r); }}"
            lines.append(
                f"    hash = 0; {fill}{call} {tell}"
                f'printf("%d %d %lx\\n", {n}, {m}, hash); fflush(stdout);'
            )
    body = "\n".join(lines)
    end = '    fprintf(stderr, "%ld\\n", optimised_calls);\n    return 0;\n'
    return f"{text}int main(void) {{\n{body}\n{end}}}\n"


def _passed(arrays: Sequence[Argument], only_apart: bool) -> list[list[str]]:
    """The arguments of calls: arrays that are apart, and such that overlap."""
    found = [
        [each.passed(each.name, 0) for each in arrays],
        [each.passed(each.name, 2 * position + 1) for position, each in enumerate(arrays)],
    ]
    first = arrays[0]
    if only_apart or first.style in ("structure", "pointers") or len(arrays) == 1:
        return found
    for offset in (0, 1, -1, 6):
        found.append(
            [
                each.passed(first.name if each.type == first.type else each.name, offset)
                if position
                else each.passed(each.name, 0)
                for position, each in enumerate(arrays)
            ]
        )
    return found
