"""Pieces of public MLIR: functions with loops over memrefs, each with what it refers to."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

_COMMENT = re.compile(r"//[^\n]*")
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_LOOP = re.compile(r"\b(?:affine\.for|affine\.parallel|scf\.(?:for|forall|parallel|while))\b")
_ACCESS = re.compile(
    r"\b(?:(?:affine|memref)\.(?:load|store)|affine\.vector_(?:load|store)"
    r"|vector\.(?:load|store|transfer_read|transfer_write|maskedload|maskedstore|gather|scatter))\b"
)
_MEMREF = re.compile(r"\bmemref<")
_FUNCTION = re.compile(r"\bfunc\.func\b")
_NAME = re.compile(r'@(?:[\w$.-]+|"[^"]*")')
_ALIAS = re.compile(r"(?m)^\s*([#!][A-Za-z_][\w$.]*)\s*=")
_GLOBAL = re.compile(r"(?m)^\s*memref\.global\b[^\n]*?(@[\w$.-]+)")
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|->|>=|<=|[(){}\[\]<>\n]')
_GOES_ON = re.compile(r"\s*(?:\{|attributes\b|->|:|dense)")
_OPEN, _CLOSE = "({[<", ")}]>"

DIALECTS = frozenset(
    [
        "affine",
        "arith",
        "bufferization",
        "builtin",
        "cf",
        "complex",
        "func",
        "index",
        "linalg",
        "llvm",
        "math",
        "memref",
        "scf",
        "tensor",
        "ub",
        "vector",
    ]
)
"""Dialects of loops over memrefs on CPUs; what uses others, such as gpu or omp, is no piece."""


@dataclass(frozen=True)
class PublicPiece:
    """A function, as a module of its own."""

    source: str
    function: str
    text: str

    def accepted_as(self) -> str | None:
        """What mlir-opt prints for it, with one name for all functions; None where it refuses."""
        done = subprocess.run(
            ["mlir-opt-22", "--mlir-print-op-generic"],
            input=self.text,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode or not set(re.findall(r'"(\w+)\.[\w.]+"\(', done.stdout)) <= DIALECTS:
            return None
        return done.stdout.replace(f'sym_name = "{self.function}"', "")


def public_pieces(folder: Path) -> Iterator[PublicPiece]:
    """All functions of a folder's files that have a loop, an access, and a memref."""
    for path in sorted(folder.rglob("*.mlir")):
        text = path.read_text(encoding="utf-8", errors="replace")
        for number, part in enumerate(re.split(r"(?m)^// -----.*$", text)):
            for name, piece in functions_of(part):
                if _LOOP.search(piece) and _ACCESS.search(piece) and _MEMREF.search(piece):
                    yield PublicPiece(f"{path.relative_to(folder)}#{number}", name, piece)


def functions_of(text: str) -> Iterator[tuple[str, str]]:
    """Each defined function of a module with the functions, globals and aliases it refers to."""
    text = _COMMENT.sub(_without_comment(text), text)
    spans = list(_function_spans(text))
    functions = {_name(text[start:end]): text[start:end] for start, end in spans}
    outside = "".join(
        text[before:start]
        for before, start in zip(
            [0, *(end for _, end in spans)], [*(s for s, _ in spans), len(text)], strict=True
        )
    )
    others = {**dict(_statements(outside, _ALIAS)), **dict(_statements(outside, _GLOBAL))}
    for name, function in functions.items():
        if "{" not in _STRING.sub("", function):
            continue
        wanted = list(_referred(function, {**functions, **others}, {name}))
        yield name.strip('@"'), "\n".join([*wanted, function]) + "\n"


def _without_comment(text: str) -> str:
    del text
    return ""


def _referred(text: str, known: dict[str, str], seen: set[str]) -> Iterator[str]:
    """Definitions of the names in a text, those that others need first."""
    for name in re.findall(r'@[\w$.-]+|@"[^"]*"|[#!][A-Za-z_][\w$.]*', text):
        if name in known and name not in seen:
            seen.add(name)
            yield from _referred(known[name], known, seen)
            yield known[name]


def _name(function: str) -> str:
    found = _NAME.search(function)
    return found[0] if found else ""


def _statements(text: str, head: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    for found in head.finditer(text):
        yield found[1], text[found.start() : _end(text, found.end())].strip()


def _function_spans(text: str) -> Iterator[tuple[int, int]]:
    position = 0
    while found := _FUNCTION.search(text, position):
        position = _end(text, found.end())
        yield found.start(), position


def _end(text: str, position: int) -> int:
    """Where the statement ends that a position is in: a line end outside of all brackets."""
    depth = 0
    for token in re.compile(r'"(?:[^"\\\n]|\\.)*"|->|>=|<=|[(){}\[\]<>\n]').finditer(
        text, position
    ):
        kind = token[0]
        if kind in _OPEN:
            depth += 1
        elif kind in _CLOSE:
            depth -= 1
            if depth < 0:
                return token.start()
        elif kind == "\n" and depth == 0 and not _GOES_ON.match(text, token.end()):
            return token.start()
    return len(text)


def unique(pieces: Iterable[PublicPiece]) -> Iterator[PublicPiece]:
    """Pieces that mlir-opt accepts, each one once."""
    seen: set[str] = set()
    for piece in pieces:
        printed = piece.accepted_as()
        if printed is not None and printed not in seen:
            seen.add(printed)
            yield piece
