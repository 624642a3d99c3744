"""Generator of the polynomials of the elementary functions: `python tools/minimax.py`.

Writes `lowering/llvm/elementary/coefficients.py`. Each polynomial is the minimax approximation of
the smallest degree that is accurate enough, by Remez's second algorithm in 60 digits; its
coefficients are then rounded to the format. `APPROXIMATIONS` says of what, where and how accurate.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mpmath
from mpmath import mp, mpf

FILE = Path(__file__).parents[1] / "lowering" / "llvm" / "elementary" / "coefficients.py"

HEADER = '''\
"""Numbers of the elementary functions.

`COEFFICIENTS` of polynomials, constant term first, and `CONSTANTS` as sums of numbers of a format.
Written by `tools/minimax.py`, which says what each polynomial approximates.
"""

from __future__ import annotations

from collections.abc import Mapping

COEFFICIENTS: Mapping[str, tuple[float, ...]] = {
'''

CONSTANTS_HEADER = """\

CONSTANTS: Mapping[str, tuple[float, ...]] = {
"""

DIGITS = 60
GRID = 24
"""Points per coefficient among which the extrema of the error are looked for."""
EXCHANGES = 12
REFITTED = 3

Function = Callable[[Any], Any]


@dataclass(frozen=True)
class Approximation:
    """A function on an interval, and the weight that its error has in the result.

    The largest weighted error is to be less than two to the power of minus `bits`.
    """

    function: Function
    weight: Function
    low: Any
    high: Any
    bits: int


def polynomial(approximation: Approximation, precision: int) -> list[float]:
    """The coefficients of the smallest degree that is accurate enough, in a format.

    The first ones, whose rounding has the largest effect, are rounded one after the other, and the
    later ones make up for it.
    """
    bound = mpf(2) ** -approximation.bits
    for degree in range(1, 40):
        if remez(approximation, degree, ())[1] > bound:
            continue
        rounded: list[float] = []
        for _ in range(min(REFITTED, degree)):
            coefficients, _ = remez(approximation, degree, rounded)
            rounded.append(_nearest(coefficients[0], precision))
        coefficients, error = remez(approximation, degree, rounded)
        if error < 2 * bound:
            others = (_nearest(coefficient, precision) for coefficient in coefficients)
            return [*rounded, *others]
    raise ValueError("no polynomial is accurate enough")


def remez(
    approximation: Approximation, degree: int, fixed: Sequence[float]
) -> tuple[list[Any], Any]:
    """The minimax polynomial of a degree whose first coefficients are given.

    Returns its other coefficients, and its largest weighted error.
    """
    powers = range(len(fixed), degree + 1)
    low, high = mpf(approximation.low), mpf(approximation.high)
    # An odd number: none is in the middle, nor at the ends, where the functions are quotients of 0.
    count = GRID * (degree + 2) | 1
    angles = [mpf(i) / count for i in range(1, count)]
    grid = [(low + high) / 2 - (high - low) / 2 * mpmath.cospi(angle) for angle in angles]
    given = [mpf(coefficient) for coefficient in reversed(fixed)]
    values = [approximation.function(x) - mpmath.polyval(given or [mpf(0)], x) for x in grid]
    weights = [approximation.weight(x) for x in grid]
    size = len(powers) + 1
    reference = [round((len(grid) - 1) * i / (size - 1)) for i in range(size)]
    coefficients: list[Any] = []
    worst = mpf(0)
    for _ in range(EXCHANGES):
        rows = [
            [*(grid[n] ** power for power in powers), (-1) ** i / weights[n]]
            for i, n in enumerate(reference)
        ]
        solution = mp.lu_solve(mp.matrix(rows), mp.matrix([values[n] for n in reference]))
        coefficients, levelled = list(solution)[:-1], abs(solution[size - 1])
        reversed_ = [*reversed(coefficients), *(mpf(0) for _ in fixed)]
        errors = [
            (mpmath.polyval(reversed_, x) - value) * weight
            for x, value, weight in zip(grid, values, weights, strict=True)
        ]
        worst = max(map(abs, errors))
        if worst < levelled * mpf("1.01"):
            break
        reference = _alternating(errors, size) or reference
    return coefficients, worst


def _alternating(errors: Sequence[Any], count: int) -> list[int] | None:
    """The positions of so many extrema of alternating sign, with the largest among them."""
    extrema: list[int] = []
    for position, error in enumerate(errors):
        if extrema and (errors[extrema[-1]] > 0) == (error > 0):
            if abs(error) > abs(errors[extrema[-1]]):
                extrema[-1] = position
        else:
            extrema.append(position)
    while len(extrema) > count:
        # Taken from an end, so that the signs of the others still alternate.
        del extrema[0 if abs(errors[extrema[0]]) < abs(errors[extrema[-1]]) else -1]
    return extrema if len(extrema) == count else None


def _exponential(r: Any) -> Any:
    return (mpmath.expm1(r) - r) / r**2


def _exponential2(r: Any) -> Any:
    return mpmath.expm1(r * mpmath.log(2)) / r


def _inverse_tanh(z: Any) -> Any:
    """`2 atanh(s) / s` with z = s^2, which is log((1 + s) / (1 - s)) / s."""
    s = mpmath.sqrt(z)
    return 2 * mpmath.atanh(s) / s


def _exponential10(r: Any) -> Any:
    return mpmath.expm1(r * mpmath.log(10)) / r


def _arc_tangent(z: Any) -> Any:
    t = mpmath.sqrt(z)
    return (mpmath.atan(t) / t - 1) / z


def _arc_sine(z: Any) -> Any:
    s = mpmath.sqrt(z)
    return (mpmath.asin(s) / s - 1) / z


def _sine(z: Any) -> Any:
    r = mpmath.sqrt(z)
    return (mpmath.sin(r) / r - 1) / z


def _cosine(z: Any) -> Any:
    return (mpmath.cos(mpmath.sqrt(z)) - 1 + z / 2) / z**2


def _erf_quotient(z: Any) -> Any:
    x = mpmath.sqrt(z)
    return mpmath.erf(x) / x - 1


def _erfc_exponent(t: Any) -> Any:
    return -mpmath.log(mpmath.erfc(t + 1) / mpmath.erfc(1)) / t


def _erfcx(x: Any) -> Any:
    """`(1 + x) exp(x^2) erfc(x)`."""
    return (1 + x) * mpmath.exp(x * x) * mpmath.erfc(x)


def _erfcx_slope(q: Any) -> Any:
    return (_erfcx(_of_ratio(q)) - _erfcx(mpf(3))) / q


def _of_ratio(q: Any) -> Any:
    """x of `q = (x - 3) / (x + 3)`."""
    return 3 * (1 + q) / (1 - q)


def approximations() -> dict[str, Approximation]:
    """What is approximated, by name and format."""
    half_log2 = mpf("0.34662")
    largest_z = mpf("0.029438")  # ((sqrt(2) - 1) / (sqrt(2) + 1))^2
    quarter_turn = mpf("0.7855") ** 2
    eighth_turn = mpf("0.41422") ** 2
    found: dict[str, Approximation] = {}
    for name, bits, erf_end, erfc_end in (
        ("f32", 24, mpf("2.94"), mpf("10.2")),
        ("f64", 53, mpf("4.95"), mpf("27.5")),
    ):
        found |= {
            # exp(r) = 1 + r + r^2 p(r)
            f"exp.{name}": Approximation(
                _exponential, lambda r: r**2 / mpmath.exp(r), -half_log2, half_log2, bits + 5
            ),
            # 2^r = 1 + r p(r)
            f"exp2.{name}": Approximation(
                _exponential2, lambda r: abs(r) / 2**r, -mpf("0.5001"), mpf("0.5001"), bits + 5
            ),
            # log((1 + s) / (1 - s)) = 2 s + s z p(z) with z = s^2
            f"log.{name}": Approximation(
                lambda z: (_inverse_tanh(z) - 2) / z, lambda z: z / 2, 0, largest_z, bits + 5
            ),
            # sin(r) = r + r z p(z), cos(r) = 1 - z / 2 + z^2 p(z) with z = r^2
            f"sin.{name}": Approximation(_sine, lambda z: z, 0, quarter_turn, bits + 5),
            # atan(t) = t + t z p(z) with z = t^2, asin(s) = s + s z p(z) with z = s^2
            f"atan.{name}": Approximation(_arc_tangent, lambda z: z, 0, eighth_turn, bits + 4),
            f"asin.{name}": Approximation(_arc_sine, lambda z: z, 0, mpf("0.2501"), bits + 4),
            # 10^r = 1 + r p(r)
            f"exp10.{name}": Approximation(
                _exponential10, lambda r: abs(r) / 10**r, -mpf("0.1506"), mpf("0.1506"), bits + 5
            ),
            # 1 / cbrt(m), where a step of third order and one of Newton's follow
            f"inverse_cbrt.{name}": Approximation(
                lambda m: 1 / mpmath.cbrt(m),
                mpmath.cbrt,
                mpf("0.7071"),
                mpf("1.4143"),
                bits // 4,
            ),
            f"cos.{name}": Approximation(_cosine, lambda z: z**2, 0, quarter_turn, bits + 5),
            # erf(x) = x + x p(z) with z = x^2, up to 7 / 8
            f"erf.{name}": Approximation(
                _erf_quotient, lambda _: mpf(1), 0, mpf(49) / 64, bits + 4
            ),
            # erf(x) = 1 - erfc(1) exp(-t p(t)) with t = x - 1, beyond
            f"erfc.{name}": Approximation(
                _erfc_exponent,
                lambda t: abs(t) * mpmath.erfc(t + 1),
                -mpf(1) / 8,
                erf_end,
                bits + 4,
            ),
            # (1 + x) exp(x^2) erfc(x) = 4 exp(9) erfc(3) + q p(q) with q = (x - 3) / (x + 3)
            f"erfcx.{name}": Approximation(
                _erfcx_slope,
                lambda q: abs(q) / _erfcx(_of_ratio(q)),
                -1,
                (erfc_end - 3) / (erfc_end + 3),
                bits + 4,
            ),
        }
    return {
        **found,
        # log((1 + s) / (1 - s)) = 2 s + s z (2 / 3 + z p(z)), for powers
        "log_tail.f64": Approximation(
            lambda z: ((_inverse_tanh(z) - 2) / z - mpf(2) / 3) / z,
            lambda z: z**2 / 2,
            0,
            largest_z,
            68,
        ),
        # As above in f64, accurate enough for powers in f32.
        "log_short.f64": Approximation(
            lambda z: (_inverse_tanh(z) - 2) / z, lambda z: z / 2, 0, largest_z, 40
        ),
        "exp2_short.f64": Approximation(
            _exponential2, lambda r: abs(r) / 2**r, -mpf("0.5001"), mpf("0.5001"), 33
        ),
    }


def constants() -> dict[str, tuple[float, ...]]:
    """Constants as sums of numbers of a format, by name and format.

    The first part of a `short` one has so few bits that products with exponents are exact.
    """
    found: dict[str, tuple[float, ...]] = {}
    for name, bits, short in (("f32", 24, 15), ("f64", 53, 41)):
        ln2, ln10 = mpmath.log(2), mpmath.log(10)
        found |= {
            f"ln2.{name}": _parts(ln2, bits, bits),
            f"short_ln2.{name}": _parts(ln2, short, bits),
            f"log2_e.{name}": _parts(1 / ln2, bits, bits),
            f"short_log10_2.{name}": _parts(ln2 / ln10, short, bits),
            f"log10_e.{name}": _parts(1 / ln10, bits, bits),
            f"log2_10.{name}": _parts(ln10 / ln2, bits, bits),
            f"log10_2.{name}": _parts(ln2 / ln10, bits, bits),
            f"quarter_pi.{name}": _parts(mpmath.pi / 4, bits, bits),
            f"half_pi.{name}": _parts(mpmath.pi / 2, bits, bits, bits),
            f"erfc_1.{name}": _parts(mpmath.erfc(1), bits),
            f"erfcx_3.{name}": _parts(_erfcx(mpf(3)), bits, bits),
            f"two_thirds.{name}": _parts(mpf(2) / 3, bits, bits),
        }
    return found


def _parts(value: Any, *bits: int) -> tuple[float, ...]:
    """Numbers of so many bits each whose sum is nearly a value."""
    parts: list[float] = []
    for precision in bits:
        parts.append(_nearest(value, precision))
        value -= parts[-1]
    return tuple(parts)


def _nearest(value: Any, bits: int) -> float:
    with mpmath.workprec(bits):
        return float(+value)


def text() -> str:
    """The file."""
    mp.dps = DIGITS
    lines = [HEADER]
    for name, approximation in sorted(approximations().items()):
        precision = 24 if name.endswith(".f32") else 53
        lines.append(f'    "{name}": (\n')
        lines += [f"        {value!r},\n" for value in polynomial(approximation, precision)]
        lines.append("    ),\n")
    lines += ["}\n", CONSTANTS_HEADER]
    for name, parts in constants().items():
        lines.append(f'    "{name}": ({", ".join(map(repr, parts))},),\n')
    return "".join((*lines, "}\n"))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--check", action="store_true", help="compare the file, write nothing")
    new = text()
    if arguments.parse_args().check:
        sys.exit(f"{FILE.name} is not what this makes" if FILE.read_text() != new else 0)
    FILE.write_text(new)


if __name__ == "__main__":
    main()
