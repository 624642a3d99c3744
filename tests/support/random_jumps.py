"""Random C functions with `goto`, `break` and `continue`: regions, and drop-in sources of them."""

from __future__ import annotations

import ctypes
import random
import re
import subprocess
import tempfile
import traceback
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import loopwright
from loopwright.dialects.errors import SourceError

from .c_code import assert_same_with_jumps, compilers
from .pairs import ERROR, REFUSED, SAME, WRONG
from .supervision import Tell, Verdict

_LOOPS = (
    "for (int {0} = 0; {0} < n; {0}++) y[{0}] = 2 * x[{0}] + {1};",
    "for (int {0} = 0; {0} < n; {0}++) w[{0}] += y[{0}] * {1};",
    "for (int {0} = 1; {0} < n; {0}++) {{ x[{0}] = 0.25 * w[{0} - 1]; w[{0}] = {1}; }}",
)

_REFUSED = ("not supported", "too complex", "begins and ends in different blocks")
"""Messages for labels that stay, and for a region that ends at statements which never run."""


@dataclass
class _Body:
    """Makes statements; labels are further down in a block around the jumps to them."""

    random: random.Random
    has_loops: bool
    names: int = field(default=0)

    def name(self, prefix: str) -> str:
        """A name that is new."""
        self.names += 1
        return f"{prefix}{self.names}"

    def test(self, loops: list[str]) -> str:
        """A condition, on data where there is a loop around it."""
        chosen = self.random
        if not loops:
            return f"n > {chosen.randint(1, 9)}"
        i, value = chosen.choice(loops), chosen.randint(-3, 3)
        return chosen.choice([f"z[{i}] > {value}", f"x[{i}] < {value}", f"{i} > {value}"])

    def simple(self, loops: list[str]) -> str:
        """A statement that is no jump."""
        chosen, value = self.random, self.random.randint(1, 5)
        if self.has_loops and chosen.random() < 0.45:
            return chosen.choice(_LOOPS).format(self.name("a"), value)
        i, j = (chosen.choice(loops) if loops else "0" for _ in range(2))
        forms = (f"x[{i}] += {value};", f"y[{i}] = x[{j}] + {value};", f"y[{i}] += k;")
        return chosen.choice([*forms, f"k += {value};", f"x[{i}] = 0.5 * y[{j}];"])

    def block(self, loops: list[str], around: list[str], depth: int) -> str:
        """Some statements with labels between them."""
        count = self.random.randint(2, 5)
        labels = [
            (self.random.randint(1, count), self.name("to"))
            for _ in range(self.random.choice((0, 1, 1, 2)))
        ]
        parts: list[str] = []
        for position in range(count):
            parts += [f"{name}: ;" for at, name in labels if at == position]
            own = [name for at, name in labels if at > position]
            parts.append(self.statement(loops, [*own, *around], depth))
        parts += [f"{name}: ;" for at, name in labels if at == count]
        return " ".join(parts)

    def statement(self, loops: list[str], labels: list[str], depth: int) -> str:
        """A statement of any kind."""
        chosen, kind = self.random, self.random.random()
        if labels and kind < 0.3:
            return f"if ({self.test(loops)}) goto {chosen.choice(labels)};"
        if loops and kind < 0.36:
            return f"if ({self.test(loops)}) {chosen.choice(('break', 'continue'))};"
        if depth and kind < 0.5:
            ways = [self.block(loops, labels, depth - 1) for _ in range(chosen.randint(1, 2))]
            return f"if ({self.test(loops)}) {{ {' } else { '.join(ways)} }}"
        if depth and kind < 0.7:
            i = self.name("i")
            body = self.block([*loops, i], labels, depth - 1)
            return f"for (int {i} = 0; {i} < n; {i}++) {{ {body} }}"
        if labels and kind < 0.74:
            return f"{{ {self.simple(loops)} goto {chosen.choice(labels)}; }}"
        return self.simple(loops)


def jumping_body(seed: int, *, has_loops: bool) -> str:
    """Statements of this number, also with whole loops between the jumps."""
    text = _Body(random.Random(seed), has_loops).block([], [], 3)
    for label in re.findall(r"(to\d+): ;", text):
        if f"goto {label};" not in text:
            text = text.replace(f"{label}: ;", "")
    return text


def jumping_function(seed: int) -> str:
    """The C function of this number; those with odd numbers are for drop-in sources."""
    body = jumping_body(seed, has_loops=bool(seed % 2))
    head = "int f(int n, double *x, double *y, double *w, int *z)"
    return f"{head} {{\nint k = -1;\n{body}\nreturn k;\n}}\n" if seed % 2 else body


def compare(seed: int, folder: Path) -> bool:
    """Whether anything was compared with gcc; raises AssertionError where it is not the same."""
    if seed % 2:
        return _compare_drop_in(jumping_function(seed), folder)
    try:
        assert_same_with_jumps(folder / "f.c", jumping_function(seed), sizes=(2, 3, 9), seeds=2)
    except SourceError as error:
        assert any(each in error.message for each in _REFUSED), error
        return False
    return True


def _compare_drop_in(text: str, folder: Path) -> bool:
    (folder / "f.c").write_text(text)
    try:
        made = loopwright.drop_in(folder / "f.c", folder / "g.c", schedule="")
    except SourceError as error:
        assert "there is no loop" in error.message, error
        return False
    if not made.replaced:
        return False
    libraries: list[ctypes.CDLL] = []
    for name in ("f", "g"):
        output = folder / f"{name}.so"
        flags = ("-O1", "-w", "-ffp-contract=off", "-shared", "-fPIC")
        command = [compilers()[0], *flags, f"{folder / name}.c", "-o", str(output)]
        subprocess.run(command, check=True)
        libraries.append(ctypes.CDLL(str(output)))
    for n in (2, 3, 9):
        numbers = np.random.default_rng(n)
        first = [*numbers.standard_normal((3, n)), numbers.integers(-4, 5, n, dtype="i4")]
        results: list[tuple[int, list[list[float]]]] = []
        for library in libraries:
            arrays = [each.copy() for each in first]
            count = library.f(n, *(each.ctypes.data_as(ctypes.c_void_p) for each in arrays))
            results.append((count, [each.tolist() for each in arrays]))
        assert results[0] == results[1], text
    return True


def check_jumps(seed: int, tell: Tell) -> None:
    """Tells the verdict on the function with this number."""
    name = "jumps in C"
    tell(name)
    try:
        with tempfile.TemporaryDirectory() as folder:
            verdict, detail = (SAME if compare(seed, Path(folder)) else REFUSED), ""
    except AssertionError:
        verdict, detail = WRONG, traceback.format_exc()
    except Exception:
        verdict, detail = ERROR, traceback.format_exc()
    tell(Verdict(seed, name, verdict, detail))
