"""Masked stores of one known lane as scalar stores, in the text of optimised LLVM IR.

    masked.store <8 x i16> %v, ptr %p,     ->    %e = extractelement <8 x i16> %v, i64 0
      <i1 true, i1 false, ...>                   store i16 %e, ptr %p

With AVX-512, LLVM 22 itself makes these stores of vectors that it truncates, and stores the element
before the truncation: four bytes for two, over what is behind the array. Which masks are constant
is known only after its optimisation.
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


def with_scalar_stores(text: str) -> str:
    """The same module; masked stores of one lane that is known are stores of its element."""
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
