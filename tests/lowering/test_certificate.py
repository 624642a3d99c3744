"""Certificates of generated nests: the checker accepts what is right, and no mutant of it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import loopwright
from loopwright import certificate as checker
from loopwright.dialects.errors import SourceError
from loopwright.kernels.catalogue import catalogue
from loopwright.lowering.certificate import certificate
from loopwright.passes.polyhedral.isl_context import bounded

GEMM = (
    "distribute{loops=i},tile{loops=S1.i,k,S1.j sizes=8,32,16},"
    "interchange{loops=jt,kt,it},pack{loops=it array=A scaled=true},"
    "interchange{loops=k,S1.i,S1.j},vectorize{loops=S1.j width=4},parallel{loops=jt}"
)
SCHEDULES = {
    "gemm": GEMM,
    "jacobi-1d": "parallel{loops=S0.i},tile{loops=S1.i sizes=8}",
    "atax": "distribute{loops=S1.i},vectorize{loops=S0.i width=4}",
    "trisolv": "",
}


@cache
def text_of(name: str, fast_math: bool = False) -> str:
    """The certificate of a kernel with its schedule here, as JSON."""
    entry = catalogue()[f"polybench/{name}"]
    function = loopwright.load(entry.text)[entry.function]
    return json.dumps(certificate(function.schedule(SCHEDULES[name], fast_math=fast_math)))


def check(data: dict[str, Any]) -> str | None:
    """Why the checker rejects a certificate; None where it accepts it."""
    try:
        checker.Check(data).run()
    except (ValueError, SyntaxError) as error:
        return str(error)
    return None


@pytest.mark.parametrize("name", SCHEDULES)
def test_what_is_right_is_accepted(name: str) -> None:
    assert check(json.loads(text_of(name))) is None


# Kernel, what to replace in the nest (the first line that matches), and by what.
MUTANTS: list[tuple[str, str, str]] = [
    ("jacobi-1d", r"max \[1\]", "max [2]"),
    ("jacobi-1d", r"max \[1\]", "max [0]"),
    ("jacobi-1d", r"min \[n \+ -1\]", "min [n]"),
    ("jacobi-1d", r"min \[n \+ -1\]", "min [n + -2]"),
    ("jacobi-1d", r"max \[0\] to min \[tsteps\]", "max [1] to min [tsteps]"),
    ("jacobi-1d", r"step 1 \{", "step 1 parallel {"),
    ("jacobi-1d", r"step 1 \{", "step 1 vector 4 {"),
    ("jacobi-1d", r"step 1 parallel", "step 2 parallel"),
    ("jacobi-1d", r"instance S0\[(.*), (.*)\]", r"instance S0[\2, \1]"),
    ("jacobi-1d", r"instance S0\[(.*), (.*)\]", r"instance S0[\1, \2 + 1]"),
    ("jacobi-1d", r"instance S0", "instance S1"),
    ("jacobi-1d", r"affine.load %A\[(.*?)\]", r"affine.load %A[\1 + 1]"),
    ("jacobi-1d", r"affine.load %A\[", "affine.load %B["),
    ("jacobi-1d", r"affine.store (.*)\[(.*?)\]", r"affine.store \1[\2 + 1]"),
    ("jacobi-1d", r"arith.addf", "arith.subf"),
    ("jacobi-1d", r"arith.constant \S+", "arith.constant 1.0"),
    ("jacobi-1d", r"affine.store", "affine.load"),
    ("gemm", r"%alpha", "%beta"),
    ("gemm", r"= arith.mulf (\S+), %beta", r"= arith.mulf \1, \1"),
    ("gemm", r"instance copy", "instance S0[0, 0]"),
    ("gemm", r"affine.load %A\[(.*?), (.*?)\]", r"affine.load %A[\2, \1]"),
    ("gemm", r"affine.store (.*%_A_packed.*)\[(.*)\]", r"affine.store \1[\2 + 1]"),
    ("gemm", r"affine.load (.*%_A_packed.*)\[(.*), (.*?)\]", r"affine.load \1[\3, \2]"),
    ("gemm", r"memref.alloca\(1, 1, 1, \d+", "memref.alloca(1, 1, 1, 2"),
    ("gemm", r" parallel", " step 2 parallel"),
    ("gemm", r"floordiv 16", "floordiv 17"),
    ("gemm", r"floordiv 8", "floordiv 9"),
    ("atax", r"max \[0\]", "max [1]"),
    ("atax", r"min \[n\] step 1 \{", "min [n] step 1 parallel {"),
    ("atax", r"affine.store (\S+), %y", r"affine.store \1, %tmp"),
    ("trisolv", r"step 1 \{", "step 1 parallel {"),
    ("trisolv", r"affine.load %L\[(.*?), (.*?)\]", r"affine.load %L[\2, \1]"),
    ("trisolv", r"arith.divf (\S+), (\S+) ", r"arith.divf \2, \1 "),
    ("trisolv", r"max \[0\]", "max [%_v1]"),
]


@pytest.mark.parametrize(("name", "pattern", "other"), MUTANTS)
def test_mutants_are_rejected(name: str, pattern: str, other: str) -> None:
    data = json.loads(text_of(name))
    nest = data["nest"]
    number = next(k for k, line in enumerate(nest) if k and re.search(pattern, line))
    nest[number] = re.sub(pattern, other, nest[number], count=1)
    assert check(data) is not None


def calls(nest: list[str]) -> list[tuple[int, int]]:
    """First and last line of each statement of a nest."""
    starts = [k for k, line in enumerate(nest) if line.strip().startswith("instance")]
    return [
        (start, next(k for k in range(start, len(nest)) if "affine.store" in nest[k]))
        for start in starts
    ]


@pytest.mark.parametrize("name", SCHEDULES)
def test_every_statement_is_needed_once(name: str) -> None:
    data = json.loads(text_of(name))
    for start, end in calls(data["nest"]):
        nest = data["nest"]
        again = [re.sub(r"%_c", "%_again", line) for line in nest[start : end + 1]]
        assert check({**data, "nest": [*nest[:start], *nest[end + 1 :]]}) is not None
        if "copy" not in nest[start]:
            twice = [*nest[: end + 1], *again, *nest[end + 1 :]]
            assert check({**data, "nest": twice}) is not None


def test_the_order_of_statements_counts() -> None:
    data = json.loads(text_of("trisolv"))
    nest = data["nest"]
    (first, end), *_ = calls(nest)
    loop = next(k for k in range(end + 1, len(nest)) if "affine.for" in nest[k])
    close = next(k for k in range(loop, len(nest)) if nest[k].strip() == "}")
    moved = [*nest[:first], *nest[end + 1 : close + 1], *nest[first : end + 1], *nest[close + 1 :]]
    assert check({**data, "nest": moved}) is not None


def test_sums_are_reordered_under_fast_math_alone() -> None:
    data = json.loads(text_of("trisolv"))
    reverse = [
        re.sub(r"instance S1\[(\S+), (\S+)\]", r"instance S1[\1, \1 + -1 * \2 + -1]", line)
        for line in data["nest"]
    ]
    inner = next(k for k, line in enumerate(reverse) if "instance S1" in line)
    variable = re.findall(r"%_v\d+", data["nest"][inner])[1]
    outer = re.findall(r"%_v\d+", data["nest"][inner])[0]
    for k in range(inner + 1, inner + 3 + 1):
        place = f"{outer} + -1 * {variable} + -1"
        reverse[k] = re.sub(rf"(%[Lx]\[.*){variable}\]", rf"\g<1>{place}]", reverse[k])
    assert check({**data, "nest": reverse}) is not None
    fast = {**data, "nest": reverse, "fast_math": True}
    assert check(fast) is None


def test_program_and_nest_have_the_same_arguments() -> None:
    data = json.loads(text_of("atax"))
    data["nest"][0] = data["nest"][0].replace("%y", "%z")
    assert check(data) is not None


def test_the_statements_are_all_stores() -> None:
    data = json.loads(text_of("atax"))
    data["statements"].popitem()
    assert check(data) is not None


@pytest.mark.parametrize("part", ["program", "nest"])
@pytest.mark.parametrize("other", ["memref<?xf32>", "memref<?x?x?xf64>", "memref<?x?xf", "f64"])
def test_accesses_have_the_type_of_their_array(part: str, other: str) -> None:
    data = json.loads(text_of("gemm"))
    for number, line in enumerate(data[part]):
        if "affine.load" in line or "affine.store" in line:
            changed = re.sub(r": memref.*", f": {other}", line)
            assert changed != line
            lines = [*data[part][:number], changed, *data[part][number + 1 :]]
            assert check({**data, part: lines}) is not None, changed


PIVOTS = (
    "strip-mine{loops=k size=64},split{loops=i at=64kt},split{loops=S0_2.i at=64kt+64},"
    "split{loops=S0.j at=64kt},split{loops=S0_3.j at=64kt+64},distribute{loops=S0.i},"
    "split{loops=S0_2.j at=64kt},split{loops=S0_2_3.j at=64kt+64},"
    "pack{loops=S0_2.i array=path reads=S0_2.1},"
    "pack{loops=pack_path.i array=path reads=S0_2_3_2.1},"
    "reorder{statements=pack_path,S0_2_3,pack_path2,S0_2,S0_2_3_2},"
    "distribute{loops=pack_path.i after=pack_path2,S0_2},split{loops=S0_2_2.j at=64kt}"
)


def test_copies_between_many_parts_of_a_loop_take_few_operations() -> None:
    """The copies of a row before and after its pivot is written, in place."""
    entry = catalogue()["polybench/floyd-warshall"]
    function = loopwright.load(entry.text)[entry.function]
    data = json.loads(json.dumps(certificate(function.schedule(PIVOTS))))
    with bounded(3_000_000):
        assert check(data) is None
    nest = data["nest"]
    first, second, *_ = (k for k, line in enumerate(nest) if "instance copy" in line)
    moved = [*nest[:first], *nest[first + 3 : second], *nest[first : first + 3], *nest[second:]]
    assert check({**data, "nest": moved}) == "a0_path: a read sees the value of another write"


def test_the_two_files_run_alone(tmp_path: Path) -> None:
    alone, file = tmp_path / "check.py", tmp_path / "atax.json"
    assert checker.__file__ is not None
    source = Path(checker.__file__)
    alone.write_bytes(source.read_bytes())
    (tmp_path / "certificate_reader.py").write_bytes(
        source.with_name("certificate_reader.py").read_bytes()
    )
    file.write_text(text_of("atax"))
    blocked = "import sys; sys.modules['loopwright'] = None; import runpy; "
    command = [sys.executable, "-c", f"{blocked}sys.argv = sys.argv[1:]; "]
    command[-1] += "runpy.run_path(sys.argv[0], run_name='__main__')"
    right = subprocess.run([*command, alone, file], capture_output=True, text=True, cwd=tmp_path)
    assert (right.returncode, right.stdout) == (
        0,
        f"{file}: accepted; reductions in another order: none\n",
    )
    file.write_text(text_of("atax").replace("arith.mulf", "arith.addf", 1))
    wrong = subprocess.run([*command, alone, file], capture_output=True, text=True, cwd=tmp_path)
    assert wrong.returncode == 1
    assert "rejected" in wrong.stdout


@pytest.mark.parametrize("name", ["f", '"a*/ b"', '"a\\22(%x: f64) {"', '"<b>&"', '"é"'])
def test_names_are_any_text(name: str) -> None:
    text = """func.func @NAME(%n: index, %A: memref<?xf64>) {
      affine.for %i = 0 to %n {
        %x = affine.load %A[%i] : memref<?xf64>
        %y = arith.addf %x, %x : f64
        affine.store %y, %A[%i] : memref<?xf64>
      }
      return
    }"""
    (function,) = loopwright.load(text.replace("NAME", name)).values()
    data = json.loads(json.dumps(certificate(function.schedule("parallel{loops=i}"))))
    assert check(data) is None


def test_functions_for_some_sizes_only() -> None:
    text = """func.func @f(%n: index, %A: memref<?xf64>, %b: i8 {loopwright.unsigned})
      attributes {loopwright.assume = affine_set<(d0)[s0] : (d0 - s0 == 0)>} {
      affine.for %i = 0 to %n {
        %x = affine.load %A[%i] : memref<?xf64>
        %y = arith.addf %x, %x : f64
        affine.store %y, %A[%i] : memref<?xf64>
      }
      return
    }"""
    assert check(certificate(loopwright.load(text)["f"].schedule("parallel{loops=i}"))) is None


def test_no_certificate_for_gathers() -> None:
    text = """func.func @f(%n: index, %A: memref<?xf64>, %J: memref<?xindex>, %B: memref<?xf64>) {
      affine.for %i = 0 to %n {
        %j = affine.load %J[%i] : memref<?xindex>
        %x = memref.load %B[%j] : memref<?xf64>
        affine.store %x, %A[%i] : memref<?xf64>
      }
      return
    }"""
    with pytest.raises(SourceError, match=r"no certificate .*: subscripts depend on data"):
        certificate(loopwright.load(text)["f"].schedule("parallel{loops=i}"))


def test_products_are_not_copied_to_arguments() -> None:
    data = json.loads(text_of("atax"))
    copy = [
        "affine.for %_w = max [0] to min [n] step 1 {",
        "instance copy",
        "%_w1 = affine.load %y[%_w] : memref",
        "%_w2 = arith.addf %_w1, %_w1 : f64",
        "affine.store %_w2, %y[%_w] : memref",
        "}",
    ]
    *nest, back, close = data["nest"]
    assert check({**data, "nest": [*nest, *copy, back, close]}) is not None
    plain = [*copy[:3], "affine.store %_w1, %y[%_w] : memref", "}"]
    assert check({**data, "nest": [*nest, *plain, back, close]}) is None


def test_an_end_of_the_process_is_a_rejection(tmp_path: Path) -> None:
    """isl ends the process at some inputs: nothing is proved then, and a line says so."""
    path = tmp_path / "certificate.json"
    path.write_text(text_of("trisolv"))
    code = (
        "import os, sys\nfrom loopwright import certificate\n"
        "certificate.Check.run = lambda _: os.abort()\n"
        f"sys.exit(certificate.main([{str(path)!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stdout.startswith(f"{path}: rejected: isl took longer") and "-6" in done.stdout
