"""Pass pipelines: `tile{loops=i,j sizes=32,32},parallel{loops=it}`."""

from __future__ import annotations

import dataclasses
import difflib
import re
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..dialects.errors import SourceError
from ..dialects.locations import Location
from .registry import all_transformations
from .transformation import Transformation

_TOKEN = re.compile(
    r'\s*(?:(?P<word>[\w.+-]+)|"(?P<string>[^"\n]*)"|(?P<symbol>[{}=,])|(?P<other>\S)|$)', re.ASCII
)


@dataclass(frozen=True)
class Word:
    """A piece of a pipeline and its position in the text, counted from 0."""

    text: str
    position: int


@dataclass(frozen=True)
class PassCall:
    """One pass of a pipeline, not checked yet: its name and its options."""

    name: Word
    options: tuple[tuple[Word, tuple[Word, ...]], ...]


def parse_pipeline(text: str) -> tuple[Transformation, ...]:
    """The transformations that a pipeline names; raises SourceError."""
    return tuple(make_transformation(call, text) for call in parse_calls(text))


def print_pipeline(transformations: Iterable[Transformation]) -> str:
    """The pipeline that `parse_pipeline` reads back as the same transformations."""
    return ",".join(str(transformation) for transformation in transformations)


def parse_calls(text: str) -> tuple[PassCall, ...]:
    """The passes of a pipeline, whatever they are; raises SourceError."""
    return _Parser(text).pipeline()


def make_transformation(call: PassCall, text: str) -> Transformation:
    """The transformation that one pass of the pipeline `text` stands for; raises SourceError."""
    known = all_transformations()
    cls = known.get(call.name.text)
    if cls is None:
        raise unknown(call.name, text, "transformation", known)
    values = read_options(call, text, option_types(cls))
    for field in dataclasses.fields(cls):
        if field.default is dataclasses.MISSING and field.name not in values:
            message = f"{call.name.text} needs the option {field.name.replace('_', '-')}"
            raise error_at(text, call.name.position, message)
    return cls(**values)


def option_types(cls: type) -> Mapping[str, object]:
    """The options of a dataclass, with their types; option names have dashes."""
    hints = typing.get_type_hints(cls)
    return {field.name.replace("_", "-"): hints[field.name] for field in dataclasses.fields(cls)}


def read_options(call: PassCall, text: str, kinds: Mapping[str, object]) -> dict[str, typing.Any]:
    """Checked values of the options, by field name; raises SourceError."""
    values: dict[str, typing.Any] = {}
    for option, words in call.options:
        if option.text not in kinds:
            raise unknown(option, text, f"option of {call.name.text}", kinds)
        field = option.text.replace("-", "_")
        if field in values:
            raise error_at(text, option.position, f"option {option.text} is given twice")
        values[field] = _convert(option, words, kinds[option.text], text)
    return values


def unknown(word: Word, text: str, what: str, known: Iterable[str]) -> SourceError:
    """The error for a name that is not among the known ones."""
    names = sorted(known)
    close = difflib.get_close_matches(word.text, names, 1)
    hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(names)}"
    return error_at(text, word.position, f"unknown {what}: {word.text!r}", hint)


def error_at(text: str, position: int, message: str, hint: str | None = None) -> SourceError:
    """The error that points at a position in a pipeline."""
    line = text.count("\n", 0, position)
    start = text.rfind("\n", 0, position) + 1
    place = Location("<pipeline>", line + 1, position - start + 1, text.splitlines()[line])
    return SourceError(message, place, hint)


def _convert(option: Word, words: tuple[Word, ...], kind: object, text: str) -> typing.Any:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is types.UnionType:
        (kind,) = (argument for argument in arguments if argument is not types.NoneType)
        return _convert(option, words, kind, text)
    if origin is tuple:
        return tuple(_scalar(word, arguments[0], text) for word in words)
    if kind is bool and not words:
        return True
    if len(words) != 1:
        raise error_at(
            text, option.position, f"option {option.text} takes one value, not {len(words)}"
        )
    return _scalar(words[0], kind, text)


def _scalar(word: Word, kind: object, text: str) -> int | bool | str:
    if kind is str:
        return word.text
    if kind is bool and word.text in ("true", "false"):
        return word.text == "true"
    if kind is int and re.fullmatch(r"[+-]?\d{1,18}", word.text, re.ASCII):
        return int(word.text)
    expected = {int: "an integer", bool: "true or false"}[typing.cast(type, kind)]
    raise error_at(text, word.position, f"expected {expected}, not {word.text!r}")


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.advance()

    def advance(self) -> None:
        match = _TOKEN.match(self.text, self.position)
        assert match is not None, "the pattern matches the end of the text, too"
        kind = match.lastgroup
        self.kind = "end" if kind is None else kind
        self.token = "" if kind is None else match[kind]
        self.start = len(self.text) if kind is None else match.start(kind) - (kind == "string")
        self.position = match.end()

    def expected(self, what: str) -> SourceError:
        found = {"end": "the end"}.get(self.kind, repr(self.token))
        return error_at(self.text, self.start, f"expected {what}, not {found}")

    def accept(self, symbol: str) -> bool:
        if self.kind == "symbol" and self.token == symbol:
            self.advance()
            return True
        return False

    def word(self, what: str, kinds: tuple[str, ...] = ("word",)) -> Word:
        if self.kind not in kinds:
            raise self.expected(what)
        result = Word(self.token, self.start)
        self.advance()
        return result

    def pipeline(self) -> tuple[PassCall, ...]:
        calls: list[PassCall] = []
        while self.kind != "end":
            calls.append(self.call())
            if self.kind != "end" and not self.accept(","):
                raise self.expected("',' between passes")
        return tuple(calls)

    def call(self) -> PassCall:
        name = self.word("the name of a pass")
        options: list[tuple[Word, tuple[Word, ...]]] = []
        if self.accept("{"):
            while not self.accept("}"):
                options.append(self.option())
        return PassCall(name, tuple(options))

    def option(self) -> tuple[Word, tuple[Word, ...]]:
        name = self.word("the name of an option or '}'")
        values: list[Word] = []
        if self.accept("="):
            values.append(self.word("a value", ("word", "string")))
            while self.accept(","):
                values.append(self.word("a value", ("word", "string")))
        return name, tuple(values)
