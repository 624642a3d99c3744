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
from ...dialects.source_location import Location
from ..schedules.schedule import Transformation
from ..transformations.registry import all_transformations
from .tokens import TokenReader, Word, error_at

_TOKEN = re.compile(
    r'\s*(?:(?P<word>[\w.:+-]+)|"(?P<string>[^"\n]*)"|(?P<symbol>[{}=,])|\[(?P<nested>[^\]]*)\]'
    r"|(?P<other>\S)|$)",
    re.ASCII,
)

# Nobody reads a longer list of names in a message: xDSL alone has some 200 passes.
_MOST_LISTED = 40


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


def parse_calls(text: str) -> tuple[PassCall, ...]:
    """The passes of a pipeline, whatever they are; raises SourceError."""
    try:
        return _Parser(text).pipeline()
    except SourceError as error:
        if error.hint is not None or error.location is None:
            raise
        raise SourceError(error.message, error.location, _form(text, error.location)) from None


def _form(text: str, place: Location) -> str:
    """How the step is written at which a text is no pipeline."""
    lines = text.split("\n")[: place.line]
    before = "\n".join((*lines[:-1], lines[-1][: place.column]))
    known = all_transformations()
    names = [name for name in re.findall(r"[a-z][a-z-]*", before) if name in known]
    if not names:
        return "steps are written tile{loops=i,j sizes=32,32},parallel{loops=it}"
    return f"a step is written {names[-1]}{{{describe_options(known[names[-1]])}}}"


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


class _Parser(TokenReader):
    def __init__(self, text: str) -> None:
        super().__init__(text, _TOKEN, ("string", "nested"))

    def pipeline(self) -> tuple[PassCall, ...]:
        calls: list[PassCall] = []
        while self.kind != "end":
            calls.append(self.call())
            if self.kind != "end" and not self.accept(","):
                raise self.expected("',' between passes")
        return tuple(calls)

    def call(self) -> PassCall:
        name = self.word("the name of a pass", "word")
        if name.text == "mlir-opt" and self.kind == "nested":
            return PassCall(name, (), self.word("a pipeline", "nested").text)
        options: list[tuple[Word, tuple[Word, ...]]] = []
        if self.accept("{"):
            while not self.accept("}"):
                options.append(self.option())
        return PassCall(name, tuple(options))

    def option(self) -> tuple[Word, tuple[Word, ...]]:
        name = self.word("the name of an option or '}'", "word")
        values: list[Word] = []
        if self.accept("="):
            values.append(self.word("a value", "word", "string"))
            while self.accept(","):
                values.append(self.word("a value", "word", "string"))
        return name, tuple(values)
