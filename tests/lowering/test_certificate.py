"""Certificates of generated nests: the checker accepts what is right, and no mutant of it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from support.rejections import rejection

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


@pytest.mark.parametrize("name", SCHEDULES)
def test_what_is_right_is_accepted(name: str) -> None:
    assert rejection(json.loads(text_of(name))) is None


# Kernel, what to replace in the nest (the first line that matches), and by what.
MUTANTS: list[tuple[str, str, str]] = [
    ("jacobi-1d", r"i(\d) >= 1", r"i\1 >= 2"),
    ("jacobi-1d", r"i(\d) >= 1", r"i\1 >= 0"),
    ("jacobi-1d", r"< n \+ -1", "< n"),
    ("jacobi-1d", r"< n \+ -1", "< n + -2"),
    ("jacobi-1d", r"i0 >= 0 and i0 < tsteps", "i0 >= 1 and i0 < tsteps"),
    ("jacobi-1d", r"for : i0", "for parallel : i0"),
    ("jacobi-1d", r"for : i0", "for vector : i0"),
    ("jacobi-1d", r"for parallel : (i1.*)", r"for parallel : \1 and i1 mod 2 = 0"),
    ("jacobi-1d", r"run S0\[(.*), (.*)\]", r"run S0[\2, \1]"),
    ("jacobi-1d", r"run S0\[(.*), (.*)\]", r"run S0[\1, \2 + 1]"),
    ("jacobi-1d", r"run S0", "run S1"),
    ("jacobi-1d", r"load A\[(.*?)\]", r"load A[\1 + 1]"),
    ("jacobi-1d", r"load A\[", "load B["),
    ("jacobi-1d", r"store (.*)\[(.*?)\]", r"store \1[\2 + 1]"),
    ("jacobi-1d", r"arith.addf", "arith.subf"),
    ("jacobi-1d", r"arith.constant \S+", "arith.constant 1.0"),
    ("jacobi-1d", r"store (.*), ", r"\1 = load "),
    ("gemm", r"%alpha", "%beta"),
    ("gemm", r"= arith.mulf (\S+), %beta", r"= arith.mulf \1, \1"),
    ("gemm", r"run copy", "run S0[0, 0]"),
    ("gemm", r"load A\[(.*?), (.*?)\]", r"load A[\2, \1]"),
    ("gemm", r"store (.*A_packed.*)\[(.*)\]", r"store \1[\2 + 1]"),
    ("gemm", r"load (A_packed.*)\[(.*), (.*?)\]", r"load \1[\3, \2]"),
    ("gemm", r"array (.*) 0 <= i6 < \d+", r"array \1 0 <= i6 < 2"),
    ("gemm", r"for parallel : (.*)", r"for parallel : \1 and i0 mod 2 = 0"),
    ("gemm", r"\)/16", ")/17"),
    ("gemm", r"\)/8", ")/9"),
    ("atax", r">= 0", ">= 1"),
    ("atax", r"  for : i1", "  for parallel : i1"),
    ("atax", r"store (\S+), y", r"store \1, tmp"),
    ("trisolv", r"for :", "for parallel :"),
    ("trisolv", r"load L\[(.*?), (.*?)\]", r"load L[\2, \1]"),
    ("trisolv", r"arith.divf (\S+), (\S+) ", r"arith.divf \2, \1 "),
    ("trisolv", r"i1 >= 0", "i1 >= i0"),
]


@pytest.mark.parametrize(("name", "pattern", "other"), MUTANTS)
def test_mutants_are_rejected(name: str, pattern: str, other: str) -> None:
    data = json.loads(text_of(name))
    nest = data["nest"]
    number = next(k for k, line in enumerate(nest) if re.search(pattern, line))
    nest[number] = re.sub(pattern, other, nest[number], count=1)
    assert rejection(data) is not None


def calls(nest: list[str]) -> list[tuple[int, int]]:
    """First and last line of each statement of a nest."""
    starts = [k for k, line in enumerate(nest) if line.strip().startswith("run ")]
    return [
        (start, next(k for k in range(start, len(nest)) if "store" in nest[k])) for start in starts
    ]


@pytest.mark.parametrize("name", SCHEDULES)
def test_every_statement_is_needed_once(name: str) -> None:
    data = json.loads(text_of(name))
    for start, end in calls(data["nest"]):
        nest = data["nest"]
        assert rejection({**data, "nest": [*nest[:start], *nest[end + 1 :]]}) is not None
        if "copy" not in nest[start]:
            twice = [*nest[: end + 1], *nest[start : end + 1], *nest[end + 1 :]]
            assert rejection({**data, "nest": twice}) is not None


def test_the_order_of_statements_counts() -> None:
    data = json.loads(text_of("trisolv"))
    nest = data["nest"]
    (first, end), (start, last), _ = calls(nest)
    assert nest[start - 1].startswith("  for")
    moved = [*nest[:first], *nest[end + 1 : last + 1], *nest[first : end + 1], *nest[last + 1 :]]
    assert rejection({**data, "nest": moved}) is not None


def test_sums_are_reordered_under_fast_math_alone() -> None:
    data = json.loads(text_of("trisolv"))
    (start, end) = calls(data["nest"])[1]
    nest = list(data["nest"])
    nest[start : end + 1] = [
        re.sub(r"\bi1\b", "i0 + -1 * i1 + -1", line) for line in nest[start : end + 1]
    ]
    reverse = {**data, "nest": nest}
    assert nest != data["nest"]
    assert rejection(reverse) is not None
    assert rejection({**reverse, "fast_math": True}) is None


def test_sums_of_copies_are_reordered() -> None:
    text = """func.func @f(%n: index, %A: memref<?xf64>) {
      affine.for %j = 0 to %n {
        %s = affine.load %A[0] : memref<?xf64>
        %x = affine.load %A[%j + 1] : memref<?xf64>
        %y = arith.addf %s, %x : f64
        affine.store %y, %A[0] : memref<?xf64>
      }
      return
    }"""
    schedule = loopwright.load(text)["f"].schedule("pack{loops=j array=A reads=S0.1}")
    data = json.loads(json.dumps(certificate(schedule)))
    assert rejection(data) is None
    nest = [data["nest"][0]]
    nest += [re.sub(r"\bi0\b", "(n + -1 * i0 + -1)", line) for line in data["nest"][1:]]
    assert any("run copy" in line for line in nest)
    assert rejection({**data, "nest": nest}) is not None
    assert rejection({**data, "nest": nest, "fast_math": True}) is None
    (copied,) = (k for k, line in enumerate(nest) if "load A[" in line and "+ 1" in line)
    other = [*nest[:copied], nest[copied].replace("+ 1]", "+ 0]"), *nest[copied + 1 :]]
    assert rejection({**data, "nest": other, "fast_math": True}) is not None
    (start, end), *_ = calls(nest)
    never = [*nest[:start], *nest[end + 1 :]]
    assert rejection({**data, "nest": never, "fast_math": True}) is not None


def test_extents_with_conditions() -> None:
    """A copy of what one loop accesses always, and another one where it runs at all."""
    function = loopwright.load(catalogue()["field/american_put"].text)["american_put"]
    schedule = function.schedule("strip-mine{loops=o size=8},pack{loops=ot array=value order=1,0}")
    data = json.loads(json.dumps(certificate(schedule)))
    assert rejection(data) is None
    (line,) = (k for k, each in enumerate(data["nest"]) if each.lstrip().startswith("array"))
    assert " or " in data["nest"][line]
    for case in ("(0) + 1", "(steps) + 1"):
        nest = [*data["nest"]]
        nest[line] = nest[line].replace(case, "0")
        assert nest != data["nest"]
        assert rejection({**data, "nest": nest}) is not None


def test_a_statement_has_one_name() -> None:
    data = json.loads(text_of("atax"))
    data["program"] = [line.replace("run S1", "run S0") for line in data["program"]]
    assert rejection(data) is not None


@pytest.mark.parametrize("part", ["program", "nest"])
def test_accesses_have_the_type_of_their_array(part: str) -> None:
    data = json.loads(text_of("gemm"))
    for number, line in enumerate(data[part]):
        if "load" in line or "store" in line:
            for changed in (line.replace(": f64", ": f32"), line.replace("[", "[0, ")):
                lines = [*data[part][:number], changed, *data[part][number + 1 :]]
                assert rejection({**data, part: lines}) is not None, changed


def test_every_array_has_one_type() -> None:
    data = json.loads(text_of("gemm"))
    for name in ("A", "B", "C"):
        for other in (["f32", 2], ["f64", 1], ["f64", 3]):
            assert rejection({**data, "arrays": {**data["arrays"], name: other}}) is not None
        assert rejection({**data, "arrays": {**data["arrays"], f"{name}2": ["f64", 2]}}) is None


@pytest.mark.parametrize("name", ["gemm", "jacobi-1d"])
def test_every_line_of_the_nest_counts(name: str) -> None:
    """A line that is left out, or is there twice, or belongs to what is around."""
    data = json.loads(text_of(name))
    nest = data["nest"]
    for number, line in enumerate(nest):
        without = [*nest[:number], *nest[number + 1 :]]
        assert rejection({**data, "nest": without}) is not None, line
        if line.startswith("  ") and ("for" in line or "if" in line or "run" in line):
            outside = [*nest[:number], line[2:], *nest[number + 1 :]]
            assert rejection({**data, "nest": outside}) is not None, line


def test_every_number_of_the_nest_counts() -> None:
    """Bounds of loops, subscripts and instances, one more or less each."""
    data = json.loads(text_of("jacobi-1d"))
    nest = data["nest"]
    for number, line in enumerate(nest):
        # Loops over tiles and their conditions have room.
        exact = "" if "if" in line or "for : i" in line else line
        for found in re.finditer(r"(?<![\w%.])\d+\b(?!\.)", exact):
            for other in (int(found[0]) + 1, int(found[0]) - 1):
                changed = f"{line[: found.start()]}{other}{line[found.end() :]}"
                lines = [*nest[:number], changed, *nest[number + 1 :]]
                assert rejection({**data, "nest": lines}) is not None, changed


# What is no affine expression with one value, where the subscripts of a load have `i0`.
@pytest.mark.parametrize("other", ["*", "i0/2", "i9", "m", "i0 + 0.5", "i0] -> [i0", "exists x"])
def test_subscripts_are_affine(other: str) -> None:
    data = json.loads(text_of("atax"))
    for part in ("program", "nest"):
        lines = data[part]
        number = next(k for k, line in enumerate(lines) if re.search(r"load .*\[i0", line))
        changed = lines[number].replace("[i0", f"[{other}", 1)
        lines = [*lines[:number], changed, *lines[number + 1 :]]
        assert rejection({**data, part: lines}) is not None, changed


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
        assert rejection(data) is None
    nest = data["nest"]
    first, second, *_ = (k for k, line in enumerate(nest) if "run copy" in line)
    moved = [*nest[:first], *nest[first + 3 : second], *nest[first : first + 3], *nest[second:]]
    assert rejection({**data, "nest": moved}) == "_path: a read sees the value of another write"


TRIANGLES = (
    "tile{loops=i,j sizes=128,128},split{loops=k at=128jt},split{loops=S4.k at=-128it+n-1},"
    "reorder{statements=S4_3,S0,S1,S2,S3,S4,S4_2},distribute{loops=i,j after=S4_3},"
    "tile{loops=S4_3.k sizes=128},interchange{loops=kt,S4_3.i,S4_3.j,S4_3.k},"
    "pack{loops=kt array=table order=1,0 panels=0,64 reads=S4_3.2}"
)


def test_reads_of_tiles_of_what_is_accumulated_take_few_operations() -> None:
    """The elements that reads of copies stand for are compared where they run."""
    entry = catalogue()["polybench/nussinov"]
    function = loopwright.load(entry.text)[entry.function]
    data = json.loads(json.dumps(certificate(function.schedule(TRIANGLES))))
    with bounded(8_000_000):
        assert rejection(data) is None
    nest = [line.replace("load table_packed[", "load table_packed[1 + ") for line in data["nest"]]
    assert nest != data["nest"] and rejection({**data, "nest": nest}) is not None


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
    assert rejection(data) is None


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
    assert rejection(certificate(loopwright.load(text)["f"].schedule("parallel{loops=i}"))) is None


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
        "for : 0 <= i0 and i0 < n",
        "  run copy",
        "  %c0 = load y[i0] : f64",
        "  %c1 = arith.addf %c0, %c0 : f64",
        "  store %c1, y[i0] : f64",
    ]
    assert rejection({**data, "nest": [*data["nest"], *copy]}) is not None
    plain = [*copy[:3], "  store %c0, y[i0] : f64"]
    assert rejection({**data, "nest": [*data["nest"], *plain]}) is None


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
