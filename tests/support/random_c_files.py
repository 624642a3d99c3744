"""Random C functions as people write them: nothing is marked, and code stands around the loops."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from .c_drivers import LARGEST, Argument, driver
from .c_file_forms import (
    ANY,
    BITS,
    FLOATS,
    HEAD,
    INTEGERS,
    LOOPS,
    NESTED,
    OPERATORS,
    REAL,
    SHORT_LOOPS,
    SIGNS,
    STYLES,
    TRIANGLES,
    WALKS,
    WHOLE,
    Loop,
    Value,
    without_endless,
)
from .random_c_calls import rotation, value_call

FIRST_WITH_MORE = 200_000
"""Files of smaller numbers are as they were when they were counted."""


@dataclass(frozen=True)
class CFile:
    """A C file with a function, and a file with `main` that calls it and prints what it did."""

    text: str
    driver: str


@dataclass
class Writer:
    """Writes one file. Sizes are up to LARGEST, and arrays are long enough for all subscripts."""

    random: random.Random
    arrays: list[Argument] = field(default_factory=list[Argument])
    loops: list[Loop] = field(default_factory=list[Loop])
    numbers: dict[str, bool] = field(default_factory=dict[str, bool])
    outer: dict[str, str] = field(default_factory=dict[str, str])
    helpers: dict[str, str] = field(default_factory=dict[str, str])
    sums: dict[str, str] = field(default_factory=dict[str, str])
    smallest: int = -3
    count: int = 0
    can_continue: bool = False
    result: str = "void"
    has_more: bool = False

    def file(self) -> CFile:
        """A function `f` of sizes and arrays."""
        choose = self.random.choice
        size = choose(("int", "int", "int", "long", "size_t", "unsigned", "short"))
        if size in ("size_t", "unsigned"):
            self.smallest = 1  # n - 1 would wrap around
        elif choose((True, False)):
            self.smallest = 0
        self.result = choose(("void", "void", "int", "double", "long", "float"))
        common = choose((*FLOATS, *INTEGERS))
        for name in "abc"[: choose((1, 2, 2, 3, 3))]:
            kind = common if self.random.random() < 0.6 else choose((*FLOATS, *INTEGERS))
            style = choose((*STYLES, "pointers", "pointers") if self.has_more else STYLES)
            self.arrays.append(Argument(name, kind, style, self.random.random() < 0.25))
        if any(each.style == "variable" for each in self.arrays):
            self.smallest = 1
        for name in "st":
            kind = self.sums[name] = choose(("double", "int", "float", "long", "unsigned"))
            self.numbers[name] = kind not in FLOATS
        self.numbers |= {"n": True, "m": True}
        restrict = "restrict " if self.random.random() < 0.3 else ""
        body = "".join(self.nest() for _ in range(choose((1, 1, 2, 2, 3))))
        start = choose(("", "", "    calls++;\n", f"    if (n < 1) return{self.returned('0')};\n"))
        tail = "" if self.result == "void" else f"    return{self.returned('s + t')};\n"
        sums = "".join(f"    {kind} {name} = 0;\n" for name, kind in self.sums.items())
        declared = "".join(f"    {kind} {name};\n" for name, kind in self.outer.items())
        parameters = ", ".join(each.parameter(restrict) for each in self.arrays)
        structures = "".join(each.structure() for each in self.arrays)
        head = f"{self.result} f({size} n, {size} m, {parameters})"
        text = f"{HEAD}{structures}{''.join(self.helpers.values())}"
        text += f"{head} {{\n{sums}{declared}{start}{body}    (void)t;\n{tail}}}\n"
        made = driver(structures, head, self.result, self.arrays, self.smallest, restrict != "")
        return CFile(text, made)

    def returned(self, value: str) -> str:
        """The value of a return statement: what is not finite stays as it is in floats only."""
        if self.result == "void":
            return ""
        return f" {value}" if self.result in ("double", "float") else f" to_int({value})"

    def name(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    # Statements

    def nest(self) -> str:
        """A statement of the function's block."""
        kinds = (self.loop, self.loop, self.loop, self.walk, self.while_loop, self.local_array)
        kinds = (*kinds, partial(rotation, self))
        if self.has_more:
            kinds = (*kinds, self.triangle)
        numbers = dict(self.numbers)
        text = self.random.choice(kinds)(1)
        self.numbers = numbers
        return text

    def statement(self, depth: int) -> str:
        """A statement in a loop."""
        kinds = [self.assign, self.assign, self.assign, self.update, self.add_up]
        kinds += [self.conditional, self.conditional, self.declare, self.extreme, self.jump]
        kinds += [self.swap, self.call, self.sum_of_row, self.compact, self.selected]
        kinds.append(partial(value_call, self))
        if self.has_more:
            kinds += [self.scatter, self.triangle]
        if len(self.loops) < 3:
            kinds += [self.loop, self.loop, self.loop, self.loop, self.walk, self.while_loop]
        return self.random.choice(kinds)(depth)

    def block(self, depth: int) -> str:
        """Statements of a loop or branch; what they declare ends with it."""
        numbers = dict(self.numbers)
        count = self.random.choice((1, 1, 1, 2, 2, 3))
        text = "".join(self.statement(depth + 1) for _ in range(count))
        self.numbers = numbers
        return text

    def braced(self, depth: int, head: str, body: str) -> str:
        pad = "    " * depth
        if body.count("\n") == 1 and self.random.random() < 0.5 and ";\n" in body:
            simple = not body.lstrip().startswith(("const", "{", *INTEGERS, *FLOATS))
            if simple:
                return f"{pad}{head}\n{body}"
        return f"{pad}{head} {{\n{body}{pad}}}\n"

    def loop(self, depth: int) -> str:
        bound = self.random.choice(("n", "m"))
        inside = [each for each in self.loops if each.bound == bound]
        loops = (*LOOPS, *SHORT_LOOPS) if self.has_more else LOOPS
        forms = without_endless(loops, self.smallest)
        form = self.random.choice(NESTED if inside and self.random.random() < 0.5 else forms)
        if "for ({v}" in form:
            name = self.random.choice("ijk")
            if any(each.name == name for each in self.loops):
                name = self.name("i")
            self.outer[name] = "int"
        else:
            name = self.name("i")
        outer = self.random.choice(inside).name if inside else ""
        head = form.format(v=name, n=bound, o=outer)
        return self.braced(depth, head, self.body(depth, Loop(name, bound)))

    def body(self, depth: int, loop: Loop, can_continue: bool = True) -> str:
        before = self.can_continue
        self.can_continue = can_continue
        self.loops.append(loop)
        text = self.block(depth)
        self.loops.pop()
        self.can_continue = before
        return text

    def while_loop(self, depth: int) -> str:
        name, bound = self.name("w"), self.random.choice(("n", "m"))
        pad = "    " * depth
        body = self.body(depth, Loop(name, bound), can_continue=False)
        more = f"{pad}    {self.random.choice((f'{name}++', f'{name} += 1', f'++{name}'))};\n"
        return f"{pad}int {name} = 0;\n{pad}while ({name} < {bound}) {{\n{body}{more}{pad}}}\n"

    def walk(self, depth: int) -> str:
        """Pointers that move over an array."""
        pad = "    " * depth
        flat = [each for each in self.arrays if each.style == "flat"]
        target = self.random.choice([each for each in flat if not each.is_const] or [None])
        if target is None:
            return self.loop(depth)
        names = {each: self.name(each) for each in "pqrekj"}
        source = self.random.choice(flat)
        index = self.random.choice([self.name("x")] if self.loops else list("ijk"))
        self.outer[index] = "int"
        start = self.random.choice(
            ("", "", " + 1", f" + {self.loops[0].name}" if self.loops else "")
        )
        value = self.expression(1)
        declared = f"{{ {target.type} *{names['q']} = {target.name}{start}; "
        if self.random.random() < 0.6:
            declared += f"const {source.type} *{names['p']} = {source.name}; "
            operator = self.random.choice(OPERATORS)
            is_integer = value.is_integer and source.type not in FLOATS
            moved = self.random.choice((f"*{names['p']}++", f"*{names['p']}++", f"*++{names['p']}"))
            value = Value(f"{moved} {operator} {value.text}", is_integer)
        one, other = self.random.sample(("n", "m"), 2)
        forms = without_endless(WALKS, self.smallest)
        text = self.random.choice(forms).format(
            **names,
            i=index,
            n=one,
            m=other,
            type=target.type,
            value=self.fitted(target.type, value),
            test=self.test(),
        )
        return f"{pad}{declared}{text} }}\n"

    def triangle(self, depth: int) -> str:
        """A packed triangle."""
        flat = [each for each in self.arrays if each.style == "flat" and not each.is_const]
        if not flat or len(self.loops) > 1:
            return self.assign(depth)
        array, names = self.random.choice(flat), {each: self.name(each) for each in "ijk"}
        bound = self.random.choice(("n", "m"))
        self.loops += [Loop(names["i"], bound), Loop(names["j"], bound)]
        value = self.fitted(array.type, self.expression(2))
        del self.loops[-2:]
        text = self.random.choice(TRIANGLES).format(**names, a=array.name, n=bound, value=value)
        return f"{'    ' * depth}{{ {text} }}\n"

    def scatter(self, depth: int) -> str:
        """A store at a subscript that is data."""
        flat = [each for each in self.arrays if each.style == "flat" and not each.is_const]
        if not flat:
            return self.assign(depth)
        array, index = self.random.choice(flat), self.fitted("int", self.expression(1))
        operator = self.random.choice(("=", "+=", "-="))
        value = self.fitted(array.type, self.expression(1))
        place = f"{array.name}[(unsigned)({index}) % 32]"
        return f"{'    ' * depth}{place} {operator} {value};\n"

    def local_array(self, depth: int) -> str:
        """A local array that a loop fills, and another one reads."""
        name, kind = self.name("l"), self.random.choice((*FLOATS, "int", "unsigned char"))
        pad = "    " * depth
        i = self.name("i")
        first = f"for (int {i} = 0; {i} < {{n}}; {i}++)"
        bound = self.random.choice(("n", "m"))
        self.loops.append(Loop(i, bound))
        value = self.fitted(kind, self.expression(2))
        target = self.place()
        read = self.fitted(target[1], Value(f"{name}[{i}]", kind not in FLOATS))
        index = self.expression(1)
        self.loops.pop()
        form = self.random.choice(
            (
                f"{kind} {name}[{LARGEST}];\n{{f}} {name}[{i}] = {value};\n"
                f"{{f}} {target[0]} = {read};",
                f"{kind} {name}[8] = {{{{0}}}};\n"
                f"{{f}} {name}[(unsigned){self.fitted('int', index)} & 7] += 1;\n"
                f"for (int {i} = 0; {i} < 8; {i}++) s += {name}[{i}];",
                f"{kind} {name}[{LARGEST}] = {{{{1, 2}}}};\n"
                f"for (int {i} = 1; {i} < {bound}; {i}++) {name}[{i}] += {name}[{i} - 1];\n"
                f"{{f}} {target[0]} = {read};",
            )
        )
        text = form.format(f=first.format(n=bound)).replace("\n", f"\n{pad}    ")
        return f"{pad}{{\n{pad}    {text}\n{pad}}}\n"

    def assign(self, depth: int) -> str:
        target, kind = self.place()
        return f"{'    ' * depth}{target} = {self.fitted(kind, self.expression(3))};\n"

    def update(self, depth: int) -> str:
        target, kind = self.place()
        if kind not in FLOATS and self.random.random() < 0.3:
            return f"{'    ' * depth}{target}{self.random.choice(('++', '--'))};\n"
        operator = self.random.choice(OPERATORS if kind in FLOATS else (*OPERATORS, *BITS))
        return f"{'    ' * depth}{target} {operator}= {self.fitted(kind, self.expression(2))};\n"

    def add_up(self, depth: int) -> str:
        name = self.random.choice("st")
        operator = self.random.choice(("+", "+", "-"))
        value = self.fitted(self.sums[name], self.expression(2))
        return f"{'    ' * depth}{name} {operator}= {value};\n"

    def conditional(self, depth: int) -> str:
        text = self.braced(depth, f"if ({self.test()})", self.block(depth))
        if text.endswith("}\n") and self.random.random() < 0.4:
            text = f"{text[:-1]} else {{\n{self.block(depth)}{'    ' * depth}}}\n"
        return text

    def selected(self, depth: int) -> str:
        """A `switch`, or an `else if`."""
        pad = "    " * depth
        one, kind = self.place()
        values = [self.fitted(kind, self.expression(1)) for _ in range(3)]
        number = self.fitted("int", self.expression(1))
        if self.random.random() < 0.5:
            cases = "".join(f"{pad}case {n}: {one} = {v}; break;\n" for n, v in enumerate(values))
            return f"{pad}switch ({number} & 3) {{\n{cases}{pad}default: break;\n{pad}}}\n"
        tests = (f"if ({self.test()})", f"else if ({self.test()})", "else")
        return "".join(
            f"{pad}{test}\n{pad}    {one} = {value};\n"
            for test, value in zip(tests, values, strict=True)
        )

    def declare(self, depth: int) -> str:
        kind, value = self.random.choice((*FLOATS, *INTEGERS)), self.expression(2)
        name, const = self.name("x"), self.random.choice(("", "const "))
        self.numbers[name] = kind not in FLOATS
        return f"{'    ' * depth}{const}{kind} {name} = {self.fitted(kind, value)};\n"

    def extreme(self, depth: int) -> str:
        """A minimum or maximum, also with its place."""
        pad, name, sign = "    " * depth, self.random.choice("st"), self.random.choice("<>")
        value = self.fitted(self.sums[name], self.expression(1))
        forms = [
            f"{pad}if ({value} {sign} {name}) {name} = {value};\n",
            f"{pad}{name} = {value} {sign} {name} ? {value} : {name};\n",
        ]
        if self.loops:
            place = f"at{self.count}"
            self.outer[f"{place} = 0"] = "int"
            where = f"{place} = {self.loops[-1].name};"
            text = f"if ({value} {sign} {name}) {{ {name} = {value}; {where} }}"
            forms.append(f"{pad}{text}\n{pad}calls += {place};\n")
            self.count += 1
        return self.random.choice(forms)

    def jump(self, depth: int) -> str:
        ways = ["break;"]
        ways += ["continue;", "continue;", "continue;"] if self.can_continue else []
        ways += [f"return{self.returned('s')};"]
        way = self.random.choice(ways) if self.loops else ""
        return f"{'    ' * depth}if ({self.test()}) {way}\n" if way else ""

    def swap(self, depth: int) -> str:
        (one, kind), (other, second) = self.place(), self.place()
        name = self.name("h")
        if (kind in FLOATS) != (second in FLOATS):
            return self.assign(depth)
        return f"{'    ' * depth}{kind} {name} = {one};\n{'    ' * depth}{one} = {other};\n" + (
            f"{'    ' * depth}{other} = {name};\n"
        )

    def call(self, depth: int) -> str:
        """A call of a function without a result."""
        flat = [each for each in self.arrays if each.style == "flat" and not each.is_const]
        if not flat:
            return self.assign(depth)
        array = self.random.choice(flat)
        name = f"add_{array.type.replace(' ', '_')}"
        value = "d[q] + v" if array.type in FLOATS else "(d[q] + v) & 63"
        self.helpers[name] = (
            f"static void {name}(int k, {array.type} *d, {array.type} v) {{\n"
            f"    for (int q = 0; q < k; q++)\n        d[q] = {value};\n}}\n"
        )
        value = self.fitted(array.type, self.expression(1))
        size, start = self.random.choice("nm"), self.index(self.loops[:1])
        return f"{'    ' * depth}{name}({size}, {array.name} + {start}, {value});\n"

    def sum_of_row(self, depth: int) -> str:
        """A sum in a variable of its own."""
        if len(self.loops) > 2:
            return self.add_up(depth)
        pad, name = "    " * depth, self.name("sum")
        kind = self.random.choice(("double", "float", "int", "unsigned", "long"))
        loop = Loop(self.name("i"), self.random.choice(("n", "m")))
        self.loops.append(loop)
        value = self.fitted(kind, self.expression(2))
        self.loops.pop()
        target, target_kind = self.place()
        result = self.fitted(target_kind, Value(name, kind not in FLOATS))
        return (
            f"{pad}{kind} {name} = 0;\n"
            f"{pad}for (int {loop.name} = 0; {loop.name} < {loop.bound}; {loop.name}++)\n"
            f"{pad}    {name} += {value};\n{pad}{target} = {result};\n"
        )

    def compact(self, depth: int) -> str:
        """Elements that are kept, next to each other."""
        flat = [each for each in self.arrays if each.style == "flat" and not each.is_const]
        if not flat or self.random.random() < 0.5:
            return self.assign(depth)
        array, name = self.random.choice(flat), self.name("kept")
        self.outer[f"{name} = 0"] = "int"
        value = self.fitted(array.type, self.expression(1))
        return f"{'    ' * depth}if ({self.test()}) {array.name}[{name}++] = {value};\n"

    # Places

    def place(self) -> tuple[str, str]:
        """An element that may be written, and its type."""
        arrays = [each for each in self.arrays if not each.is_const]
        if not arrays:
            name = self.random.choice("st")
            return name, self.sums[name]
        array = self.random.choice(arrays)
        return self.element(array), array.type

    def element(self, array: Argument) -> str:
        if array.style in ("rows", "pointers"):
            return f"{array.name}[{self.short(self.loops)}][{self.short(self.loops)}]"
        if array.style == "variable":
            rows, columns = ([each for each in self.loops if each.bound == n] for n in "nm")
            return f"{array.name}[{self.short(rows)}][{self.short(columns)}]"
        index = self.index(self.loops)
        if array.style == "points":
            return f"{array.name}[{index}].{self.random.choice('xy')}"
        if array.style == "structure":
            return f"{array.name}->cells[{index}]"
        if self.random.random() < 0.05:
            return f"*({array.name} + {index})"
        return f"{array.name}[{index}]"

    def short(self, loops: Sequence[Loop]) -> str:
        """A subscript of a row."""
        if not loops:
            return "0"
        loop = self.random.choice(loops)
        v = loop.name
        return self.random.choice((v, v, v, v, f"{loop.bound} - 1 - {v}", f"{v} / 2"))

    def index(self, loops: Sequence[Loop]) -> str:
        """A subscript of a flat array."""
        choose = self.random.choice
        if not loops:
            return choose(("0", "1", "2"))
        one = choose(loops)
        v, n = one.name, one.bound
        if len(loops) == 1 or self.random.random() < 0.35:
            near = (f"{v} + 1", f"{n} - 1 - {v}", f"2 * {v}", f"2 * {v} + 1", f"{v} / 2", "0")
            wrapped = (f"({v} + 1 < {n} ? {v} + 1 : 0)", f"({v} > 0 ? {v} - 1 : 0)")
            return choose((*(v,) * 8, f"{v} % 3", f"({v} + 1) % {n}", *near, *near, *wrapped))
        if len(loops) == 3 and self.random.random() < 0.6:
            i, j, k = loops
            return f"({i.name} * {j.bound} + {j.name}) * {k.bound} + {k.name}"
        i, j = self.random.sample(list(loops), 2) if self.random.random() < 0.3 else loops[-2:]
        flat = f"{i.name} * {j.bound} + {j.name}"
        more = (f"{flat} + 1", f"({i.name} + 1) * {j.bound} + {j.name}", f"2 * ({flat})")
        last = f"({i.bound} - 1 - {i.name}) * {j.bound} + {j.bound} - 1 - {j.name}"
        row = choose((i.name, f"({i.name} > 0 ? {i.name} - 1 : 0)"))
        column = choose((f"({j.name} + 1 < {j.bound} ? {j.name} + 1 : {j.bound} - 1)", j.name))
        chosen = (f"{row} * {j.bound} + {column}", f"{column} + {j.bound} * {row}")
        wide = f"{i.name} * {LARGEST} + {j.name}"
        return choose((flat, flat, flat, flat, *more, *chosen, last, wide, f"{v} + 1"))

    # Expressions

    def fitted(self, kind: str, value: Value) -> str:
        """A value for a place: what C does not define is bounded first."""
        return value.text if kind in FLOATS or value.is_integer else f"to_int({value.text})"

    def leaf(self) -> Value:
        which = self.random.random()
        if which < 0.6:
            array = self.random.choice(self.arrays)
            return Value(self.element(array), array.type not in FLOATS)
        if which < 0.75:
            name = self.random.choice(list(self.numbers))
            return Value(name, self.numbers[name])
        if which < 0.85 and self.loops:
            return Value(self.random.choice(self.loops).name, True)
        constants = ("1", "2", "-3", "7", "255", "0.5", "2.0f", "1e-3", "-1.25", "10u")
        text = self.random.choice(constants)
        return Value(text, "." not in text and "e" not in text)

    def expression(self, depth: int) -> Value:
        if depth == 0 or self.random.random() < 0.2:
            return self.leaf()
        one, other = self.expression(depth - 1), self.expression(depth - 1)
        form = self.random.choice((*ANY, *WHOLE, *REAL))
        text = form.format(
            x=one.text,
            y=other.text,
            i=self.fitted("int", one),
            j=self.fitted("int", other),
            test=self.test() if "{test}" in form else "",
        )
        both = one.is_integer and (other.is_integer or "{y}" not in form)
        return Value(text, form in WHOLE or (form in ANY and both))

    def test(self) -> str:
        sign = self.random.choice(SIGNS)
        if self.loops and self.random.random() < 0.4:
            v = self.random.choice(self.loops)
            other = self.random.choice(
                ("0", "1", "2", f"{v.bound} / 2", f"{v.bound} - 1", "n", "m")
            )
            text = f"{v.name} {sign} {other}"
        else:
            text = f"{self.leaf().text} {sign} {self.leaf().text}"
        if self.random.random() < 0.2:
            return f"{text} {self.random.choice(('&&', '||'))} {self.leaf().text} > 1"
        return text


def random_c_file(seed: int) -> CFile:
    """The file of a seed."""
    return Writer(random.Random(seed), has_more=seed >= FIRST_WITH_MORE).file()
