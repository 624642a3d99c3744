"""`import loopwright` is quick: it loads nothing but itself, and its names when they are used."""

from __future__ import annotations

import os
import subprocess
import sys

import loopwright

HEAVY = ("torch", "pyarrow", "matplotlib", "numpy", "xdsl", "islpy", "llvmlite", "rich")


def loaded_after(statement: str) -> set[str]:
    """Top-level modules and those of loopwright that a fresh process has after a statement."""
    code = f"import sys; {statement}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return set(done.stdout.split())


def test_the_package_loads_nothing_heavy() -> None:
    loaded = loaded_after("import loopwright")
    assert not loaded.intersection(HEAVY)
    ours = {name for name in loaded if name.startswith("loopwright.")}
    assert ours == {"loopwright.support", "loopwright.support.version"}


def test_compiling_needs_no_model() -> None:
    loaded = loaded_after("import loopwright; loopwright.load")
    assert not loaded.intersection(("torch", "pyarrow", "matplotlib"))


def test_every_public_name_is_there() -> None:
    for name in loopwright.__all__:
        assert getattr(loopwright, name) is not None
    assert set(loopwright.__all__) <= set(dir(loopwright))
