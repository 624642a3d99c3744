"""Images of machine code: loaded without LLVM, with the same results as through it."""

from __future__ import annotations

import ctypes
import struct
from pathlib import Path

import pytest

import loopwright
from loopwright.kernels.catalogue import catalogue
from loopwright.passes.machine.target import Target
from loopwright.runtime.jit import object_code as jit
from loopwright.runtime.jit.image import Image
from loopwright.runtime.jit.link_image import NotLinked, link_image

I64 = ctypes.c_int64
UNARY = ctypes.CFUNCTYPE(I64, I64)

MODULE = """
declare double @sin(double)
declare i64 @given(i64)
@count = global i64 5
@zeros = internal global [5000 x i64] zeroinitializer
@table = internal constant [3 x i64] [i64 10, i64 20, i64 30]
@pointers = internal constant [2 x ptr] [ptr @table, ptr getelementptr (i8, ptr @table, i64 16)]
@functions = internal constant [2 x ptr] [ptr @given, ptr @own]

define internal i64 @own(i64 %x) nounwind {
  %y = mul i64 %x, 3
  ret i64 %y
}
define i64 @counted(i64 %x) nounwind {
  %before = load i64, ptr @count
  %after = add i64 %before, %x
  store i64 %after, ptr @count
  ret i64 %after
}
define i64 @looked_up(i64 %x) nounwind {
  %place = getelementptr ptr, ptr @pointers, i64 %x
  %pointer = load volatile ptr, ptr %place
  %value = load i64, ptr %pointer
  ret i64 %value
}
define i64 @through_pointer(i64 %x) nounwind {
  %place = getelementptr ptr, ptr @functions, i64 %x
  %function = load volatile ptr, ptr %place
  %value = call i64 %function(i64 7)
  ret i64 %value
}
define i64 @called(i64 %x) nounwind {
  %one = call i64 @given(i64 %x)
  %two = call i64 @given(i64 %one)
  ret i64 %two
}
define i64 @cleared(i64 %x) nounwind {
  %place = getelementptr i64, ptr @zeros, i64 %x
  %before = load i64, ptr %place
  store i64 1, ptr %place
  ret i64 %before
}
define double @sine(double %x) nounwind {
  %y = call double @sin(double %x)
  %z = fmul double %y, 3.0
  ret double %z
}
define i64 @chosen(i64 %x) nounwind {
  switch i64 %x, label %e [i64 0, label %a i64 1, label %b i64 2, label %c i64 3, label %d]
a:
  %p = call i64 @given(i64 100)
  ret i64 %p
b:
  ret i64 -7
c:
  %q = call i64 @own(i64 %x)
  ret i64 %q
d:
  %r = call i64 @counted(i64 0)
  ret i64 %r
e:
  ret i64 99
}
"""
EXPORTS = ("counted", "looked_up", "through_pointer", "called", "cleared", "sine", "chosen")


@UNARY
def given(x: int) -> int:
    return x + 1


IMPORTS = {"given": ctypes.cast(given, ctypes.c_void_p).value or 0}


def answers(addresses: dict[str, int]) -> list[object]:
    found: list[object] = []
    for name in EXPORTS:
        if name == "sine":
            kind = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)
            found += [kind(addresses[name])(x) for x in (0.5, 2.0)]
            continue
        function = UNARY(addresses[name])
        found += [function(x) for x in ((0, 1, 2, 3, 4) if name == "chosen" else (0, 1, 1))]
    return found


def test_the_same_as_through_llvm() -> None:
    code = jit.compile_module(MODULE, target=Target.host())
    image = Image.from_bytes(link_image(code).to_bytes())
    here, there = image.load(EXPORTS, IMPORTS), jit.load_object(code, EXPORTS, IMPORTS)
    assert answers(dict(here.addresses)) == answers(dict(there.addresses))
    # Each time that an image is loaded it has data of its own.
    other = image.load(["counted"], IMPORTS)
    assert UNARY(other["counted"])(1) == 6


def test_names_that_are_missing() -> None:
    image = link_image(jit.compile_module(MODULE, target=Target.host()))
    with pytest.raises(RuntimeError, match="nonsense"):
        image.load(["nonsense"], IMPORTS)
    with pytest.raises(RuntimeError, match="given"):
        image.load(["counted"], {})


def test_code_cannot_be_written() -> None:
    image = link_image(jit.compile_module(MODULE, target=Target.host()))
    loaded = image.load(["counted"], IMPORTS)
    address = loaded["counted"]
    rights: list[str] = []
    for line in Path("/proc/self/maps").read_text().splitlines():
        first, last = (int(each, 16) for each in line.split()[0].split("-"))
        if first <= address < last:
            rights.append(line.split()[1])
    assert rights == ["r-xp"]


@pytest.mark.parametrize(
    "text",
    [
        "define void @f() uwtable { ret void }",  # exceptions may pass
        "@x = thread_local global i64 0\ndefine ptr @f() { ret ptr @x }",
        "@x = global i64 0\ndefine void @f() nounwind { store volatile i64 1, ptr @x ret void }\n"
        "@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] "
        "[{ i32, ptr, ptr } { i32 1, ptr @f, ptr null }]",
    ],
)
def test_what_is_left_to_llvm(text: str) -> None:
    with pytest.raises(NotLinked):
        link_image(jit.compile_module(text, target=Target.host()))


def test_damaged_object_files() -> None:
    code = jit.compile_module(MODULE, target=Target.host())
    for length in (0, 10, 63, 64, len(code) // 2, len(code) - 40):
        with pytest.raises(NotLinked):
            link_image(code[:length])
    machine = bytearray(code)
    struct.pack_into("<H", machine, 18, 183)
    with pytest.raises(NotLinked, match="x86-64"):
        link_image(bytes(machine))


KERNELS = [name for name in catalogue() if name.startswith(("polybench/", "field/"))]


@pytest.mark.parametrize("name", KERNELS[::5])
@pytest.mark.parametrize("schedule", [None, "default"])
def test_kernels_are_images(name: str, schedule: str | None) -> None:
    entry = catalogue()[name]
    kernel = loopwright.load(entry.text)[entry.function].compile(schedule, threads=2)
    llvm_ir = kernel.specialise(*entry.arguments("MINI")).llvm_ir
    image = link_image(jit.compile_module(llvm_ir, target=Target.host()))
    assert image.exports[f"loopwright_{entry.function}"] == 0 or image.code
