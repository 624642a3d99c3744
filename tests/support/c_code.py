"""Programs printed as C, built by the installed compilers, called with NumPy arrays."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Operation

import loopwright
from loopwright.dialects.parse import parse_module
from loopwright.lowering.c import emit_c
from loopwright.lowering.c.names import function_name

from .machine_code import C_TYPES, array_and_sizes

WARNINGS = ("-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas")


def compilers() -> list[str]:
    """The installed C compilers; at least one is needed."""
    names = ("gcc", "clang", *(f"clang-{version}" for version in range(30, 13, -1)))
    found = [name for name in names if shutil.which(name)]
    assert found, "the tests need a C compiler (gcc or clang)"
    gcc = [name for name in found if name == "gcc"]
    return gcc + [name for name in found if name != "gcc"][:1]


def build(compiler: str, texts: list[str], folder: Path, *flags: str) -> ctypes.CDLL:
    """C files as one library; fails on any warning."""
    names: list[str] = []
    for number, text in enumerate(texts):
        names.append(f"program{number}.c")
        (folder / names[-1]).write_text(text)
    library = folder / "program.so"
    command = [compiler, "-std=c99", *WARNINGS, "-O1", *flags, "-fPIC", "-shared"]
    run = subprocess.run(
        [*command, *names, "-lm", "-o", library.name],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return ctypes.CDLL(str(library))


class CCode:
    """The functions of a module as C; `code(name, *arguments)` calls one."""

    def __init__(
        self,
        program: str | ModuleOp,
        folder: Path,
        compiler: str,
        *flags: str,
        parallel: Collection[Operation] = (),
    ) -> None:
        module = parse_module(program) if isinstance(program, str) else program
        self.functions = {
            op.sym_name.data: op.function_type for op in module.ops if isinstance(op, func.FuncOp)
        }
        self.text = emit_c(module, parallel=parallel)
        self.library = build(compiler, [self.text], folder, *flags)

    def __call__(self, name: str, *arguments: Any) -> Any:
        """Calls a function; returns its result, or the tuple of its results."""
        return call_c(self.library, name, self.functions[name], arguments)


def call_c(
    library: ctypes.CDLL, name: str, kind: func.FunctionType, arguments: Collection[Any]
) -> Any:
    """Calls a printed function: sizes come before their array."""
    types: list[Any] = []
    values: list[Any] = []
    for argument, parameter in zip(arguments, kind.inputs, strict=True):
        if isinstance(parameter, MemRefType):
            pointer, sizes = array_and_sizes(argument, parameter)
            types += [*[ctypes.c_int64] * len(sizes), ctypes.c_void_p]
            values += [*sizes, pointer]
        else:
            types.append(C_TYPES[str(parameter)])
            values.append(argument)
    results = [C_TYPES[str(result)] for result in kind.outputs]
    function = library[function_name(name)]
    if len(results) <= 1:
        function.restype = results[0] if results else None
        function.argtypes = types
        return function(*values)
    cells = [result() for result in results]
    function.restype = None
    function.argtypes = [*types, *[ctypes.c_void_p] * len(cells)]
    function(*values, *map(ctypes.addressof, cells))
    return tuple(cell.value for cell in cells)


def assert_same_as_compiled(
    path: Path,
    sizes: Sequence[tuple[int, int]],
    arrays: Callable[[], Mapping[str, np.ndarray]],
    schedules: Sequence[str | None] = (None, "default"),
) -> None:
    """The function `f(n, m, arrays...)` of a C file does what gcc -O0 makes of it.

    Arrays that the region sees as rows are passed with rows of m elements.
    """
    library = path.with_suffix(".so")
    flags = ("-O0", "-w", "-fwrapv", "-ffp-contract=off", "-shared", "-fPIC")
    command = [compilers()[0], *flags, str(path), "-lm", "-o", str(library)]
    subprocess.run(command, check=True)
    compiled = ctypes.CDLL(str(library))
    function = loopwright.load(path)["f"]
    kernels = [function.compile(schedule, threads=2) for schedule in schedules]
    for n, m in sizes:
        expected = arrays()
        compiled.f(n, m, *(each.ctypes.data_as(ctypes.c_void_p) for each in expected.values()))
        for kernel in kernels:
            found = arrays()
            given: dict[str, object] = {**found, "n": n, "m": m}
            kernel(
                *(
                    _in_rows(given[each.place.name], m, len(getattr(each, "shape", ())))
                    for each in function.signature.arguments
                )
            )
            for name, array in found.items():
                np.testing.assert_allclose(array, expected[name], rtol=1e-13, err_msg=name)


def assert_same_with_jumps(
    path: Path, body: str, *, helpers: str = "", sizes: Sequence[int], seeds: int = 1
) -> None:
    """A body with jumps does what gcc -O0 makes of it, to x, y, z and its result k."""
    text = (
        f"{helpers}void f(int n, double *x, double *y, int *z, int *r) {{\nint k = -1;\n"
        f"#pragma scop\n{body}\n*r = k;\n#pragma endscop\n}}\n"
    )
    path.write_text(text)
    library = build(compilers()[0], [text], path.parent, "-O0", "-w", "-Wno-error")
    function = loopwright.load(path)["f"]
    names = [each.place.name for each in function.signature.arguments]
    for schedule in (None, "default"):
        kernel = function.compile(schedule, threads=1)
        for n, seed in product(sizes, range(seeds)):
            random = np.random.default_rng(n + 1000 * seed)
            x, y = random.standard_normal((2, n))
            given = {"n": n, "x": x, "y": y, "z": random.integers(-5, 6, n, dtype="i4")}
            given |= {"r": np.zeros(1, "i4"), "k": np.array(-1, "i4"), "i": np.array(0, "i4")}
            expected = [np.array(given[each]) for each in ("x", "y", "z", "r")]
            kernel(*(given[each] for each in names))
            library.f(n, *(each.ctypes.data_as(ctypes.c_void_p) for each in expected))
            found = [given[each] for each in ("x", "y", "z", "r")]
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-14)


def _in_rows(value: object, m: int, rank: int) -> object:
    """An argument as the text has it: rows of m elements."""
    if isinstance(value, np.ndarray) and rank > value.ndim:
        return value[: value.size // m * m].reshape(-1, m)
    return value
