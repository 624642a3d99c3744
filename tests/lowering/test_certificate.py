"""Certificates of generated nests: the checker accepts what is right, and no mutant of it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import loopwright
from loopwright import certificate as checker
from loopwright.dialects.errors import SourceError
from loopwright.kernels.catalogue import catalogue
from loopwright.lowering.certificate import certificate

GEMM = (
    "distribute{loops=i},tile{loops=S1.i,k,S1.j sizes=8,32,16},"
    "interchange{loops=jt,kt,it},pack{loops=it array=A scaled=true},"
    "interchange{loops=k,S1.i,S1.j},vectorize{loops=S1.j width=4},parallel{loops=jt}"
)
SCHEDULES = {
    "gemm": GEMM,
    "jacobi-1d": "parallel{loops=S0.i},tile{loops=S1.i sizes=8}",
    "atax": "distribute{loops=S1.i},vectorize{loops=S0.i width=4}",
    "trisolv": "",
}


@cache
def text_of(name: str, fast_math: bool = False) -> str:
    """The certificate of a kernel with its schedule here, as JSON."""
    entry = catalogue()[f"polybench/{name}"]
    function = loopwright.load(entry.text)[entry.function]
    return json.dumps(certificate(function.schedule(SCHEDULES[name], fast_math=fast_math)))


def check(data: dict[str, Any]) -> str | None:
    """Why the checker rejects a certificate; None where it accepts it."""
    try:
        checker.Check(data).run()
    except checker.RejectedError as error:
        return str(error)
    return None


@pytest.mark.parametrize("name", SCHEDULES)
def test_what_is_right_is_accepted(name: str) -> None:
    assert check(json.loads(text_of(name))) is None
