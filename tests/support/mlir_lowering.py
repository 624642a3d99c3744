"""Programs through MLIR's own lowering: what imported ones are compared with."""

from __future__ import annotations

import ctypes
import re
import subprocess

import llvmlite.binding as llvm
import numpy as np

from .imported_programs import Argument, Piece

_COPY = re.compile(r"memref\.copy (\S+), (\S+) : (.*) to (.*)")


def lower(text: str) -> str:
    """LLVM IR of a program; copies are loops, as their lowering calls a library of MLIR's."""
    text = re.sub(r"module (@\w+ )?attributes \{.*\} \{\n", "module {\n", text)
    text = re.sub(r"ml_program.*", "", text)
    text = _COPY.sub(r"linalg.copy ins(\1 : \3) outs(\2 : \4)", text)
    if re.search(r" = tensor\.|-> tensor|= bufferization", text):
        # Arguments are values: what the caller passes stays.
        text = re.sub(
            r"func\.func @.*",
            lambda head: re.sub(
                r"(%\w+: tensor<[^>]*>)", r"\1 {bufferization.writable = false}", head[0]
            ),
            text,
        )
        text = _run(
            text,
            "mlir-opt-22",
            "--convert-elementwise-to-linalg",
            "--one-shot-bufferize=bufferize-function-boundaries allow-return-allocs-from-loops "
            "function-boundary-type-conversion=identity-layout-map",
            "--buffer-results-to-out-params=modify-public-functions",
        )
        text = _COPY.sub(r"linalg.copy ins(\1 : \3) outs(\2 : \4)", text)
    elif re.search(r"-> \(?memref", text):
        text = _run(text, "mlir-opt-22", "--buffer-results-to-out-params=modify-public-functions")
        text = _COPY.sub(r"linalg.copy ins(\1 : \3) outs(\2 : \4)", text)
    lowered = _run(text, "mlir-opt-22", "--llvm-request-c-wrappers", "--test-lower-to-llvm")
    return _run(lowered, "mlir-translate-22", "--mlir-to-llvmir")


def _run(text: str, *command: str) -> str:
    done = subprocess.run([*command], input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[:500])
    return done.stdout


def _filled_malloc(byte: int) -> ctypes._FuncPointer:
    """A malloc whose memory has these bytes."""
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    libc.malloc.argtypes = [ctypes.c_size_t]

    def allocate(size: int) -> int:
        memory: int = libc.malloc(size)
        ctypes.memset(memory, byte, size)
        return memory

    return ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t)(allocate)


def call(piece: Piece, arguments: list[Argument], fill: int | None = None) -> None:
    """Runs the lowered form of a program, which changes the arrays.

    With `fill`, all bytes of new memory have that value.
    """
    lowered = lower(piece.text)
    kept: list[object] = []
    if fill is not None:
        name = f"filled_malloc_{fill}"
        allocate = _filled_malloc(fill)
        kept.append(allocate)
        llvm.add_symbol(name, ctypes.cast(allocate, ctypes.c_void_p).value)
        lowered = lowered.replace("@malloc(", f"@{name}(")
    engine = llvm.create_mcjit_compiler(
        llvm.parse_assembly(lowered),
        llvm.Target.from_default_triple().create_target_machine(opt=1),
    )
    engine.finalize_object()
    address = engine.get_function_address(f"_mlir_ciface_{piece.function}")
    values: list[object] = []
    types: list[type] = []
    for kind, argument in zip([*piece.kinds, *piece.results], arguments, strict=True):
        if isinstance(argument, np.ndarray):
            descriptor = [argument.ctypes.data, argument.ctypes.data, 0, *argument.shape]
            descriptor += [stride // argument.itemsize for stride in argument.strides]
            memory = (ctypes.c_int64 * len(descriptor))(*descriptor)
            kept.append(memory)
            values.append(ctypes.addressof(memory))
            types.append(ctypes.c_void_p)
        else:
            values.append(argument)
            types.append({"f32": ctypes.c_float, "f64": ctypes.c_double}.get(kind, ctypes.c_int64))
    ctypes.CFUNCTYPE(None, *types)(address)(*values)
