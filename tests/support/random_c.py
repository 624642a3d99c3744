"""Random functions of C with a marked region: types, conversions, loops and conditions."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np

INTEGERS = {
    "signed char": np.int8,
    "unsigned char": np.uint8,
    "short": np.int16,
    "unsigned short": np.uint16,
    "int": np.int32,
    "unsigned": np.uint32,
    "long": np.int64,
    "unsigned long": np.uint64,
}
FLOATS = {"float": np.float32, "double": np.float64}
TYPES = {**INTEGERS, **FLOATS}
_SCALAR_LIMITS = {"int": 1 << 24, "long": 1 << 24, "unsigned long": (1 << 63) - 1}
SIZE_TYPES = ("int", "long", "unsigned", "unsigned long")
EXTENT = 12
"""Of every dimension: subscripts stay below."""


@dataclass
class RandomFunction:
    """A function `f` and its arguments: sizes, scalars, arrays."""

    text: str
    arguments: list[tuple[str, object]]
    kinds: list[str]


FIRST_WITH_CALLS = 20_000
"""Functions of smaller numbers are as they were when they were counted."""

FIRST_WITH_VALUES = 21_500
"""As above."""

FIRST_WITH_MOVES = 40_000
"""As above."""

FIRST_WITH_GROWTH = 60_000
"""As above."""


@dataclass
class Generator:
    """Writes one function; `calls` begin the names of functions that it calls, if there are any.

    With `values`, assignments are values of others, and there are `do` loops; with `moves`,
    pointers and counters that move; with `growth`, loops whose step is no constant or that end in
    two ways, and conditions that guard the accesses of others.
    """

    random: random.Random
    branches: bool = True
    calls: str = ""
    values: bool = False
    moves: bool = False
    growth: bool = False
    scalars: dict[str, str] = field(default_factory=dict)
    arrays: dict[str, tuple[str, int]] = field(default_factory=dict)
    sizes: dict[str, str] = field(default_factory=dict)
    loops: list[tuple[str, str, int]] = field(default_factory=list)
    data_loops: set[str] = field(default_factory=set[str])
    locals: dict[str, str] = field(default_factory=dict)
    count: int = 0

    def function(self) -> RandomFunction:
        """A function; sizes are from 1 to 5."""
        choose = self.random.choice
        arguments: list[tuple[str, object]] = []
        parameters: list[str] = []
        for name in ("n", "m"):
            self.sizes[name] = choose(SIZE_TYPES)
            parameters.append(f"{self.sizes[name]} {name}")
            arguments.append((name, self.random.choice((1, 2, 3, 4, 5))))
        for name in ("s", "t"):
            kind = self.scalars[name] = choose(list(TYPES))
            parameters.append(f"{kind} {name}")
            value = self.number(kind)
            # A scalar may be a size: at most 2^63 - 1, and sums of signed ones do not overflow.
            limit = _SCALAR_LIMITS.get(kind)
            value = value if limit is None else TYPES[kind](max(-limit, min(int(value), limit)))
            arguments.append((name, value))
        for name in ("A", "B", "C"):
            kind, rank = choose(list(TYPES)), choose((1, 1, 2))
            self.arrays[name] = kind, rank
            extents = f"[{EXTENT}]" * rank
            parameters.append(f"{kind} {name}{extents}")
            shape = (EXTENT,) * rank
            values = [self.number(kind) for _ in range(EXTENT**rank)]
            arguments.append((name, np.array(values, dtype=TYPES[kind]).reshape(shape)))
        body = "".join(self.statement(1) for _ in range(self.random.randint(1, 3)))
        helpers = "".join(map(self.helper, self.arrays)) if self.calls else ""
        text = (
            f"#include <math.h>\n{helpers}"
            f"void f({', '.join(parameters)}) {{\n#pragma scop\n{body}#pragma endscop\n}}\n"
        )
        kinds = [*self.sizes.values(), *self.scalars.values()]
        return RandomFunction(text, arguments, kinds)

    def number(self, kind: str) -> object:
        if kind in FLOATS:
            return TYPES[kind](self.random.choice((-2.5, -1.0, 0.0, 0.5, 1.0, 3.0, 7.25)))
        info = np.iinfo(TYPES[kind])
        edge = (info.min, info.min + 1, info.max, info.max - 1, 0, 1, 2, 3, 7, 100)
        return TYPES[kind](self.random.choice(edge))

    # Statements

    def statement(self, depth: int) -> str:
        pad = "  " * depth
        kinds = ["assign", "assign", "assign", "declare", "if" if self.branches else "assign"]
        kinds += ["loop", "loop", "loop"] if len(self.loops) < 3 and depth < 4 else []
        if self.calls:
            kinds += ["call", "switch" if self.branches and depth < 4 else "call"]
        kinds += ["moves", "moves"] if self.moves else []
        kind = self.random.choice(kinds) if depth > 1 else "loop"
        if kind == "moves":
            return self.moving(depth)
        if kind == "loop":
            return self.loop(depth)
        if kind == "if" and depth < 5:
            test = self.test() if self.random.random() < 0.6 else self.expression(2)
            text = f"{pad}if ({test}) {{\n{self.block(depth)}{pad}}}"
            if self.random.random() < 0.4:
                text += f" else {{\n{self.block(depth)}{pad}}}"
            return f"{text}\n"
        if kind == "switch":
            return self.switch(depth)
        if kind == "call":
            array = self.random.choice(list(self.arrays))
            row = f"{array}[{self.subscript()}]" if self.arrays[array][1] == 2 else array
            value = self.fitted(self.arrays[array][0], self.expression(1))
            size = self.random.choice(list(self.sizes))
            return f"{pad}{self.calls}_{array}({size}, {row}, {value});\n"
        if kind == "declare":
            name = f"x{self.count}"
            self.count += 1
            value = self.expression(2)
            self.locals[name] = self.random.choice(list(TYPES))
            return f"{pad}{self.locals[name]} {name} = {self.fitted(self.locals[name], value)};\n"
        return f"{pad}{self.assignment()}\n"

    def moving(self, depth: int) -> str:
        """A pointer or a counter that moves by at most 10 elements of a row."""
        array, size = self.random.choice(list(self.arrays)), self.random.choice(list(self.sizes))
        kind, rank = self.arrays[array]
        row = f"{array}[{self.subscript()}]" if rank == 2 else array
        value = self.fitted(kind, self.expression(1))
        p, q, k = (f"{each}{self.count}" for each in "pqk")
        self.count += 1
        steps = self.random.randint(1, 2)
        head = f"for ({self.random.choice(SIZE_TYPES)} {q} = 0; {q} < {size}; {q}++"
        start = f"{kind} *{p} = {row};"
        text = self.random.choice(
            (
                f"{start} {head}) *{p}++ = {value};",
                f"{start} {head}, {p} += {steps}) {p}[1] = {value};",
                f"{start} {head}) {{ {p}[0] = {p}[1]; {p} = {p} + {steps}; *{p} = {value}; }}",
                f"{kind} *{p} = {row} + {size}; {head}) *--{p} = {value};",
                f"for ({kind} *{p} = {row}; {p} < {row} + {size}; ++{p}) *{p} = {value};",
                f"{start} {head}) for (int {k} = 0; {k} < {steps}; {k}++) *{p}++ = {value};",
                f"{start} {head}) {{ if ({q} > 1) {p}[0] = {value}; {p}++; }}",
                f"int {k} = 0; {head}) {row}[{k}++] = {value};",
                f"int {k} = 1; {head}) if ({row}[{q}] > {size}) {row}[{k}++] = {value};",
            )
        )
        return f"{'  ' * depth}{{ {text} }}\n"

    def switch(self, depth: int) -> str:
        pad = "  " * depth
        tested = self.leaf()
        tested = (
            f"{tested} & 3" if self.is_integer(tested) else self.random.choice(list(self.sizes))
        )
        cases = [f"case {value}:" for value in self.random.sample(range(-1, 5), 3)]
        cases.insert(self.random.randint(0, 3), "default:")
        text = "".join(f"{pad}{each} {{\n{self.block(depth)}{pad}}} break;\n" for each in cases)
        return f"{pad}switch ({tested}) {{\n{text}{pad}}}\n"

    def helper(self, array: str) -> str:
        """A function without a result that changes the first elements of a row."""
        kind, _ = self.arrays[array]
        value = "p[q] + v" if kind in FLOATS else "p[q] / 2 + (v & 7)"
        return (
            f"static void {self.calls}_{array}(long k, {kind} *p, {kind} v) {{\n"
            f"  if (k > 4) return;\n  for (long q = 0; q < k; q++) p[q] = {value};\n}}\n"
        )

    def block(self, depth: int) -> str:
        outer = dict(self.locals)
        text = "".join(self.statement(depth + 1) for _ in range(self.random.randint(1, 3)))
        self.locals = outer
        return text

    def loop(self, depth: int) -> str:
        name = f"i{self.count}"
        self.count += 1
        kind = self.random.choice(("int", "long", "unsigned", "unsigned long"))
        signed = not kind.startswith("unsigned")
        size = self.random.choice(list(self.sizes))
        outer = [each for each, _, _ in self.loops if each not in self.data_loops]
        low = self.random.choice(("0", "1", *outer))
        head = self.random.choice(
            [
                f"{name} = {low}; {name} < {size}; {name}++",
                f"{name} = {low}; {name} <= {size} - 1; ++{name}",
                f"{name} = {low}; {size} > {name}; {name} += {self.random.randint(1, 3)}",
                f"{name} = 0; {name} != {size}; {name} = {name} + 1",
                f"{name} = 0; {name} < {size} / 2; {name}++",
                f"{name} = 0; {name} < ({size} < 4 ? {size} : 4); {name}++",
                f"{name} = {size} - 1; {name} > 0; {name}--",
                *([f"{name} = {size} - 1; {name} >= 0; {name} -= 2"] if signed else []),
            ]
        )
        integers = [each for each, (kind_of, _) in self.arrays.items() if kind_of in INTEGERS]
        if self.branches and integers and self.random.random() < 0.15:
            self.data_loops.add(name)
            head = self.data_head(name, self.random.choice(integers), signed)
        elif self.growth and self.random.random() < 0.2:
            self.data_loops.add(name)
            head = self.growing_head(name, size, outer)
        elif f"{name} >= 0" in head and self.sizes[size].startswith("unsigned"):
            head = head.replace(f"{size} - 1", f"(int){size} - 1")
        self.loops.append((name, kind, 5))
        body = self.block(depth)
        self.loops.pop()
        pad = "  " * depth
        return f"{pad}for ({kind} {head}) {{\n{body}{pad}}}\n"

    def data_head(self, name: str, array: str, signed: bool) -> str:
        """A loop that starts at an element, which depends on data."""
        first = f"{self.element(array)} & 3"
        step = self.random.randint(1, 2)
        heads = [
            f"{name} = {first}; {name} < 5; {name} += {step}",
            f"{name} = {first}; {name} > 0; {name}--",
        ]
        heads += [f"{name} = {first}; {name} >= 0; {name} -= {step}"] if signed else []
        return self.random.choice(heads)

    def growing_head(self, name: str, size: str, outer: list[str]) -> str:
        """A loop whose step grows or is that of another loop, or whose condition is no bound."""
        step = f"{self.random.choice((*outer, size))} + 1"
        return self.random.choice(
            (
                f"{name} = 1; {name} < {size}; {name} *= 2",
                f"{name} = 1; {name} <= {size}; {name} += {name}",
                f"{name} = 0; {name} < {size}; {name} += {step}",
                f"{name} = 0; {name} < 5 && {name} * {name} < {size}; {name}++",
                f"{name} = {size}; {name} > 0; {name} /= 2",
            )
        )

    def guarded(self) -> str:
        """A condition on a loop's variable, ahead of one on an element before or behind."""
        name = self.random.choice(self.loops)[0]
        array = self.random.choice([each for each, (_, rank) in self.arrays.items() if rank == 1])
        sign, value = self.random.choice(("<", ">=", "!=")), self.leaf()
        return self.random.choice(
            (
                f"{name} > 0 && {array}[{name} - 1] {sign} {value}",
                f"!({name} < 1 || {array}[{name} - 1] {sign} {value})",
                f"{name} + 8 < {EXTENT} && {array}[{name} + 8] {sign} {value}",
            )
        )

    def assignment(self) -> str:
        array = self.random.choice(list(self.arrays))
        kind, _ = self.arrays[array]
        target = self.element(array)
        mutable = list(self.locals)
        if mutable and self.random.random() < 0.3:
            target = self.random.choice(mutable)
            kind = self.locals[target]
        if self.values and self.random.random() < 0.25:
            return self.chained(array, target, kind)
        how = self.random.choice(("=", "=", "+=", "-=", "*=", "|=", "<<=", "++", "/="))
        if how == "++":
            return f"{target}{self.random.choice(('++', '--'))};"
        value = self.expression(3)
        if kind in FLOATS and how in ("|=", "<<="):
            how = "="
        if how == "<<=":
            return f"{target} <<= ({value}) & 7;" if self.is_integer(value) else f"{target} = 1;"
        if how == "/=":
            divisor = self.divisor()
            whole = kind in INTEGERS and "1.0f" in divisor  # it might not fit otherwise
            return f"{target} /= {3 if whole else divisor};"
        if how == "|=" and not self.is_integer(value):
            how = "="
        if how != "=" and kind in INTEGERS and not self.is_integer(value):
            how = "="
        return f"{target} {how} {self.fitted(kind, value)};"

    def chained(self, array: str, target: str, kind: str) -> str:
        """An assignment of the value of another one, or two in one statement."""
        names = [each for each in self.arrays if each != array]
        other = self.random.choice(names)
        inner, place = self.arrays[other][0], self.element(other)
        if kind in INTEGERS and inner in FLOATS:
            return f"({target} = 2, {place} += 1);"
        value = self.fitted(inner, self.expression(1))
        return self.random.choice(
            (
                f"{target} = {place}++;",
                f"{target} = --{place};",
                f"{target} = {place} = {value};",
                f"do {{ {target} = {place}; }} while (0);",
            )
        )

    # Expressions: a `double` that becomes an integer is bounded first.

    def fitted(self, kind: str, value: str) -> str:
        if kind in FLOATS or self.is_integer(value):
            return value
        return self.bounded(value)

    def bounded(self, value: str) -> str:
        return f"(int)fmin(fmax({value}, 0.0), 100.0)"

    def is_integer(self, value: str) -> bool:
        return self._kinds.get(value, "double") == "int"

    @property
    def _kinds(self) -> dict[str, str]:
        return self.__dict__.setdefault("_known", {})

    def known(self, text: str, is_integer: bool) -> str:
        self._kinds[text] = "int" if is_integer else "double"
        return text

    def subscript(self) -> str:
        names = [name for name, _, _ in self.loops]
        if not names or self.random.random() < 0.2:
            return self.random.choice(("0", "3", *self.sizes))
        name = self.random.choice(names)
        return self.random.choice(
            (
                name,
                name,
                f"{name} + 1",
                f"2 * {name}",
                f"{name} / 2",
                f"{name} % 3",
                f"5 - {name}" if not self.unsigned(name) else f"{name} + 2",
                f"{name} >> 1",
                f"{name} & 3",
            )
        )

    def unsigned(self, name: str) -> bool:
        return any(each == name and kind.startswith("unsigned") for each, kind, _ in self.loops)

    def element(self, array: str) -> str:
        _, rank = self.arrays[array]
        return array + "".join(f"[{self.subscript()}]" for _ in range(rank))

    def leaf(self) -> str:
        kind = self.random.random()
        if kind < 0.4:
            array = self.random.choice(list(self.arrays))
            return self.known(self.element(array), self.arrays[array][0] in INTEGERS)
        if kind < 0.55:
            pool = {**self.scalars, **self.locals}
            name = self.random.choice(list(pool))
            return self.known(name, pool[name] in INTEGERS)
        if kind < 0.7 and self.loops:
            return self.known(self.random.choice(self.loops)[0], True)
        if kind < 0.8:
            return self.known(self.random.choice(list(self.sizes)), True)
        if kind < 0.9:
            return self.known(
                self.random.choice(("1", "2u", "-3", "0x7fL", "'a'", "4294967295u", "255")), True
            )
        return self.known(self.random.choice(("0.5", "2.0f", "-1.25")), False)

    def divisor(self) -> str:
        text = self.leaf()
        if not self.is_integer(text):
            return f"({text} * {text} + 1.0f)"
        # gcc -fwrapv makes a / ~b of -(a / (b + 1)), which traps: no divisor that it can negate.
        return self.random.choice((f"(({text} & 7) | 1)", f"(({text} & 7) ^ 8)"))

    def expression(self, depth: int) -> str:
        if depth == 0 or self.random.random() < 0.15:
            return self.leaf()
        how = self.random.choice(
            (
                "+",
                "-",
                "*",
                "/",
                "%",
                "&",
                "|",
                "^",
                ">>",
                "<<",
                "cast",
                "?",
                "neg",
                "~",
                "!",
                "cmp",
                "call",
            )
        )
        one, other = self.expression(depth - 1), self.expression(depth - 1)
        both = self.is_integer(one) and self.is_integer(other)
        if how in ("%", "&", "|", "^", ">>", "<<", "~") and not both:
            how = "+"
        if how == "/" or how == "%":
            divisor = self.divisor()
            whole = self.is_integer(one) and "1.0f" not in divisor
            if how == "%" and not whole:
                how = "/"
            return self.known(f"({one} {how} {divisor})", whole)
        if how in (">>", "<<"):
            return self.known(f"({one} {how} ({other} & 7))", True)
        if how == "cast":
            kind = self.random.choice(list(TYPES))
            return self.known(f"({kind})({self.fitted(kind, one)})", kind in INTEGERS)
        if how == "?":
            return self.known(f"({self.test()} ? {one} : {other})", both)
        if how == "neg":
            return self.known(f"(- {one})", self.is_integer(one))
        if how == "~":
            return self.known(f"(~ {one})", True)
        if how == "!":
            return self.known(f"(!{one})", True)
        if how == "cmp":
            sign = self.random.choice(("<", "<=", ">", ">=", "==", "!="))
            return self.known(f"({one} {sign} {other})", True)
        if how == "call":
            name = self.random.choice(("fabs", "floor", "fabsf", "fmax", "sqrt"))
            inner = f"fabs({one})" if name == "sqrt" else one
            more = f", {other}" if name == "fmax" else ""
            return self.known(f"{name}({inner}{more})", False)
        return self.known(f"({one} {how} {other})", both)

    def test(self) -> str:
        ranks = [rank for _, rank in self.arrays.values()]
        if self.growth and self.loops and 1 in ranks and self.random.random() < 0.25:
            return self.guarded()
        sign = self.random.choice(("<", "<=", ">", ">=", "==", "!="))
        if self.loops and self.random.random() < 0.6:
            one = self.random.choice(self.loops)[0]
            other = self.random.choice(
                (*self.sizes, "1", "2", *(each for each, _, _ in self.loops))
            )
            text = f"{one} {sign} {other}"
        else:
            text = f"{self.leaf()} {sign} {self.leaf()}"
        if self.random.random() < 0.2:
            return f"({text}) {self.random.choice(('&&', '||'))} !({self.test()})"
        return text


def random_function(seed: int, *, branches: bool = True) -> RandomFunction:
    """The function of a seed, with statements under conditions or without."""
    calls = f"set_{seed}" if seed >= FIRST_WITH_CALLS else ""
    values, moves = seed >= FIRST_WITH_VALUES, seed >= FIRST_WITH_MOVES
    growth = seed >= FIRST_WITH_GROWTH
    return Generator(random.Random(seed), branches, calls, values, moves, growth).function()
