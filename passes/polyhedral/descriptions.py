"""Readable text of schedule trees and accesses."""

from __future__ import annotations

import re
from collections.abc import Iterator

import islpy as isl

from .affine_text import to_readable_text
from .gathers import describe_gathers
from .schedule_tree import Leaf, Loop, Sequence, Tree, statements
from .scop import Access, Scop, Statement


def describe_access(scop: Scop, statement: Statement, access: Access) -> str:
    """An element of an array, as the loops around the statement in the program name it."""
    symbols = [parameter.name for parameter in scop.parameters]
    subscripts = [
        "*" if k in access.unknown else to_readable_text(r, statement.loops, symbols)
        for k, r in enumerate(access.map.results)
    ]
    return f"{access.array.name}[{', '.join(subscripts)}]"


def describe_statement(scop: Scop, name: str) -> str:
    """`S0(i, j): C[i, j] from C[i, j], A[i, k]`: what it writes, and from what."""
    statement = scop.statement(name)
    written, read = (
        dict.fromkeys(describe_access(scop, statement, access) for access in accesses)
        for accesses in (statement.writes, statement.reads)
    )
    sources = ", ".join([*read, *describe_gathers(scop, statement)])
    source = f" from {sources}" if sources else ""
    return f"{name}({', '.join(statement.loops)}): {', '.join(written)}{source}"


def describe_loop(scop: Scop, loop: Loop) -> str:
    """`for it = floor(i / 32), parallel`: its name, its function and how it executes."""
    values = {name: _function(aff) for name, aff in loop.schedule.items()}
    own = all(
        text == loop.name and text in scop.statement(name).loops for name, text in values.items()
    )
    if loop.run_time_size is not None:
        functions = "; ".join(dict.fromkeys(values.values()))
        inner = functions if functions.isidentifier() else f"({functions})"
        value = f" = floor({inner} / {loop.run_time_size})"
    elif own:
        value = ""
    elif len(set(values.values())) == 1:
        value = f" = {next(iter(values.values()))}"
    else:
        value = f" = {'; '.join(f'{name}: {text}' for name, text in values.items())}"
    return f"for {loop.name}{value}{''.join(f', {mark}' for mark in describe_marks(loop))}"


def _function(aff: isl.Aff) -> str:
    """`{ S0[i, j] -> [(floor((i)/32))] }` -> `floor(i / 32)`."""
    text = str(aff)
    value = text[text.index("-> [(", text.index("{")) + len("-> [(") : text.rindex(")]")]
    return re.sub(r"floor\(\((\w+)\)/(\d+)\)", r"floor(\1 / \2)", value)


def describe_marks(loop: Loop) -> Iterator[str]:
    """How a loop executes: `parallel`, `vectors of 8`, `unrolled by 4`."""
    if loop.within is not None:
        yield f"in tile {loop.within.tile} of {loop.within.size}"
    if loop.parallel:
        yield "parallel"
    if loop.vector is not None:
        yield f"vectors of {loop.vector}"
    if loop.unroll is not None:
        yield f"unrolled by {loop.unroll}" if loop.unroll else "unrolled"


def describe_tree(scop: Scop, tree: Tree) -> str:
    """The loops and statements, indented, in the order in which they run."""
    return "\n".join(_lines(scop, tree, ""))


def _lines(scop: Scop, tree: Tree, indent: str) -> Iterator[str]:
    match tree:
        case Leaf(name):
            yield f"{indent}{describe_statement(scop, name)}"
        case Loop(body=body):
            yield f"{indent}{describe_loop(scop, tree)}"
            yield from _lines(scop, body, f"{indent}  ")
        case Sequence(children):
            for child in children:
                yield from _lines(scop, child, indent)


def node_label(scop: Scop, tree: Tree) -> str:
    """One node of the tree on one line."""
    match tree:
        case Leaf(name):
            return describe_statement(scop, name)
        case Loop():
            return describe_loop(scop, tree)
        case Sequence():
            return f"in order: {', '.join(statements(tree))}"
