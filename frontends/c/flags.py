"""Options of C compilers that say what a program means, of which later ones undo earlier ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

LIMITED_RANGE = "-fcx-limited-range"
"""The flag that makes products of complex numbers those of the formula alone."""

RACES = "-fallow-store-data-races"
"""The flag that lets stores under conditions be made always."""

UNKNOWN_TO_CLANG = (RACES, "-fno-allow-store-data-races")

_KIND = re.compile(r"-(?:O|std=|f(?:no-)?(?P<name>[\w-]+))")

_EXACT = {
    *("-fno-associative-math", "-fno-unsafe-math-optimizations"),
    *("-fno-reciprocal-math", "-fsigned-zeros"),
}
"""What takes a part of fast math back."""


def in_force(flags: Iterable[str]) -> list[str]:
    """The flags without those that a later one of the same kind undoes.

    -Ofast -fcx-limited-range -O2 -fno-cx-limited-range   ->   -O2 -fno-cx-limited-range
    """
    last: dict[str, str] = {}
    for number, flag in enumerate(flags):
        found = _KIND.match(flag)
        kind = str(number) if found is None else found["name"] or found[0]
        last.pop(kind, None)
        last[kind] = flag
    return list(last.values())


def is_fast(flags: Sequence[str]) -> bool:
    """Whether sums may be reassociated: no part of fast math is taken back."""
    known = {*in_force(flags)}
    return bool(known & {"-ffast-math", "-Ofast"}) and not known & {"-fno-fast-math", *_EXACT}


def limits_complex_range(flags: Sequence[str]) -> bool:
    """Whether infinite complex numbers do not matter: explicitly, or else under fast math."""
    known = {*in_force(flags)}
    if "-fno-cx-limited-range" in known:
        return False
    return bool(known & {LIMITED_RANGE, "-fcx-fortran-rules"}) or is_fast(flags)


def may_race(flags: Sequence[str]) -> bool:
    """Whether what is written under a condition may always be written."""
    known = {*in_force(flags)}
    return bool(known & {RACES, "-Ofast"}) and "-fno-allow-store-data-races" not in known


def may_fuse(flags: Sequence[str]) -> bool:
    """Whether a product and a sum may be one operation: not in ISO C."""
    exact = ("-std=c", "-ansi", "-ffp-contract=off")
    return not any(each.startswith(exact) for each in in_force(flags))
