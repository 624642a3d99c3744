"""Programs in the forms that other tools print compute what MLIR's own lowering computes."""

from __future__ import annotations

import numpy as np
import pytest
from support.imported_programs import REFERENCES, Piece, pieces

from loopwright.runtime.program import load

PIECES = {piece.name: piece for piece in pieces()}
EXPECTED = np.load(REFERENCES)


def check(piece: Piece, schedule: str | None) -> None:
    arguments = piece.arguments()
    kernel = load(piece.text)[piece.function].compile(schedule)
    kernel(*arguments)
    for number, argument in enumerate(arguments):
        if isinstance(argument, np.ndarray):
            expected = EXPECTED[f"{piece.name}/{number}"]
            tolerance = 1e-5 if argument.dtype == np.float32 else 1e-12
            np.testing.assert_allclose(argument, expected, rtol=tolerance, err_msg=piece.name)


@pytest.mark.parametrize("name", [name for name in PIECES if PIECES[name].has_reference])
@pytest.mark.parametrize("schedule", [None, "default"])
def test_same_as_lowered(name: str, schedule: str | None) -> None:
    check(PIECES[name], schedule)
