"""Identifiers of the printed C, derived from SSA names."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager

_KEYWORDS = """
auto bool break case char const continue default do double else enum extern false float for goto if
inline int long main register restrict return short signed sizeof static struct switch true typedef
union unsigned void volatile while NAN INFINITY NULL
"""

# Functions that the printed code may call: nothing else can have these names.
_CALLED = """
abort acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1
fabs floor fma fmax fmin fmod free isfinite isinf islessgreater isnan isnormal isunordered log
log10 log1p log2 malloc memcpy nearbyint pow round signbit sin sinh sqrt tan tanh trunc
"""

# Other names in the headers: a variable may hide them, a function may not have them.
_DECLARED = """
abs aligned_alloc atof atoi atol calloc div exit fdim frexp gamma getenv hypot ilogb j0 j1 jn labs
ldexp ldiv lgamma logb lrint lround main memcmp memmove memset modf nan qsort rand random realloc
remainder remquo rint scalb scalbn srand strtod system tgamma y0 y1 yn
"""

_FORBIDDEN = frozenset((*_KEYWORDS.split(), *_CALLED.split(), *(f"{n}f" for n in _CALLED.split())))
_DECLARED_NAMES = frozenset((*_DECLARED.split(), *(f"{n}f" for n in _DECLARED.split())))

C_NAMES = _FORBIDDEN | _DECLARED_NAMES
"""Keywords of C, and names of its library that a function cannot have."""

# Helpers are called `floord`, `min` or `add_i32`; types `int64_t`; macros `INT64_C`.
_RESERVED = re.compile(
    r"_|u?int\d+_t$|U?INT\d+_|(floord|ceild|mod|min|max|allocate)$|\w+_([uif]\d+|bool)$"
)


def function_name(name: str) -> str:
    """The C name of a function: its own, unless that means something else in C."""
    base = re.sub(r"\W", "_", name, flags=re.ASCII)
    base = base if base[0].isalpha() else f"f{base}"
    return f"{base}_" if is_reserved(base) or base in _DECLARED_NAMES else base


def is_reserved(name: str) -> bool:
    """Whether a variable cannot have this name."""
    return name in _FORBIDDEN or _RESERVED.match(name) is not None


def mentions(text: str, name: str) -> bool:
    """Whether an identifier occurs in C text."""
    return re.search(rf"\b{name}\b", text) is not None


class Names:
    """Names of a function's variables: unique among those in scope, reused in disjoint scopes."""

    def __init__(self, taken: frozenset[str]) -> None:
        self._scopes: list[set[str]] = [set(taken)]

    def take(self, hint: str | None, default: str) -> str:
        """A new name made of `hint`, else of `default`; a number is appended while it is taken."""
        base = re.sub(r"\W", "_", hint or default, flags=re.ASCII)
        if not base[0].isalpha():
            base = f"{default}{base}"
        separator = "_" if base[-1].isdigit() else ""
        name, number = base, 2
        while self._is_taken(name):
            name, number = f"{base}{separator}{number}", number + 1
        self._scopes[-1].add(name)
        return name

    @contextmanager
    def scope(self) -> Generator[None]:
        """Names that are taken inside are free again afterwards."""
        self._scopes.append(set())
        yield
        self._scopes.pop()

    def _is_taken(self, name: str) -> bool:
        return is_reserved(name) or any(name in scope for scope in self._scopes)
