"""Immutable objects: copying returns the object."""

from __future__ import annotations

from typing import Self


class Immutable:
    """An object that copies as itself, and that cannot be pickled: isl's objects cannot."""

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError(
            f"a {type(self).__name__} cannot be pickled; pickle the Program, which can, and the "
            "text of the schedule, str(schedule)"
        )
