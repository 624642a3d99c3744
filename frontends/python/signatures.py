"""Signatures of kernels from Python functions: equal extents, and arrays that are returned."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from ...runtime.calling.arguments import ArrayArgument, ComplexArrayArgument
from ...runtime.calling.errors import ArgumentCountError, ArgumentValueError
from ...runtime.calling.signature import Signature, Sizes
from ...runtime.kernel import Kernel
from .requirements import Requirement
from .size_attributes import Use, equal_sizes
from .translate import Translation
from .views import python_text


@dataclass(frozen=True)
class PythonSignature(Signature):
    """A signature that checks, for each specialisation, what the annotations promise.

    `groups` are the numbers that are equal: arguments, and extents of arrays.
    """

    names: tuple[str, ...] = ()
    groups: tuple[tuple[str, tuple[Use, ...]], ...] = ()
    requirements: tuple[Requirement, ...] = ()

    @classmethod
    def of_translation(cls, plain: Signature, translation: Translation) -> PythonSignature:
        """The signature of a translated function whose text has a plain one."""
        groups = equal_sizes(translation.parameters)
        names = tuple(each.name for each in translation.parameters)
        # NumPy decides by the sign of elements, where MLIR leaves it to the operations.
        arguments = tuple(
            replace(each, element=each.element.signed())
            if isinstance(each, ArrayArgument) and not each.element.is_unsigned
            else each
            for each in plain.arguments
        )
        arguments = tuple(
            replace(each, takes_parts=False) if isinstance(each, ComplexArrayArgument) else each
            for each in arguments
        )
        return cls(
            plain.kernel,
            arguments,
            plain.results,
            complex_arguments=plain.complex_arguments,
            complex_results=plain.complex_results,
            names=names,
            groups=groups,
            requirements=translation.requirements,
        )

    def sizes(self, key: tuple[tuple[int, ...] | int, ...]) -> Sizes:
        """What a key of bound arguments says; raises ArgumentValueError, SourceError."""
        sizes = super().sizes(key)
        self.check_extents(lambda use: self._value(use, sizes))
        if self.requirements:
            named = self._named(sizes)
            for each in self.requirements:
                each.check(named)
        return sizes

    def check_extents(self, value: Callable[[Use], object]) -> None:
        """Raises ArgumentValueError where numbers differ that are equal in the annotations."""
        for name, uses in self.groups:
            values = [value(use) for use in uses]
            if len(set(values)) > 1:
                parts = [
                    f"{self._spelled(use)} is {value}"
                    for use, value in zip(uses, values, strict=True)
                ]
                raise ArgumentValueError(
                    f"{self.kernel}: the extents called '{name}' differ: {', '.join(parts)}"
                )

    def _value(self, use: Use, sizes: Sizes) -> int:
        position, dimension = use
        return sizes.integers[position] if dimension is None else sizes.shapes[position][dimension]

    def _spelled(self, use: Use) -> str:
        position, dimension = use
        name = self.names[position]
        return name if dimension is None else f"{name}.shape[{dimension}]"

    def _named(self, sizes: Sizes) -> Mapping[str, int]:
        """All sizes, with the names that they have in the text."""
        named = {self.names[p]: value for p, value in sizes.integers.items()}
        for position, shape in sizes.shapes.items():
            if position < len(self.names):
                for dimension, extent in enumerate(shape):
                    named[f"{self.names[position]}.shape.{dimension}"] = extent
        return named


class ReturningKernel(Kernel):
    """A kernel of a function that returns something: it allocates the arrays among the results."""

    translation: Translation

    @cached_property
    def _given(self) -> int:
        return len(self.translation.parameters)

    @cached_property
    def _allocate(self) -> Callable[[tuple[object, ...]], tuple[Any, ...]]:
        return allocation(self.translation)

    @cached_property
    def _results(self) -> Callable[..., Any]:
        return _results(self.translation)

    def __call__(self, *args: object, **tile_sizes: int) -> Any:
        """Runs the kernel."""
        if len(args) != self._given:
            raise ArgumentCountError(
                f"{self.name}: expected {self._given} arguments, got {len(args)}"
            )
        arrays = self._allocate(args)
        numbers = super().__call__(*args, *arrays, **tile_sizes)
        return self._results(args, arrays, numbers)

    def call_on_gaps(self, *args: object) -> Any:
        """Runs the kernel on arrays of which one may have its elements in the gaps of another."""
        arrays = self._allocate(args)
        return self._results(args, arrays, super().call_on_gaps(*args, *arrays))

    def _bind(self, args: tuple[object, ...], may_meet: bool = False) -> Any:
        if len(args) == self._given:  # to specialise or to measure
            args = (*args, *self._allocate(args))
        return super()._bind(args, may_meet)


def allocation(translation: Translation) -> Callable[[tuple[object, ...]], tuple[Any, ...]]:
    """What makes the arrays among the results, from the arguments."""
    shapes = [
        "(" + "".join(f"most(0, {python_text(e)})," for e in each.sizes or ()) + ")"
        for each in translation.allocated
    ]
    names = ", ".join(each.name for each in translation.parameters)
    text = f"lambda {names}: ({''.join(f'{shape},' for shape in shapes)})"
    evaluate = cast(Callable[..., tuple[tuple[int, ...], ...]], eval(text, {"most": max}))
    types = [each.type.element.dtype for each in translation.allocated]

    def allocate(args: tuple[object, ...]) -> tuple[Any, ...]:
        try:
            found = evaluate(*args)
        except (AttributeError, IndexError, TypeError):
            # What is no array, or has too few dimensions, is refused by the kernel.
            found = [(0,) * each.rank for each in translation.allocated]
        return tuple(np.empty(shape, dtype) for shape, dtype in zip(found, types, strict=True))

    return allocate


def _results(translation: Translation) -> Callable[..., Any]:
    """What picks the results: arguments, arrays, and numbers as NumPy or Python has them."""
    arguments = {each.name: position for position, each in enumerate(translation.parameters)}
    arrays = {each.name: position for position, each in enumerate(translation.allocated)}
    several = sum(each.scalar is not None for each in translation.results) > 1

    def pick(args: tuple[object, ...], made: tuple[Any, ...], numbers: Any) -> Any:
        values = iter(numbers if several else (numbers,))
        found: list[Any] = []
        for each in translation.results:
            if each.scalar is not None:
                value = next(values)
                found.append(value if each.scalar.weak else each.scalar.element.number(value))
            elif each.view is not None and each.view.array.name in arrays:
                found.append(made[arrays[each.view.array.name]])
            else:
                assert each.view is not None
                found.append(args[arguments[each.view.array.name]])
        return tuple(found) if translation.returns_tuple else found[0]

    return pick
