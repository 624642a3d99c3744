"""Which elements the iterations of a nest read after they are written."""

from __future__ import annotations

from collections.abc import Sequence

from ..text.affine import Affine
from ..text.isl_text import spellings_of, text_of
from .nests import Nest


def overwrites(
    written: Sequence[Affine],
    read: Sequence[Affine],
    loops: Nest,
) -> bool:
    """Whether an iteration of a nest may read what an earlier one has written.

    The subscripts are of one array.
    """
    if not loops:
        return False
    # Most functions have nothing to ask isl.
    import islpy as isl

    from ...passes.polyhedral.isl_context import ISL_LOCK

    bounds = [bound for loop in loops for bound in (loop.start, loop.extent)]
    spellings = spellings_of([*written, *read, *bounds], [loop.name for loop in loops])
    parameters = ", ".join(spellings.values())
    first, second = (
        {**spellings, **{loop.name: f"{letter}{depth}" for depth, loop in enumerate(loops)}}
        for letter in "pq"
    )
    constraints = [
        f"0 <= {names[loop.name]} - ({text_of(loop.start, spellings)}) < "
        f"{text_of(loop.extent, spellings)}"
        for names in (first, second)
        for loop in loops
    ]
    constraints += [
        f"{text_of(one, first)} = {text_of(other, second)}"
        for one, other in zip(written, read, strict=True)
    ]
    before = [
        " and ".join([*(f"p{outer} = q{outer}" for outer in range(depth)), f"p{depth} < q{depth}"])
        for depth in range(len(loops))
    ]
    constraints.append("(" + " or ".join(f"({each})" for each in before) + ")")
    dimensions = ", ".join([names[loop.name] for names in (first, second) for loop in loops])
    with ISL_LOCK:
        text = f"[{parameters}] -> {{ [{dimensions}] : {' and '.join(constraints)} }}"
        return not isl.Set(text).is_empty()
