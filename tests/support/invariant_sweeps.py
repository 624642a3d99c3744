"""Random sweeps over lines whose coefficients are, or almost are, the same for all lines."""

from __future__ import annotations

import random

ARITHMETIC = {"i32": ("muli", "addi"), "f64": ("mulf", "addf"), "f32": ("mulf", "addf")}


def sweep(seed: int) -> str:
    """A function `f(steps, n, c, x, p, q)`: `p` and `q` are recurrences along lines.

    `q` needs `p`. What may differ: loops around, lines along rows or columns, where values are
    read, whether `p` depends on coefficients, on the line or on the step, is a local array, is
    swept backwards again, or is partly overwritten.
    """
    draw = random.Random(seed)
    kind = draw.choice(list(ARITHMETIC))
    mul, add = ARITHMETIC[kind]
    table, row = f"memref<?x?x{kind}>", f"memref<?x{kind}>"
    is_local = draw.random() < 0.3
    by_rows = draw.random() < 0.5
    distance = draw.choice((1, 1, 2))
    has_steps = draw.random() < 0.6

    def at(line: str, place: str) -> str:
        return f"[{line}, {place}]" if by_rows else f"[{place}, {line}]"

    p = "%pl" if is_local else "%p"
    one = "1" if kind == "i32" else "1.0"
    lines = [
        f"func.func @f(%steps: index, %n: index, %c: {row}, %x: {table}, %p: {table}, "
        f"%q: {table}) {{",
        f"%one = arith.constant {one} : {kind}",
    ]
    if is_local:
        lines.append(f"%pl = memref.alloc(%n, %n) : {table}")
    if has_steps:
        lines.append("affine.for %t = 0 to %steps {")
    lines.append(f"affine.for %i = {draw.choice((0, 1))} to %n {{")
    for first in range(distance):
        if draw.random() < 0.5:
            lines.append(f"%f{first} = affine.load %c[{first}] : {row}")
            begin = f"%f{first}"
        else:
            begin = "%one"
        lines.append(f"affine.store {begin}, {p}{at('%i', str(first))} : {table}")
        lines.append(f"affine.store %one, %q{at('%i', str(first))} : {table}")
    lines.append(f"affine.for %j = {distance} to %n {{")
    lines.append(f"%1 = affine.load {p}{at('%i', f'%j - {distance}')} : {table}")
    other = draw.choice(("coefficient", "coefficient", "constant", "line", "step", "place"))
    match other:
        case "coefficient":
            lines.append(f"%2 = affine.load %c[%j] : {row}")
        case "line":
            lines.append(f"%2 = affine.load %c[%i] : {row}")
        case "place":
            lines.append(f"%2 = affine.load %x{at('%i', '%j')} : {table}")
        case "step" if has_steps and kind == "i32":
            lines.append("%2 = arith.index_cast %t : index to i32")
        case _:
            lines.append(f"%2 = affine.load %c[0] : {row}")
    lines += [
        f"%3 = arith.{mul} %1, %2 : {kind}",
        f"%4 = arith.{add} %3, %one : {kind}",
        f"affine.store %4, {p}{at('%i', '%j')} : {table}",
    ]
    read = draw.choice(("%j", f"%j - {distance}"))
    lines += [
        f"%5 = affine.load {p}{at('%i', read)} : {table}",
        f"%6 = affine.load %q{at('%i', '%j - 1')} : {table}",
        f"%7 = affine.load %x{at('%i', '%j')} : {table}",
        f"%8 = arith.{mul} %5, %6 : {kind}",
        f"%9 = arith.{add} %8, %7 : {kind}",
        f"affine.store %9, %q{at('%i', '%j')} : {table}",
        "}",
    ]
    if draw.random() < 0.6:
        lines += [
            f"affine.for %j = 1 to affine_map<()[s0] -> (s0 - {distance})>()[%n] {{",
            f"%10 = affine.load {p}{at('%i', 'symbol(%n) - %j - 1')} : {table}",
            f"%11 = affine.load %x{at('%i', 'symbol(%n) - %j')} : {table}",
            f"%12 = arith.{mul} %10, %11 : {kind}",
            f"affine.store %12, %x{at('%i', 'symbol(%n) - %j - 1')} : {table}",
            "}",
        ]
    if draw.random() < 0.3:
        place = at("%i", draw.choice(("0", "symbol(%n) - 1")))
        lines.append(f"affine.store %one, {p}{place} : {table}")
    lines.append("}")
    if draw.random() < 0.3:
        lines += [
            f"affine.for %i = {draw.choice((0, 2))} to %n {{",
            f"%13 = affine.load {p}{at('%i', '1')} : {table}",
            f"affine.store %13, %q{at('%i', '0')} : {table}",
            "}",
        ]
    return "\n".join([*lines, "}" if has_steps else "", "return", "}"])
