"""Dispatch by level: LLVM IR of entry points that call the code for the processor at hand.

A constructor asks the processor when the library is loaded, and stores the addresses of the code of
the highest level that it has:

    int gemm(...)  ->  return chosen_gemm(...)      gemm.x86-64-v2, gemm.x86-64-v3 or none

Where it has not even the lowest, functions return a status.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ...lowering.llvm.entry_points import Status
from .levels import VARIABLE, Level

_X86 = """
define internal { i32, i32, i32, i32 } @cpuid(i32 %leaf) noinline {
  %answer = call { i32, i32, i32, i32 } asm sideeffect "cpuid",
    "={ax},={bx},={cx},={dx},{ax},{cx},~{dirflag},~{fpsr},~{flags}"(i32 %leaf, i32 0)
  ret { i32, i32, i32, i32 } %answer
}
define internal i1 @has(i32 %bits, i32 %mask) alwaysinline {
  %found = and i32 %bits, %mask
  %all = icmp eq i32 %found, %mask
  ret i1 %all
}
define internal i32 @processor_level() noinline {
  %leaf1 = call { i32, i32, i32, i32 } @cpuid(i32 1)
  %c1 = extractvalue { i32, i32, i32, i32 } %leaf1, 2
  %leaf0 = call { i32, i32, i32, i32 } @cpuid(i32 0)
  %most = extractvalue { i32, i32, i32, i32 } %leaf0, 0
  %has7 = icmp uge i32 %most, 7
  %leaf7 = call { i32, i32, i32, i32 } @cpuid(i32 7)
  %b7_raw = extractvalue { i32, i32, i32, i32 } %leaf7, 1
  %b7 = select i1 %has7, i32 %b7_raw, i32 0
  %extended = call { i32, i32, i32, i32 } @cpuid(i32 -2147483648)
  %most_extended = extractvalue { i32, i32, i32, i32 } %extended, 0
  %has_extended = icmp uge i32 %most_extended, -2147483647
  %leaf_extended = call { i32, i32, i32, i32 } @cpuid(i32 -2147483647)
  %ce_raw = extractvalue { i32, i32, i32, i32 } %leaf_extended, 2
  %ce = select i1 %has_extended, i32 %ce_raw, i32 0
  %v2_base = call i1 @has(i32 %c1, i32 {V2_C1})
  %v2_extended = call i1 @has(i32 %ce, i32 {V2_CE})
  %v2 = and i1 %v2_base, %v2_extended
  br i1 %v2, label %ask_system, label %level1
level1:
  ret i32 1
ask_system:
  %saves = call i1 @has(i32 %c1, i32 {OSXSAVE})
  br i1 %saves, label %ask_state, label %level2
level2:
  ret i32 2
ask_state:
  %state = call { i32, i32 } asm sideeffect "xgetbv", "={ax},={dx},{cx}"(i32 0)
  %kept = extractvalue { i32, i32 } %state, 0
  %ymm = call i1 @has(i32 %kept, i32 {YMM})
  %v3_base = call i1 @has(i32 %c1, i32 {V3_C1})
  %v3_7 = call i1 @has(i32 %b7, i32 {V3_B7})
  %v3_extended = call i1 @has(i32 %ce, i32 {V3_CE})
  %v3_a = and i1 %ymm, %v3_base
  %v3_b = and i1 %v3_7, %v3_extended
  %v3 = and i1 %v3_a, %v3_b
  br i1 %v3, label %ask_wide, label %level2
ask_wide:
  %zmm = call i1 @has(i32 %kept, i32 {ZMM})
  %v4_7 = call i1 @has(i32 %b7, i32 {V4_B7})
  %v4 = and i1 %zmm, %v4_7
  %level = select i1 %v4, i32 4, i32 3
  ret i32 %level
}
"""


_OWN = re.compile(r"@(?!getenv\b|strcmp\b|llvm\b)([a-z]\w*)")
"""Names that are this module's own."""


def _bits(*positions: int) -> int:
    return sum(1 << position for position in positions)


# Bits of CPUID as Intel's and AMD's manuals number them; the levels are those of the psABI.
_MASKS = {
    "V2_C1": _bits(0, 9, 13, 19, 20, 23),  # SSE3, SSSE3, CX16, SSE4.1, SSE4.2, POPCNT
    "V2_CE": _bits(0),  # LAHF and SAHF
    "OSXSAVE": _bits(27),
    "YMM": _bits(1, 2),  # what the system saves of registers: XMM, YMM
    "V3_C1": _bits(12, 22, 28, 29),  # FMA, MOVBE, AVX, F16C
    "V3_B7": _bits(3, 5, 8),  # BMI1, AVX2, BMI2
    "V3_CE": _bits(5),  # LZCNT
    "ZMM": _bits(1, 2, 5, 6, 7),  # XMM, YMM, masks, ZMM
    "V4_B7": _bits(16, 17, 28, 30, 31),  # AVX-512 F, DQ, CD, BW, VL
}

