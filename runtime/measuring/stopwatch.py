"""Compiled stopwatch: calls machine code repeatedly without Python in between.

It has the kernel's own signature, after the address of the kernel and the number of calls:

    int64_t stopwatch(void *kernel, int64_t calls, int64_t n, double alpha, double *A)
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

from ...passes.machine.target import Target
from ..jit import object_code as jit

_C_TYPES = {
    "i64": ctypes.c_int64,
    "i32": ctypes.c_int32,
    "i16": ctypes.c_int16,
    "i8": ctypes.c_int8,
    "double": ctypes.c_double,
    "float": ctypes.c_float,
    "ptr": ctypes.c_void_p,
}
_CLOCK_MONOTONIC = 1


@functools.cache
def stopwatch(types: tuple[str, ...]) -> Any:
    """A function of an address, a number of calls and arguments of these LLVM types: nanoseconds.

    It has a loop around the call; results of the kernel are ignored.
    """
    arguments = "".join(f", {kind} %a{number}" for number, kind in enumerate(types))
    text = f"""
declare i32 @clock_gettime(i32, ptr)
define internal i64 @now(ptr %time) {{
  call i32 @clock_gettime(i32 {_CLOCK_MONOTONIC}, ptr %time)
  %seconds = load volatile i64, ptr %time
  %rest = getelementptr i64, ptr %time, i64 1
  %part = load volatile i64, ptr %rest
  %whole = mul i64 %seconds, 1000000000
  %nanoseconds = add i64 %whole, %part
  ret i64 %nanoseconds
}}
define i64 @stopwatch(ptr %kernel, i64 %calls{arguments}) {{
entry:
  %time = alloca [2 x i64]
  %start = call i64 @now(ptr %time)
  br label %loop
loop:
  %done = phi i64 [ 0, %entry ], [ %next, %loop ]
  call void %kernel({arguments.removeprefix(", ")})
  %next = add i64 %done, 1
  %again = icmp slt i64 %next, %calls
  br i1 %again, label %loop, label %end
end:
  %stop = call i64 @now(ptr %time)
  %result = sub i64 %stop, %start
  ret i64 %result
}}
"""
    code = jit.compile_module(text, target=Target.host())
    loaded = jit.load_object(code, ["stopwatch"])
    _loaded.append(loaded)
    parameters = [_C_TYPES[kind] for kind in types]
    address = loaded["stopwatch"]
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, *parameters)(address)


# Stopwatches stay in memory for as long as the process.
_loaded: list[jit.LoadedObject] = []
