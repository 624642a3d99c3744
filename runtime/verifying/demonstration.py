"""Runs of two programs on the same inputs, which show that they are different."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ...dialects.errors import SourceError
from ...lowering.llvm import Options
from ...passes.machine.target import Target
from ...passes.polyhedral.equivalence.witness import Witness
from ..calling.elements import numbers, stored
from ..calling.errors import KernelError
from ..calling.inputs import InputError, Settings, make_arguments
from ..kernel import Kernel
from ..program import Function
from .answer import Demonstration

# Neither fused nor reassociated: what the programs say, operation by operation.
_OPTIONS = Options(num_threads=1, contract=False)


def demonstrate(
    first: Function,
    second: Function,
    sizes: Mapping[str, int],
    witness: Witness,
    *,
    fast_math: bool = False,
) -> Demonstration | None:
    """Inputs for which results differ, tried out for some; None where they do not.

    Small integers first, with which floating-point operations seldom round. With `fast_math`,
    floating-point numbers differ by more than half of their digits, measured by the largest of
    their array: another order of sums changes the last ones.
    """
    try:
        settings = Settings({name: str(value) for name, value in sizes.items()})
        values = make_arguments(first.scop, first.signature, settings)
        kernels = [_kernel(function) for function in (first, second)]
        for inputs in (_whole(values), values):
            one, other = (_run(kernel, inputs) for kernel in kernels)
            names = [argument.place.name for argument in first.signature.arguments]
            found = next(_differences(names, one, other, witness, fast_math), None)
            if found is not None:
                return found
    except (SourceError, KernelError, InputError, NotImplementedError):
        pass  # what cannot be run shows nothing
    return None


def _kernel(function: Function) -> Kernel:
    source = function.source(None, threads=1)
    return Kernel(source, function.signature, _OPTIONS, Target.host())


def _whole(values: Sequence[object]) -> list[object]:
    """The same inputs with floating-point numbers that are small integers."""
    random = np.random.default_rng(0)
    result: list[object] = []
    for value in values:
        if isinstance(value, float):
            result.append(float(random.integers(2, 5)))
        elif isinstance(value, np.ndarray):
            array = cast(NDArray[Any], value)
            is_float = np.issubdtype(numbers(array).dtype, np.floating)
            whole = stored(random.integers(-3, 4, array.shape), array.dtype)
            result.append(whole if is_float else array)
        else:
            result.append(value)
    return result


def _run(kernel: Kernel, values: Sequence[object]) -> list[object]:
    """The arguments after a run, and the results."""
    arguments = copy.deepcopy(list(values))
    results = kernel(*arguments)
    outcome = results if isinstance(results, tuple) else () if results is None else (results,)
    return [*arguments, *outcome]


def _differences(
    names: Sequence[str],
    first: Sequence[object],
    second: Sequence[object],
    witness: Witness,
    fast_math: bool,
) -> Iterator[Demonstration]:
    """The elements that differ, first those of the array of the witness."""
    titles = [*names, *(f"result {n}" for n in range(len(first) - len(names)))]
    triples = sorted(
        zip(titles, first, second, strict=True), key=lambda triple: triple[0] != witness.array
    )
    for name, one, other in triples:
        mine, theirs = numbers(np.asarray(one)), numbers(np.asarray(other))
        different = _unequal(mine, theirs, fast_math)
        if not different.any():
            continue
        place = witness.subscripts if name == witness.array else None
        if place is None or not different[place]:
            place = tuple(int(n) for n in np.argwhere(different)[0])
        element = f"{name}[{', '.join(map(str, place))}]" if place else name
        yield Demonstration(element, mine[place].item(), theirs[place].item())


def _unequal(first: NDArray[Any], second: NDArray[Any], fast_math: bool) -> NDArray[np.bool_]:
    """Where two arrays differ; NaN is itself."""
    different = (first != second) & ~((first != first) & (second != second))
    if not fast_math or not np.issubdtype(first.dtype, np.floating) or not different.any():
        return different
    finite = np.isfinite(first) & np.isfinite(second)
    if not finite.any():
        return different
    largest = np.maximum(np.abs(first[finite]), np.abs(second[finite])).max()
    close = np.zeros(first.shape, np.bool_)
    close[finite] = np.abs(first[finite] - second[finite]) <= largest * np.sqrt(
        np.finfo(first.dtype).eps
    )
    return different & ~close