_BASELINE = """
define internal i32 @processor_level() noinline {
  ret i32 1
}
"""


def dispatch_ir(
    architecture: str, types: Mapping[str, str], levels: Sequence[Level], query: str
) -> str:
    """LLVM IR of the functions with these LLVM types, by symbol, for levels in ascending order.

    The function `query` returns the name of the level whose code runs, or NULL.
    """
    detection = _BASELINE
    if architecture == "x86_64":
        detection = _X86
        for name, mask in _MASKS.items():
            detection = detection.replace(f"{{{name}}}", str(mask))
    names = [_text(f"name{number}", level.name) for number, level in enumerate(levels)]
    parts = [
        "declare ptr @getenv(ptr)\ndeclare i32 @strcmp(ptr, ptr)",
        _text("variable", VARIABLE),
        *names,
        "@chosen_name = internal global ptr null",
        detection,
        _allowed(levels),
        _constructor(types, levels),
        f"define ptr @{_quoted(query)}() {{\n"
        "  %name = load ptr, ptr @chosen_name\n  ret ptr %name\n}",
        *(_function(symbol, kind, levels) for symbol, kind in types.items()),
    ]
    # Names of functions are quoted: no other name is one of theirs.
    return _OWN.sub(r'@"loopwright.\1"', "\n".join(parts)) + "\n"


def _quoted(symbol: str) -> str:
    return f'"{symbol}"'


def _text(name: str, text: str) -> str:
    return f'@{name} = internal constant [{len(text) + 1} x i8] c"{text}\\00"'


def _allowed(levels: Sequence[Level]) -> str:
    """The function that says which level the user allows at most."""
    lines = [
        "define internal i32 @allowed_level() noinline {",
        "  %text = call ptr @getenv(ptr @variable)",
        "  %unset = icmp eq ptr %text, null",
        "  br i1 %unset, label %all, label %ask0",
        "all:",
        "  ret i32 1000",
    ]
    for number, level in enumerate(levels):
        following = f"ask{number + 1}" if number + 1 < len(levels) else "all"
        lines += [
            f"ask{number}:",
            f"  %difference{number} = call i32 @strcmp(ptr %text, ptr @name{number})",
            f"  %is{number} = icmp eq i32 %difference{number}, 0",
            f"  br i1 %is{number}, label %found{number}, label %{following}",
            f"found{number}:",
            f"  ret i32 {level.number}",
        ]
    return "\n".join([*lines, "}"])


def _constructor(types: Mapping[str, str], levels: Sequence[Level]) -> str:
    lines = [
        "@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] "
        "[{ i32, ptr, ptr } { i32 65535, ptr @choose, ptr null }]",
        "define internal void @choose() {",
        "  %has = call i32 @processor_level()",
        "  %may = call i32 @allowed_level()",
        "  %less = icmp slt i32 %may, %has",
        "  %level = select i1 %less, i32 %may, i32 %has",
    ]
    pointers = ["@chosen_name", *(f"@{_quoted(f'chosen.{symbol}')}" for symbol in types)]
    previous = dict.fromkeys(pointers, "null")
    for number, level in enumerate(levels):
        lines.append(f"  %fits{number} = icmp sge i32 %level, {level.number}")
        values = [f"@name{number}", *(f"@{_quoted(symbol + level.suffix)}" for symbol in types)]
        for position, (pointer, value) in enumerate(zip(pointers, values, strict=True)):
            name = f"%choice{number}.{position}"
            lines.append(
                f"  {name} = select i1 %fits{number}, ptr {value}, ptr {previous[pointer]}"
            )
            previous[pointer] = name
    lines += [f"  store ptr {value}, ptr {pointer}" for pointer, value in previous.items()]
    return "\n".join([*lines, "  ret void", "}"])


def _function(symbol: str, kind: str, levels: Sequence[Level]) -> str:
    """The entry point; `kind` is its type, as `i32 (i64, double, ptr)`."""
    result, _, rest = kind.partition(" (")
    types = rest.removesuffix(")").split(", ") if rest != ")" else []
    parameters = ", ".join(f"{each} %{number}" for number, each in enumerate(types))
    declarations = [
        f"declare {result} @{_quoted(symbol + level.suffix)}({', '.join(types)})"
        for level in levels
    ]
    return "\n".join(
        [
            *declarations,
            f"@{_quoted(f'chosen.{symbol}')} = internal global ptr null",
            f"define {result} @{_quoted(symbol)}({parameters}) {{",
            "entry:",
            f"  %code = load ptr, ptr @{_quoted(f'chosen.{symbol}')}",
            "  %missing = icmp eq ptr %code, null",
            "  br i1 %missing, label %refuse, label %run",
            "refuse:",
            f"  ret {result} {Status.UNSUPPORTED_PROCESSOR.value}",
            "run:",
            f"  %status = tail call {result} %code({parameters})",
            f"  ret {result} %status",
            "}",
        ]
    )
