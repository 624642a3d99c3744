"""Options of models: frozen dataclasses, set by name, also from text."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Mapping
from math import inf
from typing import Any, TypeVar

from ..learning.errors import LearningError

Options = TypeVar("Options")

RANGES = {
    "dropout": (0.0, 0.95),
    "share": (0.001, 1.0),
    "part": (0.001, 1.0),
    "depth": (1, 12),
    "threshold": (0.5, 0.999),
}
"""What some options can be; other integers are positive, and other numbers not negative."""

LARGEST = 1_000_000
"""Of sizes and numbers of things: no model is of use that has more."""


def read_options(cls: type[Options], values: Mapping[str, Any], model: str) -> Options:
    """The dataclass with these values; texts are converted to the type of the default.

    Raises LearningError for unknown names and values that cannot be converted.
    """
    assert dataclasses.is_dataclass(cls)
    defaults: dict[str, Any] = {field.name: field.default for field in dataclasses.fields(cls)}
    converted: dict[str, Any] = {}
    for name, value in values.items():
        if name not in defaults:
            close = difflib.get_close_matches(name, defaults, 1)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(defaults)}"
            raise LearningError(f"the model {model} has no option '{name}'; {hint}")
        converted[name] = _convert(name, value, defaults[name])
    return cls(**converted)


def _convert(name: str, value: Any, default: Any) -> Any:
    converted = _read(name, value, default)
    numbers: tuple[Any, ...] = converted if isinstance(default, tuple) else (converted,)
    for number in numbers:
        if isinstance(number, int | float) and not isinstance(number, bool):
            whole = isinstance(number, int)
            least, most = RANGES.get(name, (int(whole), LARGEST if whole else inf))
            if not least <= number <= most:
                low, high = _shown(least), _shown(most)
                limits = f"{low} or more" if most == inf else f"from {low} to {high}"
                raise LearningError(f"option {name} is {limits}, not {_shown(number)}")
    return converted


def _read(name: str, value: Any, default: Any) -> Any:
    try:
        if isinstance(default, tuple):
            parts = value.split(",") if isinstance(value, str) else value
            return tuple(int(part) for part in parts)
        return type(default)(value)
    except ValueError as error:
        kind = "integers with commas between" if isinstance(default, tuple) else "a number"
        raise LearningError(f"option {name} is {kind}, not '{value}'") from error


def _shown(number: float) -> str:
    return f"{number:,}" if isinstance(number, int) else f"{number:g}"
