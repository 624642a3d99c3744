"""Masked accesses that LLVM 22 makes wrong code for, in the text of optimised LLVM IR.

    masked.store <8 x i16> %v, ptr %p,     ->    %e = extractelement <8 x i16> %v, i64 0
      <i1 true, i1 false, ...>                   store i16 %e, ptr %p

With AVX-512, LLVM itself makes these stores of vectors that it truncates, and stores the element
before the truncation: four bytes for two, over what is behind the array.

    masked.load ptr %p, %m,                ->    masked.load ptr %p, %m,
      <float 0.0, float poison, ...>               zeroinitializer

With AVX2, LLVM ends the process for want of an instruction that loads so. What lanes that nobody
uses hold is made poison by its own optimisation, before which few masks are known, too.
"""

from __future__ import annotations

import re

_STORE = re.compile(
    r"^ *(?:tail )?call void @llvm\.masked\.store\.\w+\.p0\("
    r"(?P<kind><\d+ x (?P<element>\w+)>) (?P<value>.+), ptr (?:[a-z]\w*(?:\(\d+\))? )*?"
    r"(?:align (?P<before>\d+) )?(?P<pointer>[%@][\w.$\"-]+)(?:, i32 (?P<after>\d+))?, "
    r"<\d+ x i1> <(?P<mask>[^>]*)>\).*$",
    re.MULTILINE,
)
_LOAD = re.compile(
    r"(?P<call>call <.+> @llvm\.masked\.load\..+, <\d+ x \w+> )<(?P<lanes>[^<>]*)>\)"
)
_UNUSED, _ZERO = {"poison", "undef"}, {"0", "0.000000e+00", "0xH0000", "0xR0000"}


def with_sound_masks(text: str) -> str:
    """The same module, of which LLVM makes the code that it means."""
    return _with_scalar_stores(_LOAD.sub(_with_zeros, text))


def _with_zeros(match: re.Match[str]) -> str:
    lanes = {lane.split()[-1] for lane in match["lanes"].split(", ")}
    is_zero = lanes <= _UNUSED | _ZERO and lanes & _UNUSED and lanes & _ZERO
    return f"{match['call']}zeroinitializer)" if is_zero else match[0]


def _with_scalar_stores(text: str) -> str:
    """Masked stores of one lane that is known are stores of its element."""
    count = 0

    def scalar(match: re.Match[str]) -> str:
        nonlocal count
        lanes = [lane.split()[-1] for lane in match["mask"].split(", ")]
        on = [number for number, lane in enumerate(lanes) if lane == "true"]
        if len(on) != 1 or len(on) + lanes.count("false") != len(lanes):
            return match[0]
        (lane,), kind, element = on, match["kind"], match["element"]
        aligned = "" if lane else f", align {match['before'] or match['after'] or 1}"
        name = f"%one.lane.{count}"
        count += 1
        return (
            f"  {name} = extractelement {kind} {match['value']}, i64 {lane}\n"
            f"  {name}.p = getelementptr {element}, ptr {match['pointer']}, i64 {lane}\n"
            f"  store {element} {name}, ptr {name}.p{aligned or ', align 1'}"
        )

    return _STORE.sub(scalar, text)
