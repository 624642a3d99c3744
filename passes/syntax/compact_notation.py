"""The compact notation of the literature: `I(L1,L2)P(L0)T2(L1,L2,32,128)U(L4,16)`.

    schedule  = { [prefix] step }
    prefix    = "{" statement { "," statement } "}" ":"
    step      = symbol "(" [ argument { "," argument } ] ")"
    argument  = [statement "."] "L" number | value | option "=" ( value | "[" values "]" )

`L0`, `L1` ... are the loops around a statement, outermost first, as they are when the step is
applied: those around the statements of the latest prefix, else around the statement with the most
loops (the first of these). A loop that is named for several statements is that of each of them.
Values without a name belong to the first option of the transformation. The symbol is that of the
class of the transformation, or its full name.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..polyhedral.schedule_tree import Loop, loops, statements
from ..schedules.errors import MalformedTransformation
from ..schedules.schedule import Schedule, Transformation
from ..transformations.registry import all_transformations, letters
from .pipeline import PassCall, make_transformation, unknown
from .tokens import TokenReader, Word, error_at

_TOKEN = re.compile(
    r'\s*(?:(?P<loop>(?:[\w.-]+\.)?L\d{1,9})(?![\w.+-])|(?P<word>[\w.+-]+)|"(?P<string>[^"\n]*)"'
    r"|(?P<symbol>[{}():,=\[\]])|(?P<other>\S)|$)",
    re.ASCII,
)
_START = re.compile(r"\s*(?:\{|[\w-]+\s*\()", re.ASCII)


def is_notation(text: str) -> bool:
    """Whether this is the compact notation rather than a pipeline: no pipeline starts like it."""
    return _START.match(text) is not None


def apply_notation(text: str, schedule: Schedule) -> Schedule:
    """The schedule after the steps of `text`; raises SourceError, TransformationError."""
    addressed: tuple[Word, ...] = ()
    for step in _Parser(text).steps():
        addressed = step.prefix or addressed
        schedule = schedule.apply(_Reader(text, schedule, addressed).transformation(step))
    return schedule


def print_notation(schedule: Schedule) -> str:
    """The notation that `apply_notation` reads back as the same transformations."""
    texts: list[str] = []
    current = Schedule.original(schedule.program, schedule.target, reassociate=schedule.reassociate)
    prefix: tuple[str, ...] = ()
    for step in schedule.transformations:
        text, used = _print_step(step, current, prefix)
        if used != prefix:
            texts.append(f"{{{','.join(used)}}}:")
            prefix = used
        texts.append(text)
        current = current.apply(step)
    return "".join(texts)


@dataclass(frozen=True)
class _Step:
    """One unchecked step; `prefix` is empty without a directly preceding one."""

    prefix: tuple[Word, ...]
    symbol: Word
    loops: tuple[Word, ...]
    values: tuple[Word, ...]
    options: tuple[tuple[Word, tuple[Word, ...]], ...]


@functools.cache
def _symbols() -> Mapping[str, type[Transformation]]:
    """The classes by symbol, without a count."""
    return {letters(cls): cls for cls in all_transformations().values() if cls.symbol}


def _first_option(cls: type[Transformation]) -> str | None:
    """The option that values without a name belong to."""
    names = (field.name for field in dataclasses.fields(cls))
    return next((name for name in names if name not in ("loops", "names")), None)


def _around(schedule: Schedule, statement: str) -> tuple[Loop, ...]:
    """The loops around a statement, outermost first."""
    return tuple(loop for loop in loops(schedule.tree) if statement in loop.schedule)


def _deepest(schedule: Schedule) -> tuple[str, ...]:
    """The first of the statements with the most loops around them; none without statements."""
    names = statements(schedule.tree)
    return (max(names, key=lambda name: len(_around(schedule, name))),) if names else ()


class _Reader:
    """Interprets steps at one point of a schedule."""

    def __init__(self, text: str, schedule: Schedule, addressed: tuple[Word, ...]) -> None:
        self.text = text
        self.schedule = schedule
        known = statements(schedule.tree)
        for word in addressed:
            if word.text not in known:
                raise unknown(word, text, "statement", known)
        self.statements = tuple(word.text for word in addressed) or _deepest(schedule)

    def transformation(self, step: _Step) -> Transformation:
        """The transformation; raises SourceError."""
        cls, count = self._class(step.symbol)
        found: dict[int, tuple[Loop, int]] = {}
        for word in step.loops:
            for loop in self._loops(word):
                found.setdefault(id(loop), (loop, word.position))
        if count is not None and count != len(found):
            message = f"{step.symbol.text} is about {count} loops, not {len(found)}"
            raise error_at(self.text, step.symbol.position, message)
        chosen = tuple(loop for loop, _ in found.values())
        if step.symbol.text != cls.name:
            try:
                chosen = cls.from_symbol(self.schedule, chosen)
            except MalformedTransformation as error:
                raise error_at(self.text, step.symbol.position, str(error)) from None
        places = [found.get(id(loop), (loop, step.symbol.position))[1] for loop in chosen]
        options = list(step.options)
        if chosen:
            words = [self.schedule.short_name(loop) for loop in chosen]
            named = tuple(Word(*pair) for pair in zip(words, places, strict=True))
            options.append((Word("loops", step.symbol.position), named))
        if step.values:
            options.append((self._first_option(cls, step.values[0]), step.values))
        call = PassCall(Word(cls.name, step.symbol.position), tuple(options))
        return make_transformation(call, self.text)

    def _class(self, symbol: Word) -> tuple[type[Transformation], int | None]:
        known = _symbols()
        full = all_transformations().get(symbol.text)
        if full is not None:
            return full, None
        match = re.fullmatch(r"(\D+)(\d{1,9})?", symbol.text)
        if match is None or match[1] not in known:
            raise unknown(symbol, self.text, "transformation", known)
        return known[match[1]], int(match[2]) if match[2] else None

    def _first_option(self, cls: type[Transformation], value: Word) -> Word:
        name = _first_option(cls)
        if name is None:
            message = f"{cls.name} takes loops only, such as L0, not {value.text!r}"
            raise error_at(self.text, value.position, message)
        return Word(name.replace("_", "-"), value.position)

    def _loops(self, word: Word) -> Iterator[Loop]:
        statement, _, level = word.text.rpartition(".")
        known = statements(self.schedule.tree)
        if statement and statement not in known:
            raise unknown(Word(statement, word.position), self.text, "statement", known)
        if not known:
            message = f"there is no loop {level}: the program has no statements"
            raise error_at(self.text, word.position, message)
        for name in (statement,) if statement else self.statements:
            around = _around(self.schedule, name)
            if int(level[1:]) >= len(around):
                which = ", ".join(f"L{n} = {loop.name}" for n, loop in enumerate(around))
                message = f"there is no loop {level} around {name}"
                raise error_at(self.text, word.position, message, f"there are {which or 'none'}")
            yield around[int(level[1:])]


def _print_step(
    step: Transformation, schedule: Schedule, prefix: tuple[str, ...]
) -> tuple[str, tuple[str, ...]]:
    """The step without a prefix, and the one that it needs."""
    chosen = step.to_symbol(schedule) if step.symbol else None
    symbol = step.symbol.format(len(step.loops))
    if chosen is None:
        symbol, chosen = step.name, schedule.find_loops(step.loops)
    names, prefix = _levels(schedule, chosen, prefix)
    return f"{symbol}({','.join((*names, *_print_options(step)))})", prefix


def _levels(
    schedule: Schedule, chosen: tuple[Loop, ...], prefix: tuple[str, ...]
) -> tuple[list[str], tuple[str, ...]]:
    """The loops as levels, and the prefix, the present one if possible."""
    firsts = [statements(loop)[0] for loop in chosen]
    shared = [name for name in firsts if all(name in loop.schedule for loop in chosen)]
    for candidate in (prefix, *((name,) for name in shared), tuple(dict.fromkeys(firsts))):
        names = candidate or _deepest(schedule)
        around = [_around(schedule, name) for name in names if name in statements(schedule.tree)]
        levels = list(dict.fromkeys(len(schedule.outer(loop)) for loop in chosen))
        if len(around) < len(names) or any(max(levels, default=-1) >= len(a) for a in around):
            continue
        meant = list({id(a[level]): None for level in levels for a in around})
        if meant == [id(loop) for loop in chosen]:
            return [f"L{level}" for level in levels], candidate
    pairs = zip(firsts, chosen, strict=True)
    return [f"{name}.L{len(schedule.outer(loop))}" for name, loop in pairs], prefix


def _print_options(step: Transformation) -> Iterator[str]:
    first = _first_option(type(step))
    for field in dataclasses.fields(step):
        value: object = getattr(step, field.name)
        if field.name == "loops" or value == field.default:
            continue
        if field.name == first:
            yield _print_values(value)
        else:
            text = _print_values(value)
            text = f"[{text}]" if isinstance(value, tuple) else text
            yield f"{field.name.replace('_', '-')}={text}"


def _print_values(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(_print_values(item) for item in value)  # pyright: ignore
    text = str(value).lower() if isinstance(value, bool) else str(value)
    match = _TOKEN.fullmatch(text)
    return text if match is not None and match.lastgroup == "word" else f'"{text}"'


class _Parser(TokenReader):
    def __init__(self, text: str) -> None:
        super().__init__(text, _TOKEN, ("string",))

    def steps(self) -> Iterator[_Step]:
        """The steps in order."""
        while self.kind != "end":
            prefix: tuple[Word, ...] = ()
            if self.accept("{"):
                prefix = self.list("}", "a statement")
                self.expect(":", "':' after the statements")
            yield self.step(prefix)

    def step(self, prefix: tuple[Word, ...]) -> _Step:
        symbol = self.word("a transformation", "word")
        self.expect("(")
        levels: list[Word] = []
        values: list[Word] = []
        options: list[tuple[Word, tuple[Word, ...]]] = []
        while not self.accept(")"):
            if self.kind == "loop":
                levels.append(self.word("a loop", "loop"))
            else:
                word = self.word("a loop, a value or ')'", "word", "string")
                if self.accept("="):
                    options.append((word, self.option_values()))
                else:
                    values.append(word)
            if self.kind != "symbol" or self.token != ")":
                self.expect(",", "',' or ')'")
        return _Step(prefix, symbol, tuple(levels), tuple(values), tuple(options))

    def option_values(self) -> tuple[Word, ...]:
        if self.accept("["):
            return self.list("]", "a value")
        return (self.word("a value", "word", "string"),)

    def list(self, end: str, what: str) -> tuple[Word, ...]:
        words = [self.word(what, "word", "string", "loop")]
        while self.accept(","):
            words.append(self.word(what, "word", "string", "loop"))
        self.expect(end, f"',' or '{end}'")
        return tuple(words)
