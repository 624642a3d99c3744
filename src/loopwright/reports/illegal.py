"""Section: an illegal step, why it is, and the pair of instances that shows it."""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from ..passes.polyhedral.counting import fix_parameters
from ..passes.polyhedral.isl_context import TooComplexError
from ..passes.polyhedral.scop import Scop
from ..passes.schedules.errors import IllegalTransformation
from ..passes.schedules.violation import Violation, Witness
from ..support.markup import Markup, element, join
from .drawing import arrow_heads, legend, mark, picture, text
from .neighbourhood import bent
from .section import Section, missing
from .subject import Subject

CELL = 48.0

_MARGIN = 3
"""By how much sizes are larger than those of the smallest witness."""

MOST_VALUES = 10
"""Values of a loop around those of the witness."""


def section(subject: Subject) -> Section | None:
    """What was refused; None where every step is legal."""
    illegal = subject.illegal
    if illegal is None:
        return None
    violation, scop = illegal.violation, subject.schedule.scop
    dependence = violation.dependence
    facts = [
        ("step", element("code", illegal.operation)),
        ("dependence", f"{dependence.kind.value}, {dependence.source} to {dependence.target}"),
        ("array", dependence.array),
        ("reason", violation.describe()),
        ("hint", illegal.hint or "no repair was found"),
    ]
    listing = element(
        "dl", join(join((element("dt", name), element("dd", value))) for name, value in facts)
    )
    lead = (
        "This step would reorder dependent instances, so it is refused; the rest of the report "
        "shows the schedule before it."
    )
    try:
        drawing = _draw(scop, illegal, _enlarged(violation, violation.witness()))
    except (TooComplexError, isl.Error):
        drawing = missing("No pair of instances was found in reasonable time.")
    return Section("illegal", "Illegal step", lead, join((listing, drawing)))


def _enlarged(violation: Violation, witness: Witness) -> Witness:
    """The same pair with larger sizes, where it is a witness as well: more is around it."""
    for more in range(_MARGIN, 0, -1):
        sizes = {name: size + more for name, size in witness.sizes.items()}
        pairs = fix_parameters(violation.pairs, sizes)
        for kind, values in (
            (isl.dim_type.in_, witness.source),
            (isl.dim_type.out, witness.target),
        ):
            for position, (_, value) in enumerate(values):
                pairs = pairs.fix_val(kind, position, isl.Val(value))
        if not pairs.is_empty():
            return Witness(witness.source, witness.target, sizes)
    return witness


def _draw(scop: Scop, illegal: IllegalTransformation, witness: Witness) -> Markup:
    """The plane of both instances in which they differ, with all instances at the same sizes."""
    violation = illegal.violation
    dependence = violation.dependence
    source, target = dict(witness.source), dict(witness.target)
    names = _axes(source, target, violation.loop)
    if not names:
        return missing("The instances are in no loop, so there is no plane to draw.")
    spans = {
        name: _span(scop, dependence.source, dependence.target, witness, name) for name in names
    }
    down, across = (names[0], names[1]) if len(names) > 1 else (None, names[0])
    width = 90 + CELL * len(spans[across])
    height = 74 + CELL * (1 if down is None else len(spans[down]))

    def middle(values: dict[str, int], shift: float) -> tuple[float, float]:
        row = 0 if down is None else spans[down].index(values.get(down, spans[down][0]))
        column = spans[across].index(values.get(across, spans[across][0]))
        return 70 + CELL * (column + 0.5) + shift, 54 + CELL * (row + 0.5) + shift / 2

    parts: list[Markup] = [arrow_heads(("violated",))]
    parts += _ticks(spans, down, across)
    is_one = dependence.source == dependence.target
    shifts = {dependence.source: 0.0 if is_one else -9.0, dependence.target: 0.0 if is_one else 9.0}
    for name, style in ((dependence.source, "first"), (dependence.target, "second")):
        at = source if style == "first" else target
        for values in _instances(scop, name, names, spans, at, witness):
            x, y = middle(values, shifts[name])
            parts.append(element("circle", cx=x, cy=y, r=3.0, class_=f"dot {style}"))
    (x1, y1), (x2, y2) = (
        middle(source, shifts[dependence.source]),
        middle(target, shifts[dependence.target]),
    )
    parts.append(element("circle", cx=x1, cy=y1, r=7.0, class_="mark first"))
    parts.append(element("rect", x=x2 - 6, y=y2 - 6, width=12, height=12, class_="mark second"))
    if (x1, y1) != (x2, y2):
        d = bent(x1, y1, x2, y2, 12.0)
        parts.append(
            element("path", d=d, class_="arrow violated", marker_end="url(#head-violated)")
        )
    reason = violation.reason.value.format(loop=violation.loop)
    entries = [
        (mark("circle", "mark first"), f"{_instance(dependence.source, source)} must run first"),
        (
            mark("rect", "mark second"),
            f"{_instance(dependence.target, target)} {reason}",
        ),
    ]
    sizes = ", ".join(f"{name} = {value}" for name, value in witness.sizes.items())
    caption = f"All instances of {' and '.join(shifts)} in this plane"
    caption += f", with {sizes}." if sizes else "."
    drawing = picture(
        width, height, *parts, label=f"Witness: {violation.describe()}", class_="witness"
    )
    return element("figure", drawing, legend(entries), element("figcaption", caption))


