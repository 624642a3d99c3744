"""The normal form of a function, from which statements are read off."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import func
from xdsl.ir import SSAValue


@dataclass(frozen=True)
class NormalForm:
    """A normalised function; `returns` are the rank-0 memrefs that hold its results at the end."""

    func: func.FuncOp
    returns: tuple[SSAValue, ...] = ()


def normalise(function: func.FuncOp) -> NormalForm:
    """A normalised copy of a function; raises SourceError."""
    return NormalForm(function.clone())
