"""C expressions with their precedence, for minimal parentheses."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.ir import SSAValue

TERNARY = 1
OR = 2
AND = 3
BITS = 4
COMPARISON = 5
SUM = 6
PRODUCT = 7
UNARY = 8
ATOM = 9

_LEVELS = {
    "+": SUM,
    "-": SUM,
    "*": PRODUCT,
    "/": PRODUCT,
    "&": BITS,
    "|": BITS,
    "^": BITS,
    "&&": AND,
    "||": OR,
    **dict.fromkeys(("<", "<=", ">", ">=", "==", "!="), COMPARISON),
}


_LEAST = {OR: BITS, BITS: PRODUCT, COMPARISON: SUM}
"""What operands of an operator must bind as tightly as, where that is more than its own level."""


@dataclass(frozen=True)
class Expression:
    """An expression; `reads` are the memrefs (not casts of them) whose elements it loads.

    `operation` is the outermost binary operator with its two operands, `constant` the value of an
    index constant, `unsigned` what a cast to a signed type was given where that is of the unsigned
    type of the same width; None for any other form.
    """

    text: str
    precedence: int = ATOM
    reads: frozenset[SSAValue] = frozenset()
    operation: tuple[Expression, str, Expression] | None = field(default=None, repr=False)
    constant: int | None = None
    unsigned: Expression | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return self.text

    def at_least(self, precedence: int) -> str:
        """The text, in parentheses where its operators bind more weakly than `precedence`."""
        return self.text if self.precedence >= precedence else f"({self.text})"


def binary(left: Expression, operator: str, right: Expression) -> Expression:
    """`left operator right`, evaluated in this order."""
    level = _LEVELS[operator]
    # Compilers warn of these without parentheses: a == b < c, a + b | c, a & b | c, a && b || c.
    least = _LEAST.get(level, level)
    is_chain = left.precedence == level == OR
    text = f"{left if is_chain else left.at_least(least)} {operator} "
    text += right.at_least(level + 1 if least == level else least)
    return Expression(text, level, left.reads | right.reads, (left, operator, right))


def unary(operator: str, operand: Expression) -> Expression:
    """`-x`, `!x` or a cast; two signs never touch."""
    inner = operand.at_least(UNARY)
    if inner.startswith(operator):
        inner = f"({inner})"
    return Expression(f"{operator}{inner}", UNARY, operand.reads)


def call(function: str, *arguments: Expression) -> Expression:
    """`function(arguments)`."""
    reads = frozenset[SSAValue]().union(*(argument.reads for argument in arguments))
    return Expression(f"{function}({', '.join(map(str, arguments))})", ATOM, reads)


def select(condition: Expression, first: Expression, second: Expression) -> Expression:
    """`condition ? first : second`."""
    operands = (condition, first, second)
    text = " ".join((condition.at_least(OR), "?", first.at_least(OR), ":", second.at_least(OR)))
    return Expression(text, TERNARY, frozenset[SSAValue]().union(*(o.reads for o in operands)))


def integer(value: int) -> Expression:
    """An integer of at most 64 bits."""
    if value == -(1 << 63):
        return Expression("INT64_MIN", constant=value)
    text = str(value) if abs(value) < 1 << 31 else f"INT64_C({value})"
    return Expression(text, ATOM if value >= 0 else UNARY, constant=value)


def assignment(target: str, value: Expression) -> str:
    """A statement: `a = b;`, `a += b;` for `a + b`, or nothing for `a` itself."""
    match value.operation:
        case (left, "+" | "-" | "*" | "/" as operator, right) if left.text == target:
            return f"{target} {operator}= {right};"
        case _ if value.text == target and target.isidentifier():
            return f"(void){target};"  # Compilers warn of `a = a`.
        case _:
            return f"{target} = {value};"
