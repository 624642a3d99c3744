"""Pass pipelines: `tile{loops=i,j sizes=32,32},parallel{loops=it}`."""

from __future__ import annotations

import dataclasses
import difflib
import re
import types
import typing
from collections.abc import Iterable
from dataclasses import dataclass

from ...dialects.errors import SourceError
from ...dialects.locations import Location
from ..schedules.schedule import Transformation
from ..transformations.registry import all_transformations

_TOKEN = re.compile(
    r'\s*(?:(?P<word>[\w.:+-]+)|"(?P<string>[^"\n]*)"|(?P<symbol>[{}=,])|\[(?P<nested>[^\]]*)\]'
    r"|(?P<other>\S)|$)",
    re.ASCII,
)

# Nobody reads a longer list of names in a message: xDSL alone has some 200 passes.
_MOST_LISTED = 40


@dataclass(frozen=True)
class Word:
    """A token of a pipeline and its position in the text, counted from 0."""

    text: str
    position: int


@dataclass(frozen=True)
class PassCall:
    """One unchecked pass of a pipeline: its name and its options.

    `nested` is the pipeline in brackets that xDSL's pass `mlir-opt` takes instead of options.
    """

    name: Word
    options: tuple[tuple[Word, tuple[Word, ...]], ...]
    nested: str | None = None


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
    return cls(**read_options(call, text, cls))


def read_options(call: PassCall, text: str, cls: type) -> dict[str, typing.Any]:
    """The options of a pass as checked values for the fields of a dataclass; raises SourceError.

    Options are called as the fields are, with dashes.
    """
    hints = typing.get_type_hints(cls)
    fields = {field.name.replace("_", "-"): field for field in dataclasses.fields(cls)}
    values: dict[str, typing.Any] = {}
    for option, words in call.options:
        if option.text not in fields:
            raise unknown(option, text, f"option of {call.name.text}", fields)
        name = fields[option.text].name
        if name in values:
            raise error_at(text, option.position, f"option {option.text} is given twice")
        values[name] = _convert(option, words, hints[name], text)
    for option_name, field in fields.items():
        if field.default is dataclasses.MISSING and field.name not in values:
            message = f"{call.name.text} needs the option {option_name}"
            raise error_at(text, call.name.position, message)
    return values


def describe_options(cls: type) -> str:
    """The options of a pass, optional ones in brackets: `loops=NAME,... [width=INTEGER]`."""
    hints = typing.get_type_hints(cls)
    fields = sorted(dataclasses.fields(cls), key=lambda f: f.default is not dataclasses.MISSING)
    texts = (f"{f.name.replace('_', '-')}={_describe_kind(hints[f.name])}" for f in fields)
    return " ".join(
        text if field.default is dataclasses.MISSING else f"[{text}]"
        for field, text in zip(fields, texts, strict=True)
    )


def _describe_kind(kind: object) -> str:
    arguments = typing.get_args(kind)
    if typing.get_origin(kind) is types.UnionType:
        return "|".join(_describe_kind(a) for a in arguments if a is not types.NoneType)
    if typing.get_origin(kind) is tuple:
        return f"{_describe_kind(arguments[0])},..."
    return {int: "INTEGER", bool: "true|false", str: "NAME"}[typing.cast(type, kind)]


def unknown(word: Word, text: str, what: str, known: Iterable[str]) -> SourceError:
    """The error for a name that is not among the known ones."""
    names = sorted(known)
    close = difflib.get_close_matches(word.text, names, 1)
    if close:
        hint = f"did you mean {close[0]}?"
    else:
        few = len(names) <= _MOST_LISTED
        hint = f"there are {', '.join(names)}" if few else "--help lists what there is"
    return error_at(text, word.position, f"unknown {what}: {word.text!r}", hint)


def error_at(text: str, position: int, message: str, hint: str | None = None) -> SourceError:
    """The error that points at a position in a pipeline."""
    line = text.count("\n", 0, position)
    start = text.rfind("\n", 0, position) + 1
    place = Location("<pipeline>", line + 1, position - start + 1, text.split("\n")[line])
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
    if kind == int | str:
        kind = int if re.fullmatch(r"[+-]?\d.*", word.text, re.ASCII) else str
    if kind is str:
        return word.text
    if kind is bool and word.text in ("true", "false"):
        return word.text == "true"
    if kind is int and re.fullmatch(r"[+-]?\d{1,18}", word.text, re.ASCII):
        return int(word.text)
    if kind is int and re.fullmatch(r"[+-]?\d+", word.text, re.ASCII):
        raise error_at(text, word.position, "an integer has at most 18 digits here")
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
        self.start = (
            len(self.text) if kind is None else match.start(kind) - (kind in ("string", "nested"))
        )
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
        if name.text == "mlir-opt" and self.kind == "nested":
            return PassCall(name, (), self.word("a pipeline", ("nested",)).text)
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
