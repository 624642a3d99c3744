"""Runs the corpus of imported programs through MLIR's own lowering: the results to compare with.

    tools/import_references.py            needs mlir-opt and mlir-translate 22

Each program is lowered to LLVM IR by `mlir-opt --test-lower-to-llvm`, and runs in llvmlite on the
inputs of the tests; `references.npz` in the folder of the tests keeps the arrays afterwards.
"""

from __future__ import annotations

import sys
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.imported_programs import REFERENCES, pieces
from support.mlir_lowering import call


def main() -> None:
    """Writes the results."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    found: dict[str, np.ndarray] = {}
    for piece in pieces():
        if not piece.has_reference:
            continue
        arguments = piece.arguments()
        try:
            call(piece, arguments)
        except RuntimeError as error:
            raise SystemExit(f"{piece.name}: {error}") from error
        for number, argument in enumerate(arguments):
            if isinstance(argument, np.ndarray):
                found[f"{piece.name}/{number}"] = argument
    np.savez_compressed(REFERENCES, **found)
    print(f"{REFERENCES}: {len(found)} arrays")


if __name__ == "__main__":
    main()
