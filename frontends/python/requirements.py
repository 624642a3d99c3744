"""What must hold of sizes for the loops to do as Python: checked where a kernel is specialised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...dialects.errors import SourceError
from ..text.affine import Affine, Index, Name
from ..text.isl_text import text_of

# Most functions require nothing: isl and xDSL are imported where one does.


@dataclass(frozen=True)
class Requirement:
    """Values of sizes that are refused: a set of isl over `names`, and the error."""

    names: tuple[str, ...]
    refused: str
    error: SourceError

    def check(self, sizes: Mapping[str, int]) -> None:
        """Raises the error where the sizes are refused."""
        import islpy as isl

        from ...passes.polyhedral.isl_context import ISL_LOCK

        values = " and ".join(f"n{position} = {sizes[n]}" for position, n in enumerate(self.names))
        with ISL_LOCK:
            here = isl.Set(f"{{ [{_tuple(len(self.names))}] : {values or '1 = 1'} }}")
            if not isl.Set(self.refused).intersect(here).is_empty():
                raise SourceError(self.error.message, self.error.location, self.error.hint)

    def affine_sets(self, values: Sequence[str], inputs: tuple[int, int]) -> list[str]:
        """The refused sizes as affine sets; `values` are those of `names` there: `d0`, `s0`."""
        import islpy as isl
        from xdsl.ir.affine import AffineExpr

        from ...passes.polyhedral.isl_context import ISL_LOCK
        from ...passes.polyhedral.size_assumptions import affine_sets

        kinds = {"d": AffineExpr.dimension, "s": AffineExpr.symbol}
        sizes = [kinds[each[0]](int(each[1:])) for each in values]
        with ISL_LOCK:
            return [str(each) for each in affine_sets(isl.Set(self.refused), sizes, inputs)]


def never(
    conditions: list[Affine], ranges: Mapping[Name, tuple[Index, Index]], error: SourceError
) -> Requirement | None:
    """That expressions are never all non-negative in the loops around.

    None where that is so for all sizes.
    """
    bounds: list[Affine] = []
    for name, (lower, upper) in ranges.items():
        loop = Affine.of(name)
        bounds += [loop.plus(part, -1) for part in lower.parts]
        bounds += [part.plus(loop, -1).plus(Affine(constant=-1)) for part in upper.parts]
    every = [*bounds, *conditions]
    names = list(dict.fromkeys(name for each in every for name in each.names()))
    sizes = [name for name in names if name not in ranges]
    loops = [name for name in names if name in ranges]
    spellings = {name: f"n{position}" for position, name in enumerate(sizes)}
    spellings |= {name: f"l{position}" for position, name in enumerate(loops)}
    constraints = [f"{text_of(each, spellings)} >= 0" for each in every]
    constraints += [f"{spellings[n]} >= 0" for n in sizes if ".shape." in n.text]
    inner = ", ".join(spellings[name] for name in loops)
    exists = f"exists {inner} : " if loops else ""
    text = f"{{ [{_tuple(len(sizes))}] : {exists}{' and '.join(constraints)} }}"
    import islpy as isl

    from ...passes.polyhedral.isl_context import ISL_LOCK

    with ISL_LOCK:
        refused = isl.Set(text)
        if refused.is_empty():
            return None
        for position in reversed(range(len(sizes))):
            if not refused.involves_dims(isl.dim_type.set, position, 1):
                refused = refused.project_out(isl.dim_type.set, position, 1)
                del sizes[position]
        return Requirement(tuple(name.text for name in sizes), str(refused), error)


def _tuple(count: int) -> str:
    return ", ".join(f"n{position}" for position in range(count))
