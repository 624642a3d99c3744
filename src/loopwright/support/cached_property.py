"""Lock-free cached property."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

Value = TypeVar("Value", covariant=True)


class cached_property(Generic[Value]):  # noqa: N801 - a decorator
    """`functools.cached_property` without its lock, and with one value for all threads.

    Python 3.11 takes the lock each time that a value is found out, which takes as long as finding
    out most of these. Python 3.12 has none, and threads that ask at once get different objects;
    here, the first object that is found stays.
    """

    def __init__(self, find: Callable[[Any], Value]) -> None:
        self._find = find
        self._name = find.__name__
        self.__doc__ = find.__doc__

    @overload
    def __get__(self, owner: None, kind: type) -> cached_property[Value]: ...

    @overload
    def __get__(self, owner: object, kind: type) -> Value: ...

    def __get__(self, owner: object | None, kind: type) -> Value | cached_property[Value]:
        if owner is None:
            return self
        return owner.__dict__.setdefault(self._name, self._find(owner))
