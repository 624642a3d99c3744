"""Microbenchmarks: loops bound by one resource of the machine."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from ...lowering.llvm.llvm_target import function_attributes
from ...lowering.llvm.names import RUNTIME_FUNCTIONS
from ...passes.machine.target import Target
from ..jit import object_code as jit
from ..jit.openmp import imports

ACCUMULATORS = 16
"""Independent chains of fused multiply-adds: more than latency times units of any CPU."""

CONSTANTS = 4
"""Vector registers that the chains leave free, for their operands above all."""

UNROLL = 8
"""Vectors that one iteration of a memory probe reads from each array."""

OPTIONS = jit.CompileOptions(vectorise=False)

_LLVM_TYPES = {"f32": "float", "f64": "double"}
_BYTES = {"f32": 4, "f64": 8, "i8": 1, "i16": 2, "i32": 4, "i64": 8}


@dataclass(frozen=True)
class Pattern:
    """A memory microbenchmark: its arrays, and bytes moved per vector."""

    name: str
    arrays: int


PATTERNS = (Pattern("read", 1), Pattern("copy", 2), Pattern("triad", 3))


@dataclass(frozen=True)
class Probes:
    """The microbenchmarks for one target.

    `arithmetic[type](n)` does `n * operations[type]` operations, multiplications with additions of
    floats, additions and exclusive ors of integers;
    `memory[name](a, b, c, steps, repeats)` goes `repeats` times through `steps * step_bytes` bytes
    of each of its arrays, given by their addresses; `fork(n, threads)` starts and ends `n` parallel
    regions.
    """

    arithmetic: Mapping[str, Callable[[int], object]]
    operations: Mapping[str, int]
    memory: Mapping[str, Callable[[int, int, int, int, int], object]]
    step_bytes: int
    fork: Callable[[int, int], object]
    code: jit.LoadedObject


@cache
def probes() -> Probes:
    """The probes for this machine, compiled."""
    target = Target.host()
    lanes, chains = _lanes(target), _chains(target)
    names = [f"arithmetic_{kind}" for kind in lanes] + [pattern.name for pattern in PATTERNS]
    code = jit.compile_module(llvm_text(target), target=target, options=OPTIONS)
    loaded = jit.load_object(code, [*names, "fork"], imports())
    number = ctypes.c_int64
    address = ctypes.c_void_p
    memory = ctypes.CFUNCTYPE(None, address, address, address, number, number)
    return Probes(
        {kind: ctypes.CFUNCTYPE(None, number)(loaded[f"arithmetic_{kind}"]) for kind in lanes},
        {kind: 2 * chains * count for kind, count in lanes.items()},
        {pattern.name: memory(loaded[pattern.name]) for pattern in PATTERNS},
        UNROLL * target.vector_bits // 8,
        ctypes.CFUNCTYPE(None, number, ctypes.c_int32)(loaded["fork"]),
        loaded,
    )


def llvm_text(target: Target) -> str:
    """The module with all microbenchmarks for a target, as LLVM's text."""
    lanes = _lanes(target)
    functions = [
        *(_arithmetic(kind, count, _chains(target)) for kind, count in lanes.items()),
        *(_memory(pattern, lanes["f64"]) for pattern in PATTERNS),
        _FORK,
    ]
    attributes = " ".join(function_attributes(target))
    return "\n".join([*functions, f"attributes #0 = {{ {attributes} }}"])


