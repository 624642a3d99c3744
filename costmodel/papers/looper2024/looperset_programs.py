"""LOOPerSet programs as affine text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

ELEMENT_TYPES = {"float64": "f64", "float32": "f32", "int64": "i64", "int32": "i32"}

CONSTANT = 1.5
"""What a constant is taken to be: the layout has no values."""

FLOAT_OPERATIONS = {
    "add": "addf",
    "sub": "subf",
    "mul": "mulf",
    "div": "divf",
    "min": "minimumf",
    "max": "maximumf",
}
INTEGER_OPERATIONS = {
    "add": "addi",
    "sub": "subi",
    "mul": "muli",
    "div": "divsi",
    "min": "minsi",
    "max": "maxsi",
}
CALLS = {"sqrt": "sqrt", "exp": "exp", "expo": "exp"}

_RELATION = re.compile(r"\{\s*\w+\[([^\]]*)\]\s*->\s*\w+\[([^\]]*)\]")
_NAME = re.compile(r"[A-Za-z_]\w*")
_PRIMED = re.compile(r"^\s*\w+'?\s*=\s*")


class Untranslatable(Exception):
    """A program that the affine dialect cannot express; `str()` is one line."""


@dataclass(frozen=True)
class TranslatedProgram:
    """Affine text, and for each computation its statement and the loops around it."""

    text: str
    iterators: Mapping[str, tuple[str, Sequence[str]]]


def translate_program(annotation: Mapping[str, Any]) -> TranslatedProgram:
    """The program of an annotation; raises Untranslatable, KeyError."""
    return _Writer(annotation).program()


@dataclass
class _Writer:
    annotation: Mapping[str, Any]
    lines: list[str] = field(default_factory=list[str])
    ranks: dict[str, tuple[int, str]] = field(default_factory=dict[str, tuple[int, str]])
    values: int = 0

    def program(self) -> TranslatedProgram:
        computations: dict[str, Any] = dict(
            sorted(
                self.annotation["computations"].items(), key=lambda one: one[1]["absolute_order"]
            )
        )
        open_loops: list[str] = []
        iterators: dict[str, tuple[str, Sequence[str]]] = {}
        for number, (name, computation) in enumerate(computations.items()):
            wanted: list[str] = list(computation["iterators"])
            shared = 0
            while wanted[shared : shared + 1] == open_loops[shared : shared + 1] != []:
                shared += 1
            self.lines += ["}"] * (len(open_loops) - shared)
            for loop in wanted[shared:]:
                self.lines.append(self._header(loop))
            open_loops = wanted
            iterators[name] = (f"S{number}", wanted)
            self._statement(computation)
        self.lines += ["}"] * len(open_loops)
        return TranslatedProgram(self._function(), iterators)

    def _header(self, name: str) -> str:
        loop = self.annotation["iterators"][name]
        lower, upper = (self._bound(str(loop[f"{side}_bound"])) for side in ("lower", "upper"))
        return f"affine.for %{name} = {lower} to {upper} {{"

    def _bound(self, text: str) -> str:
        names = list(dict.fromkeys(_NAME.findall(text)))
        if not names:
            return str(int(text))
        if any(name not in self.annotation["iterators"] for name in names):
            raise Untranslatable(f"the bound {text} is not affine in the loops")
        formal = ", ".join(names)
        actual = ", ".join(f"%{name}" for name in names)
        return f"affine_map<({formal}) -> ({text})>({actual})"

    def _statement(self, computation: Mapping[str, Any]) -> None:
        kind = ELEMENT_TYPES.get(computation["data_type"])
        if kind is None:
            raise Untranslatable(f"elements of type {computation['data_type']}")
        loops: list[str] = list(computation["iterators"])
        loads = [
            self._emit(f"affine.load {self._element(access, loops, kind)}")
            for access in computation["accesses"]
        ]
        value = self._expression(computation["expression_representation"], iter(loads), kind)
        match = _RELATION.search(computation["write_access_relation"])
        if match is None:
            raise Untranslatable(f"the relation {computation['write_access_relation']}")
        formal = [name.strip() for name in match[1].split(",")]
        texts = [_PRIMED.sub("", subscript) for subscript in match[2].split(",")]
        renamed = dict(zip(formal, loops, strict=True))
        subscripts = [
            _NAME.sub(lambda found: f"%{renamed[found[0]]}", text.strip()) for text in texts
        ]
        buffer = self._buffer(computation["write_buffer_id"], len(subscripts), kind)
        self.lines.append(
            f"affine.store {value}, {buffer[0]}[{', '.join(subscripts)}] : {buffer[1]}"
        )

    def _element(self, access: Mapping[str, Any], loops: Sequence[str], kind: str) -> str:
        rows: list[list[int]] = access["access_matrix"]
        subscripts: list[str] = []
        for row in rows:
            terms = [
                f"%{loop}" if factor == 1 else f"%{loop} * {factor}"
                for loop, factor in zip(loops, row, strict=False)
                if factor
            ]
            if row[-1] or not terms:
                terms.append(str(row[-1]))
            subscripts.append(" + ".join(terms))
        name, memref = self._buffer(access["buffer_id"], len(rows), kind)
        return f"{name}[{', '.join(subscripts)}] : {memref}"

    def _buffer(self, number: int, rank: int, kind: str) -> tuple[str, str]:
        name = f"%b{number}"
        if self.ranks.setdefault(name, (rank, kind)) != (rank, kind):
            raise Untranslatable(f"buffer {number} has elements or a rank of two kinds")
        return name, f"memref<{'?x' * rank}{kind}>"

    def _expression(self, node: Mapping[str, Any], loads: Any, kind: str) -> str:
        operation = node["expr_type"]
        if operation in ("access", "buffer"):
            return next(loads)
        if operation == "value":
            return "%c"
        operands = [self._expression(child, loads, kind) for child in node.get("children", [])]
        table = FLOAT_OPERATIONS if kind.startswith("f") else INTEGER_OPERATIONS
        if operation in table and len(operands) == 2:
            return self._emit(f"arith.{table[operation]} {operands[0]}, {operands[1]} : {kind}")
        if operation in CALLS and kind.startswith("f") and len(operands) == 1:
            return self._emit(f"math.{CALLS[operation]} {operands[0]} : {kind}")
        raise Untranslatable(f"the operation {operation} on {kind}")

    def _emit(self, text: str) -> str:
        name = f"%{self.values}"
        self.values += 1
        self.lines.append(f"{name} = {text}")
        return name

    def _function(self) -> str:
        arguments = ", ".join(
            f"{name}: memref<{'?x' * rank}{kind}>" for name, (rank, kind) in self.ranks.items()
        )
        kinds = {kind for _, kind in self.ranks.values()}
        if len(kinds) != 1:
            raise Untranslatable("elements of several types")
        (kind,) = kinds
        constant = f"{CONSTANT:e}" if kind.startswith("f") else str(int(CONSTANT))
        text, depth = "", 0
        header = f"func.func @program({arguments}) {{"
        for line in [
            header,
            f"%c = arith.constant {constant} : {kind}",
            *self.lines,
            "return",
            "}",
        ]:
            depth -= line == "}"
            text += f"{'  ' * depth}{line}\n"
            depth += line.endswith("{")
        return text