def _axes(source: dict[str, int], target: dict[str, int], loop: str | None) -> list[str]:
    """Up to two loops to draw: the one at fault, those that differ, others; outer ones first."""
    shared = [name for name in source if name in target] or list(source) or list(target)
    rated = sorted(
        shared,
        key=lambda name: (name != loop, source.get(name) == target.get(name), shared.index(name)),
    )
    return sorted(rated[:2], key=shared.index)


def _span(scop: Scop, source: str, target: str, witness: Witness, name: str) -> list[int]:
    """The values of a loop that are drawn: all, or some around those of the witness."""
    needed = [dict(side)[name] for side in (witness.source, witness.target) if name in dict(side)]
    low, high = min(needed), max(needed)
    for statement in (scop.statement(source), scop.statement(target)):
        if name not in statement.loops:
            continue
        domain = fix_parameters(statement.domain, witness.sizes)
        position = statement.loops.index(name)
        least, greatest = domain.dim_min_val(position), domain.dim_max_val(position)
        if least.is_int() and greatest.is_int():
            low, high = min(low, least.to_python()), max(high, greatest.to_python())
    if high - low < MOST_VALUES:
        return list(range(low, high + 1))
    start = max(low, min(needed) - 2)
    values = list(range(start, start + MOST_VALUES))
    return sorted({*values, *needed})


def _instances(
    scop: Scop,
    name: str,
    axes: list[str],
    spans: dict[str, list[int]],
    at: dict[str, int],
    witness: Witness,
) -> Iterator[dict[str, int]]:
    """The instances of a statement in the plane, with the other loops as those of the witness."""
    statement = scop.statement(name)
    domain = fix_parameters(statement.domain, witness.sizes)
    for position, loop in enumerate(statement.loops):
        if loop not in axes:
            domain = domain.fix_val(isl.dim_type.set, position, isl.Val(at[loop]))
    own = [loop for loop in axes if loop in statement.loops]
    values: list[dict[str, int]] = [{}]
    for loop in own:
        values = [{**each, loop: value} for each in values for value in spans[loop]]
    for each in values:
        point = domain
        for loop, value in each.items():
            point = point.fix_val(isl.dim_type.set, statement.loops.index(loop), isl.Val(value))
        if not point.is_empty():
            yield each


def _ticks(spans: dict[str, list[int]], down: str | None, across: str) -> Iterator[Markup]:
    for number, value in enumerate(spans[across]):
        yield text(70 + CELL * (number + 0.5), 44, value, "tick", text_anchor="middle")
    yield text(70 + CELL * len(spans[across]) / 2, 18, f"{across} →", "axis", text_anchor="middle")
    if down is not None:
        for number, value in enumerate(spans[down]):
            yield text(60, 58 + CELL * (number + 0.5), value, "tick", text_anchor="end")
        yield text(4, 44, f"{down} ↓", "axis")


def _instance(name: str, values: dict[str, int]) -> str:
    return f"{name}[{', '.join(f'{loop}={value}' for loop, value in values.items())}]"
