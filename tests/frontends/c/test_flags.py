"""Options of C compilers: later ones undo earlier ones."""

from __future__ import annotations

import pytest

from loopwright.frontends.c.flags import in_force, is_fast, may_fuse, may_race


@pytest.mark.parametrize(
    ("flags", "kept"),
    [
        ("-Ofast -fcx-limited-range -O2 -fno-cx-limited-range", "-O2 -fno-cx-limited-range"),
        ("-std=c99 -D A -D B -std=gnu11", "-D A -D B -std=gnu11"),
        ("-ffp-contract=off -I x -ffp-contract=fast", "-I x -ffp-contract=fast"),
        ("-fopenmp -O3", "-fopenmp -O3"),
    ],
)
def test_in_force(flags: str, kept: str) -> None:
    assert in_force(flags.split()) == kept.split()


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("-ffast-math", True),
        ("-Ofast", True),
        ("-ffast-math -O2", True),
        ("-ffast-math -fno-finite-math-only", True),
        ("-O2 -Ofast", True),
        ("-Ofast -O2", False),
        ("-Ofast -fno-fast-math", False),
        ("-ffast-math -fno-fast-math", False),
        ("-Ofast -fno-associative-math", False),
        ("-ffast-math -fsigned-zeros", False),
        ("-O3", False),
    ],
)
def test_fast_math(flags: str, expected: bool) -> None:
    assert is_fast(flags.split()) == expected


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("-Ofast", True),
        ("-fallow-store-data-races", True),
        ("-Ofast -O2", False),
        ("-Ofast -fno-allow-store-data-races", False),
        ("-fallow-store-data-races -fno-allow-store-data-races", False),
    ],
)
def test_races(flags: str, expected: bool) -> None:
    assert may_race(flags.split()) == expected


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("", True),
        ("-std=gnu11", True),
        ("-std=c99", False),
        ("-std=c99 -std=gnu11", True),
        ("-ffp-contract=fast -ffp-contract=off", False),
    ],
)
def test_fused(flags: str, expected: bool) -> None:
    assert may_fuse(flags.split()) == expected
