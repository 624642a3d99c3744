"""`memcpy` of whole elements, and `memset` to zero, as the loops that they stand for.

memcpy(a, b, n * sizeof *a)   ->   for (k = 0; k < n; k++) a[k] = b[k];

Where both arrays lie, and how many elements there are, must not depend on elements: the loop asks
again for each, the function once.
"""

from __future__ import annotations

from dataclasses import replace

from clang import cindex

from .aliases import element_of
from .c_types import INT, LONG, IntegerType, NumberType
from .hoisting import spread
from .read_expressions import ExpressionReader
from .tree import (
    Assignment,
    Binary,
    Block,
    Cast,
    Conditional,
    Declare,
    Evaluate,
    Expression,
    For,
    Literal,
    Name,
    Subscript,
    Symbol,
    Unary,
    walk,
    widened,
)

_CALLS = {
    f"{prefix}{name}{suffix}": name
    for name in ("memcpy", "memset")
    for prefix, suffix in (("", ""), ("__builtin_", ""), ("__builtin___", "_chk"))
}
"""What the functions are called, in headers that check lengths as well."""


def library_loop(call: cindex.Cursor, expressions: ExpressionReader) -> Block | None:
    """The loop that a call stands for; None for what is no such call."""
    meant, arguments = call.referenced, list(call.get_arguments())
    name = _CALLS.get(call.spelling)
    if name is None or len(arguments) < 3 or meant is None or meant.get_definition() is not None:
        return None
    target, given, size = (expressions.read(each) for each in arguments[:3])
    element = element_of(target)
    kind = None if element is None else element.type
    if element is None or not isinstance(kind, NumberType) or kind.width % 8:
        return None
    count = _elements(size, kind.width // 8)
    source = element_of(given) if name == "memcpy" else None
    is_zero = isinstance(given, Literal) and given.value == 0
    if count is None or not (is_zero if name == "memset" else source and source.type == kind):
        return None
    if not all(each is None or _is_fixed(each) for each in (element, source, count)):
        return None
    place, (start, end) = element.place, (call.extent.start.offset, call.extent.end.offset)
    counter = Symbol("k", LONG, place, 0)
    index = Name(place, LONG, counter)
    zero = Literal(place, INT, 0)
    value = Cast(place, kind, zero, explicit=False) if source is None else _behind(source, index)
    copied = Assignment(place, kind, "", _behind(element, index), value, kind)
    step = Assignment(place, LONG, "+", index, Literal(place, INT, 1), LONG)
    first = Declare(place, start, end, counter, Literal(place, LONG, 0))
    body = Block(place, start, end, [Evaluate(place, start, end, copied)])
    loop = For(place, start, end, first, Binary(place, INT, "<", index, count), step, body)
    block = Block(place, start, end, [loop], is_inlined=True)
    spread([block], start, end)
    return block


def _is_fixed(node: Expression) -> bool:
    """Whether subscripts and numbers read variables alone, and change none."""
    if isinstance(node, Subscript):
        return _is_fixed(node.base) and all(map(_computes, walk(node.index)))
    return all(map(_computes, walk(node)))


def _computes(node: Expression) -> bool:
    return isinstance(node, Name | Literal | Binary | Cast | Unary | Conditional)


def _behind(element: Subscript, index: Expression) -> Subscript:
    first = element.index
    if isinstance(first, Literal) and first.value == 0:
        return replace(element, index=index)
    return replace(element, index=Binary(element.place, LONG, "+", widened(first), index))


def _elements(size: Expression, width: int) -> Expression | None:
    """How many elements of so many bytes a number of bytes is, as a `long`: `n * 8` -> `n`."""
    kind = size.type
    if not isinstance(kind, IntegerType):
        return None
    if isinstance(size, Cast) and not size.explicit:
        return _elements(size.operand, width)
    if isinstance(size, Literal):
        whole, rest = divmod(int(size.value.real), width)
        return None if rest else Literal(size.place, LONG, whole)
    if width == 1:
        return _long(size)
    wraps = not kind.signed and kind.width < LONG.width
    if not isinstance(size, Binary) or size.operator != "*" or wraps:
        return None
    for scaled, other in ((size.left, size.right), (size.right, size.left)):
        count = _elements(scaled, width)
        if count is None:
            continue
        if isinstance(count, Literal) and count.value == 1:
            return _long(other)
        return Binary(size.place, LONG, "*", count, _long(other))
    return None


def _long(node: Expression) -> Expression:
    """A number of elements: one that an `int` is converted from is not negative."""
    if isinstance(node, Cast) and not node.explicit and isinstance(node.operand.type, IntegerType):
        return _long(node.operand)
    return widened(node)
