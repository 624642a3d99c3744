"""Processors are told apart by what /proc/cpuinfo says."""

from __future__ import annotations

import pytest

from loopwright.passes.machine.cpuinfo import CpuInfo
from loopwright.passes.machine.target_files import nearest_file

AVX2 = "fpu sse sse2 ssse3 sse4_1 avx fma avx2 bmi2"
AVX512 = f"{AVX2} avx512f avx512dq avx512vl"
FP16 = f"{AVX512} avx512_fp16"
"""With a flag that no Ice Lake (model 106) and no Rocket Lake (167) has."""


def x86(vendor: str, family: int, model: int, flags: str) -> str:
    return f"""\
processor\t: 0
vendor_id\t: {vendor}
cpu family\t: {family}
model\t\t: {model}
model name\t: A: processor
stepping\t: 1
cpu MHz\t\t: 2445.424
flags\t\t: {flags}
TLB size\t: 2560 4K pages
power management:

processor\t: 1
vendor_id\t: another
flags\t\t: fpu
"""


def arm(part: int, features: str = "fp asimd evtstrm aes") -> str:
    return f"""\
processor\t: 0
BogoMIPS\t: 2100.00
Features\t: {features}
CPU implementer\t: 0x41
CPU architecture: 8
CPU variant\t: 0x1
CPU part\t: {part:#x}
CPU revision\t: 1
"""


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (x86("AuthenticAMD", 25, 1, AVX2), "zen3"),
        (x86("AuthenticAMD", 25, 33, AVX2), "zen3"),
        (x86("AuthenticAMD", 25, 17, AVX512), "zen4"),
        (x86("AuthenticAMD", 25, 97, AVX512), "zen4"),
        (x86("AuthenticAMD", 25, 160, AVX512), "zen4"),
        (x86("AuthenticAMD", 26, 2, AVX512), "zen5"),
        (x86("GenuineIntel", 6, 106, AVX512), "icelake-server"),
        (x86("GenuineIntel", 6, 143, AVX512), "sapphirerapids"),
        (x86("GenuineIntel", 6, 207, AVX512), "sapphirerapids"),
        (x86("GenuineIntel", 6, 173, AVX512), "sapphirerapids"),
        (x86("GenuineIntel", 6, 167, FP16), "sapphirerapids"),
        (x86("GenuineIntel", 6, 106, FP16), "sapphirerapids"),
        (x86("GenuineIntel", 6, 167, AVX512), "generic-avx512"),
        (x86("AuthenticAMD", 25, 17, FP16), "zen4"),
        (x86("AuthenticAMD", 99, 1, FP16), "generic-avx512"),
        (arm(0xD40, "fp asimd sve"), "neoverse-v1"),
        (x86("AuthenticAMD", 23, 49, AVX2), "generic-avx2"),
        (x86("GenuineIntel", 6, 85, AVX512), "generic-avx512"),
        (x86("GenuineIntel", 25, 1, AVX2), "generic-avx2"),
        (x86("GenuineIntel", 6, 15, "fpu sse sse2"), "generic-sse2"),
        (arm(0xD0C), "generic-neon"),
        ("", "generic-sse2"),
        ("nonsense\nmodel : many\ncpu family :\n", "generic-sse2"),
    ],
)
def test_the_file_that_describes_a_processor(text: str, name: str) -> None:
    assert nearest_file(CpuInfo.parse(text)).name == name


def test_a_virtual_machine_without_the_vectors_of_its_processor() -> None:
    info = CpuInfo.parse(x86("AuthenticAMD", 25, 17, AVX2))
    assert nearest_file(info).name == "generic-avx2"


def test_the_first_processor_counts() -> None:
    info = CpuInfo.parse(x86("AuthenticAMD", 25, 1, AVX2))
    assert info.fields["vendor_id"] == "AuthenticAMD"
    assert info.model_name == "A: processor"
    assert "avx2" in info.features
    assert CpuInfo.parse(arm(0xD40)).features == {"fp", "asimd", "evtstrm", "aes"}
    assert CpuInfo.parse("").model_name == "unknown"
