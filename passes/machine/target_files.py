"""Target descriptions in TOML: named targets, and the reference machine of features.

A file has a table `machine`, whose keys are the fields of `Machine`, and may take over what it does
not say from a file that it `inherits`. A named target also has tables `code` (for whom code is
generated: LLVM's name of the `processor`, the `architecture` as the system calls it, and
`features` as Linux calls them), and `cpuinfo` where Linux tells such machines apart by more than
their features. Every figure has its source beside it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ...support.bounded_files import read_text
from .cpuinfo import CpuInfo
from .machine import Machine

FOLDER = Path(__file__).parent / "targets"
_REFERENCE = Path(__file__).parent / "reference.toml"

_GENERIC = {
    "avx512f": "generic-avx512",
    "avx2": "generic-avx2",
    "sse4_2": "generic-sse4",
    "asimd": "generic-neon",
}
"""What a processor is that no file describes, by its widest vectors."""

_LEAST = "generic-sse2"


@dataclass(frozen=True)
class TargetFile:
    """A named target as its file describes it."""

    name: str
    processor: str
    architecture: str
    features: frozenset[str]
    machine: Machine


def target_names() -> tuple[str, ...]:
    """The names of all files, sorted."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


@cache
def target_file(name: str) -> TargetFile:
    """The file of a named target."""
    path = FOLDER / f"{name}.toml"
    code = _read(path)["code"]
    return TargetFile(
        name,
        code["processor"],
        code["architecture"],
        frozenset(code["features"]),
        _machine(path),
    )


@cache
def reference_machine() -> Machine:
    """The machine that features of cost models are computed on, whatever machine they are for."""
    return _machine(_REFERENCE)


def nearest_file(info: CpuInfo) -> TargetFile:
    """The file that describes a processor best.

    That is the one of its model, or one whose flags it has: hypervisors make up models more often
    than flags, so these count more. Where vectors of that width cannot be used, as in some virtual
    machines, or where there is none, it is a generic one.
    """
    generic = _generic(info.features)
    files = (target_file(name) for name in _describing(info))
    return next((f for f in files if _generic(f.features) == generic), None) or target_file(generic)


def _describing(info: CpuInfo) -> list[str]:
    """The targets whose flags or whose model a processor has, in this order."""
    by_flags: list[str] = []
    by_model: list[str] = []
    for name in target_names():
        identity = dict(_identity(name))
        flags, model = identity.pop("flags", ()), identity.pop("model", None)
        if not identity or not _describes(identity, info):
            continue
        if flags and info.features.issuperset(flags):
            by_flags.append(name)
        if model is None or _describes({"model": model}, info):
            by_model.append(name)
    return [*by_flags, *by_model]


def _identity(name: str) -> Mapping[str, Any]:
    """The table `cpuinfo` of a target's file, whose figures are not read.

    It is what fields of /proc/cpuinfo are on such machines: one of some words, numbers, or ranges
    of numbers (first and last); `flags` are some that no other processors of the vendor have.
    """
    _, _, rest = read_text(FOLDER / f"{name}.toml").partition("\n[cpuinfo]\n")
    return tomllib.loads(rest.partition("\n[")[0])


def _describes(identity: Mapping[str, Any], info: CpuInfo) -> bool:
    """Whether fields of a processor are among those of a target."""
    return all(
        _is_one_of(info.fields.get(field, ""), allowed) for field, allowed in identity.items()
    )


def _generic(features: frozenset[str]) -> str:
    return next((name for feature, name in _GENERIC.items() if feature in features), _LEAST)


def _is_one_of(text: str, allowed: Sequence[str | int | Sequence[int]]) -> bool:
    """Whether a field is one of some words, numbers, or ranges of numbers (first and last)."""
    try:
        number = int(text, 0)
    except ValueError:
        return text in allowed
    return any(
        each[0] <= number <= each[1] if isinstance(each, list) else number == each
        for each in allowed
    )


@cache
def _read(path: Path) -> dict[str, Any]:
    return tomllib.loads(read_text(path))


def _machine(path: Path) -> Machine:
    return Machine(**_figures(path))


def _figures(path: Path) -> dict[str, Any]:
    """The fields of a machine, with what it inherits."""
    data = _read(path)
    found = _figures(FOLDER / f"{data['inherits']}.toml") if "inherits" in data else {}
    for name, value in data["machine"].items():
        found[name] = found.get(name, {}) | _table(value) if isinstance(value, dict) else value
    return found


def _table(values: Any) -> dict[str | int, float]:
    """A table of figures; levels of caches are numbers."""
    return {int(key) if key.isdigit() else key: value for key, value in values.items()}
