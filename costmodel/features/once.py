"""Properties that are found out once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

Value = TypeVar("Value")


class Once(Generic[Value]):
    """`functools.cached_property` without its lock, which costs as much as a short property.

    Features are made in one thread. (From Python 3.12 on, that of the library has no lock either.)
    """

    def __init__(self, function: Callable[[Any], Value]) -> None:
        self._function = function
        self._name = function.__name__
        self.__doc__ = function.__doc__

    @overload
    def __get__(self, instance: None, owner: type[Any]) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type[Any]) -> Value: ...
    def __get__(self, instance: object | None, owner: type[Any]) -> Self | Value:
        """The value, which takes this property's place in the instance."""
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self._function(instance)
        return value
