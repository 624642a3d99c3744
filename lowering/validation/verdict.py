"""Verdicts of validation: proved, violated with a witness, or unknown with a reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

import islpy as isl

from ...dialects.errors import SourceError

_SET, _PARAM = isl.dim_type.set, isl.dim_type.param


class Property(Enum):
    """A property of the generated code that is proved."""

    COVERAGE = "every instance of the program runs exactly once"
    ORDER = "every dependence keeps its order"
    PARALLELISM = "no parallel or vector loop carries a dependence"
    DATAFLOW = "every read sees the value of the same last writer"
    STORAGE = "local arrays are accessed within their extents"


@dataclass(frozen=True)
class Witness:
    """Statement instances, and the sizes with which they show a violation."""

    instances: tuple[str, ...]
    sizes: Mapping[str, int]

    def __str__(self) -> str:
        sizes = ", ".join(f"{name}={value}" for name, value in self.sizes.items())
        return ", ".join(self.instances) + (f" (with {sizes})" if sizes else "")

    @classmethod
    def among(cls, instances: isl.Set) -> Witness:
        """One of the instances, of a statement that the set is named after."""
        names = (instances.get_tuple_name() or "",)
        return cls._at(instances, names, (instances.dim(_SET),))

    @classmethod
    def between(cls, pairs: isl.Map) -> Witness:
        """One of the pairs of instances."""
        kinds = isl.dim_type.in_, isl.dim_type.out
        names = tuple(pairs.get_tuple_name(kind) or "" for kind in kinds)
        return cls._at(pairs.wrap().flatten(), names, tuple(pairs.dim(kind) for kind in kinds))

    @classmethod
    def _at(cls, points: isl.Set, names: tuple[str, ...], depths: tuple[int, ...]) -> Witness:
        point = points.sample_point()
        values = _coordinates(point, _SET, sum(depths))
        texts: list[str] = []
        for name, depth in zip(names, depths, strict=True):
            texts.append(f"{name}[{', '.join(map(str, values[:depth]))}]")
            values = values[depth:]
        count = points.dim(_PARAM)
        parameters = [points.get_dim_name(_PARAM, k) or "" for k in range(count)]
        sizes = _coordinates(point, _PARAM, count)
        return cls(tuple(texts), dict(zip(parameters, sizes, strict=True)))


def _coordinates(point: isl.Point, kind: isl.dim_type, count: int) -> list[int]:
    return [point.get_coordinate_val(kind, k).to_python() for k in range(count)]


@dataclass(frozen=True)
class Violation:
    """A violated property, how, and a witness."""

    property: Property
    message: str
    witness: Witness | None = None

    def __str__(self) -> str:
        where = "" if self.witness is None else f", for instance {self.witness}"
        return f"{self.message}{where}"


@dataclass(frozen=True)
class Verdict:
    """Verdict on one nest: proved if there is neither a violation nor a reason.

    `trusted` are steps behind the nest that have changed the loop IR, and are not proved.
    """

    violation: Violation | None = None
    reason: str | None = None
    trusted: tuple[str, ...] = ()

    @property
    def is_proved(self) -> bool:
        """Whether all properties hold."""
        return self.violation is None and self.reason is None

    def __str__(self) -> str:
        if self.violation is not None:
            return f"violated: {self.violation}"
        if self.reason is not None:
            return f"not known: {self.reason}"
        return ", but not: ".join(["proved", *filter(None, [", ".join(self.trusted)])])


class ViolatedError(Exception):
    """Ends a check with a violation."""

    def __init__(self, property: Property, message: str, witness: Witness | None = None) -> None:
        super().__init__(message)
        self.violation = Violation(property, message, witness)


class NotKnownError(Exception):
    """Ends a check that proves neither the property nor a violation."""


class ValidationError(SourceError):
    """The generated code is not equivalent to the program."""
