"""Printing of MLIR text, with the piece of the user's program that each line is from."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias, TypeVar

Node = TypeVar("Node")
Line: TypeAlias = tuple[str, Node]


@dataclass
class Block(Generic[Node]):
    """Lines of one nesting level; allocations of scalars come first, `releases` of arrays last.

    `names` are those of what it allocates, `inner` those of the blocks inside that are complete.
    """

    allocations: list[Line[Node]] = field(default_factory=list[Line[Node]])
    lines: list[Line[Node]] = field(default_factory=list[Line[Node]])
    releases: list[Line[Node]] = field(default_factory=list[Line[Node]])
    names: set[str] = field(default_factory=set[str])
    inner: set[str] = field(default_factory=set[str])

    def indented(self) -> list[Line[Node]]:
        """All lines, one level deeper."""
        lines = (*self.allocations, *self.lines, *self.releases)
        return [(f"  {text}", node) for text, node in lines]


class NotAffine(Exception):
    """A piece of an expression that cannot be part of a bound, subscript or condition."""

    def __init__(self, node: Any, reason: str, hint: str | None = None) -> None:
        super().__init__(reason)
        self.node = node
        self.reason = reason
        self.hint = hint


class Emitter(Generic[Node]):
    """The body of a function, while it is printed; nodes are pieces of the user's syntax tree."""

    def __init__(self) -> None:
        self.blocks: list[Block[Node]] = [Block()]
        self._constants: dict[str, str] = {}
        self._count = 0
        self._affine_only = 0

    @property
    def is_affine_only(self) -> bool:
        """Whether operations are not allowed."""
        return self._affine_only > 0

    @contextmanager
    def affine_only(self) -> Generator[None]:
        """What needs an operation raises NotAffine meanwhile."""
        self._affine_only += 1
        try:
            yield
        finally:
            self._affine_only -= 1

    @contextmanager
    def block(self, existing: Block[Node] | None = None) -> Generator[Block[Node]]:
        """Collects what is emitted meanwhile, in a new block or behind an existing one."""
        block: Block[Node] = Block() if existing is None else existing
        self.blocks.append(block)
        try:
            yield block
        finally:
            self.blocks.pop()
            self.blocks[-1].inner |= block.names | block.inner

    def unique(self, name: str, block: Block[Node] | None = None) -> str:
        """A name for something in memory of a block, by default of the innermost one."""
        block = block or self.blocks[-1]
        text, number = name, 0
        while text in block.inner or any(text in each.names for each in self.blocks):
            number += 1
            text = f"{name}${number}"
        block.names.add(text)
        return text

    def line(self, text: str, node: Node) -> None:
        """Prints a line."""
        self.blocks[-1].lines.append((text, node))

    def nest(self, head: str, block: Block[Node], node: Node, end: str = "}") -> None:
        """Prints a block behind its head."""
        self.blocks[-1].lines += [(f"{head} {{", node), *block.indented(), (end, node)]

    def nests(
        self, head: str, one: Block[Node], between: str, other: Block[Node], node: Node
    ) -> None:
        """Prints two blocks, the second behind `} else {` or the like."""
        self.nest(head, one, node, between)
        self.blocks[-1].lines += [*other.indented(), ("}", node)]

    def branches(self, head: str, one: Block[Node], other: Block[Node], node: Node) -> str:
        """Prints an `affine.if` with a result, and returns its name."""
        name = f"%{self._count}"
        self._count += 1
        self.nests(f"{name} = {head}", one, "} else {", other, node)
        return name

    def allocate(
        self, block: Block[Node], name: str, kind: str, node: Node, first: str = ""
    ) -> None:
        """Allocates a scalar variable in a block, with a `first` value if there is one."""
        block.allocations.append((f"%{name} = memref.alloca() : memref<{kind}>", node))
        if first:
            block.allocations.append((f"affine.store {first}, %{name}[] : memref<{kind}>", node))

    def require_operations(self, node: Node, reason: str, hint: str | None = None) -> None:
        """Raises NotAffine where operations are not allowed."""
        if self._affine_only:
            raise NotAffine(node, reason, hint)

    def operation(self, text: str, node: Node) -> str:
        """Prints an operation with one result, and returns its name."""
        self.require_operations(node, "this is not")
        name = f"%{self._count}"
        self._count += 1
        self.line(f"{name} = {text}", node)
        return name

    def constant(self, literal: str, kind: str) -> str:
        """A constant; all are printed at the top of the function."""
        dialect = "complex" if kind.startswith("complex") else "arith"
        key = f"{dialect}.constant {literal}" + ("" if kind == "i1" else f" : {kind}")
        return self._constants.setdefault(key, f"%c${len(self._constants)}")

    def constants(self, node: Node) -> list[Line[Node]]:
        """The lines of the constants."""
        return [(f"{name} = {text}", node) for text, name in self._constants.items()]
