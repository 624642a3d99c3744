"""Libraries that loopwright builds, used from C programs and called directly."""

from __future__ import annotations

import ctypes
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from loopwright.runtime.library.build import Library

from .c_code import WARNINGS

C_TYPES: dict[str, Any] = {
    "int64_t": ctypes.c_int64,
    "int32_t": ctypes.c_int32,
    "int8_t": ctypes.c_int8,
    "bool": ctypes.c_bool,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
}


def run(*command: str, folder: Path) -> str:
    """The output of a command that must succeed without a word on standard error."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def run_program(compiler: str, text: str, library: Library, *flags: str) -> str:
    """What a C program prints that is linked with the library as the library says."""
    folder = library.file.parent
    (folder / "main.c").write_text(text)
    _, *link = shlex.split(library.link)
    run(compiler, "-std=c99", *WARNINGS, *flags, *link, folder=folder)
    return run("./main", folder=folder)


class SharedLibrary:
    """A shared library; `library(name, *arguments)` calls a function as its header declares it."""

    def __init__(self, built: Library) -> None:
        self.code = ctypes.CDLL(str(built.file))
        self.header = built.header.read_text()

    def parameters(self, name: str) -> list[tuple[str, str]]:
        """Types and names of the parameters in the header."""
        found = re.search(rf"^int {name}\((.*?)\);", self.header, re.MULTILINE | re.DOTALL)
        assert found, self.header
        texts = [re.sub(r"\s+", " ", text).strip() for text in found[1].split(",")]
        pairs = [re.fullmatch(r"(.*?)(\w+)", text) for text in texts if text != "void"]
        return [(pair[1].strip(), pair[2]) for pair in pairs if pair]

    def __call__(self, name: str, *arguments: Any) -> int:
        """The status; arrays stand for their address."""
        function = self.code[name]
        parameters = self.parameters(name)
        function.argtypes = [
            ctypes.c_void_p if kind.endswith("*") else C_TYPES[kind] for kind, _ in parameters
        ]
        values = [
            value.ctypes.data if isinstance(value, np.ndarray) else value for value in arguments
        ]
        assert len(values) == len(parameters), parameters
        return function(*values)