def _lanes(target: Target) -> dict[str, int]:
    return {kind: target.vector_bits // 8 // size for kind, size in _BYTES.items()}


def _chains(target: Target) -> int:
    """Accumulators of the arithmetic microbenchmarks."""
    return min(ACCUMULATORS, target.vector_registers - CONSTANTS)


def _arithmetic(kind: str, lanes: int, chains: int) -> str:
    """n times: the accumulator x of each chain becomes x * 0.5 + 1.0, or (x xor 5) + 1."""
    scalar = _LLVM_TYPES.get(kind, kind)
    is_float = kind in _LLVM_TYPES
    name, vector = f"arithmetic_{kind}", f"<{lanes} x {scalar}>"
    first, second = ("fmul contract", "fadd contract") if is_float else ("xor", "add")
    left, right = (
        _splat(scalar, lanes, value) for value in (("0.5", "1.0") if is_float else ("5", "1"))
    )
    numbers = range(chains)
    # What LLVM knows of a value, it computes with: the operands are read where it knows nothing.
    starts = [f"  %s{i} = load volatile {vector}, ptr %sink" for i in numbers]
    phis = [f"  %x{i} = phi {vector} [ %s{i}, %entry ], [ %y{i}, %loop ]" for i in numbers]
    steps = [
        f"  %p{i} = {first} {vector} %x{i}, %left\n  %y{i} = {second} {vector} %p{i}, %right"
        for i in numbers
    ]
    # The results must be needed, but nobody needs to wait for them in the loop.
    uses = [f"  store volatile {vector} %y{i}, ptr %sink" for i in numbers]
    return "\n".join(
        [
            f"define void @{name}(i64 %n) #0 {{",
            "entry:",
            f"  %sink = alloca {vector}",
            f"  store volatile {vector} {right}, ptr %sink",
            f"  %right = load volatile {vector}, ptr %sink",
            f"  store volatile {vector} {left}, ptr %sink",
            f"  %left = load volatile {vector}, ptr %sink",
            *starts,
            "  br label %loop",
            "loop:",
            "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]",
            *phis,
            *steps,
            "  %next = add i64 %i, 1",
            "  %again = icmp slt i64 %next, %n",
            "  br i1 %again, label %loop, label %end",
            "end:",
            *uses,
            "  ret void",
            "}",
        ]
    )


def _splat(scalar: str, lanes: int, value: str) -> str:
    return "<" + ", ".join([f"{scalar} {value}"] * lanes) + ">"


def _memory(pattern: Pattern, lanes: int) -> str:
    """Goes through the arrays; what was read ends in a volatile store."""
    vector = f"<{lanes} x double>"
    zero = "zeroinitializer"
    body: list[str] = []
    for i in range(UNROLL):
        body.append(f"  %o{i} = add i64 %first, {i}")
        arrays = "abc"[: pattern.arrays]
        body += [
            f"  %{array}{i} = getelementptr inbounds {vector}, ptr %{array}, i64 %o{i}"
            for array in arrays
        ]
        body += [
            f"  %v{array}{i} = load {vector}, ptr %{array}{i}, align 64"
            for array in (arrays[1:] or arrays)
        ]
        match pattern.name:
            case "read":
                body.append(f"  %y{i} = fadd {vector} %x{i}, %va{i}")
            case "copy":
                body.append(f"  store {vector} %vb{i}, ptr %a{i}, align 64")
            case _:
                scale = _splat("double", lanes, "0.5")
                body.append(f"  %p{i} = fmul contract {vector} %vc{i}, {scale}")
                body.append(f"  %s{i} = fadd contract {vector} %p{i}, %vb{i}")
                body.append(f"  store {vector} %s{i}, ptr %a{i}, align 64")
    reads = pattern.name == "read"
    phis = [
        f"  %x{i} = phi {vector} [ {zero}, %pass ], [ %y{i}, %loop ]" for i in range(UNROLL * reads)
    ]
    uses = [f"  store volatile {vector} %y{i}, ptr %sink" for i in range(UNROLL * reads)]
    return "\n".join(
        [
            f"define void @{pattern.name}(ptr noalias %a, ptr noalias %b, ptr noalias %c,"
            " i64 %steps, i64 %repeats) #0 {",
            "entry:",
            f"  %sink = alloca {vector}",
            "  br label %pass",
            "pass:",
            "  %r = phi i64 [ 0, %entry ], [ %following, %passed ]",
            # Memory may have changed, for all LLVM knows: every pass must be made.
            '  call void asm sideeffect "", "r,r,r,~{memory}"(ptr %a, ptr %b, ptr %c)',
            "  br label %loop",
            "loop:",
            "  %step = phi i64 [ 0, %pass ], [ %next, %loop ]",
            *phis,
            f"  %first = mul i64 %step, {UNROLL}",
            *body,
            "  %next = add i64 %step, 1",
            "  %again = icmp slt i64 %next, %steps",
            "  br i1 %again, label %loop, label %passed",
            "passed:",
            *uses,
            "  %following = add i64 %r, 1",
            "  %more = icmp slt i64 %following, %repeats",
            "  br i1 %more, label %pass, label %end",
            "end:",
            "  ret void",
            "}",
        ]
    )


_FORK = f"""
declare void @{RUNTIME_FUNCTIONS[0]}(ptr, ptr, i32, i32)
define internal void @nothing(ptr %data) {{
  ret void
}}
define void @fork(i64 %n, i32 %threads) #0 {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  call void @{RUNTIME_FUNCTIONS[0]}(ptr @nothing, ptr null, i32 %threads, i32 0)
  %next = add i64 %i, 1
  %again = icmp slt i64 %next, %n
  br i1 %again, label %loop, label %end
end:
  ret void
}}
"""
