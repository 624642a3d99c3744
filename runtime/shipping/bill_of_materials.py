"""Bills of materials of wheels, in CycloneDX's JSON format."""

from __future__ import annotations

import hashlib
import json
import time
import uuid
from collections.abc import Sequence
from typing import Any

from ...support.version import __version__
from ..jit import llvm
from .moments import given_moment
from .shared_library import Export, SharedLibrary

_SPACE = uuid.UUID("5b0ff5d0-1c0c-4f0e-9d6b-6a4d2a7b9f11")
"""Serial numbers follow from what a bill says, so that the same wheel has the same one."""


def bill_of_materials(library: SharedLibrary, exports: Sequence[Export], version: str) -> str:
    """What is in a wheel, and what made it."""
    bill: dict[str, Any] = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            **_timestamp(),
            "tools": {
                "components": [
                    {"type": "application", "name": "loopwright", "version": __version__},
                    {"type": "application", "name": "LLVM", "version": llvm.version()},
                ]
            },
            "component": {
                "type": "library",
                "bom-ref": library.name,
                "name": library.name,
                "version": version,
                "purl": f"pkg:pypi/{library.name.replace('_', '-')}@{version}",
            },
        },
        "components": [
            {
                "type": "library",
                "bom-ref": "loopwright",
                "name": "loopwright",
                "version": __version__,
                "description": "checks of arguments in Python, dispatch in machine code",
                "licenses": [{"expression": "Apache-2.0 WITH LLVM-exception"}],
            },
            {
                "type": "file",
                "bom-ref": library.file_name,
                "name": f"{library.name}/lib/{library.file_name}",
                "hashes": [_hash(library.code)],
            },
            *(_program(export, library) for export in exports),
            {"type": "library", "bom-ref": "numpy", "name": "numpy", "purl": "pkg:pypi/numpy"},
        ],
        "dependencies": [
            {"ref": library.name, "dependsOn": ["loopwright", library.file_name, "numpy"]},
            {"ref": library.file_name, "dependsOn": [_reference(export) for export in exports]},
        ],
    }
    contents = json.dumps(bill, sort_keys=True)
    bill["serialNumber"] = f"urn:uuid:{uuid.uuid5(_SPACE, contents)}"
    return json.dumps(bill, indent=2, sort_keys=True) + "\n"


def _program(export: Export, library: SharedLibrary) -> dict[str, Any]:
    """The program that a function is made from, by its text."""
    levels = ", ".join(level.name for level in library.levels)
    return {
        "type": "file",
        "bom-ref": _reference(export),
        "name": f"@{export.function.name}",
        "description": f"function in MLIR, compiled for {levels}",
        "hashes": [_hash(str(export.function).encode())],
    }


def _reference(export: Export) -> str:
    return f"function-{export.function.name}"


def _hash(contents: bytes) -> dict[str, str]:
    return {"alg": "SHA-256", "content": hashlib.sha256(contents).hexdigest()}


def _timestamp() -> dict[str, str]:
    """The time that the user says: none other is the same in the next build."""
    moment = given_moment()
    if moment is None:
        return {}
    return {"timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))}
