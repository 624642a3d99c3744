"""`loopwright schedule`, pictures, and schedules in files."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from support.runtime_programs import DOT, GEMM

from loopwright import certificate
from loopwright.cli import main
from loopwright.commands import pictures

BEFORE_AND_AFTER = """\
gemm

  before:
    for i
      for j
        for k
          S0(i, j, k): C[i, j] from C[i, j], A[i, k], B[k, j]

  after:
    for i, parallel
      for kt = floor(k / 16)
        for jt = floor(j / 8)
          for k, in tile kt of 16, unrolled
            for j, in tile jt of 8, vectors of 8
              S0(i, j, k): C[i, j] from C[i, j], A[i, k], B[k, j]

  as pipeline:
    interchange{loops=k,j},tile{loops=k,j sizes=16,8},parallel{loops=i},vectorize{loops=j width=8},\
unroll{loops=k}

  as compact:
    I(L1,L2)T2(L1,L2,16,8)P(L0)V(L4,8)U(L3)

  as operations:
    schedule.sequence @gemm {
      %k, %j, %i = schedule.loops "k", "j", "i"
      schedule.interchange %k, %j
      %kt, %jt = schedule.tile %k, %j by [16, 8]
      schedule.parallel %i
      schedule.vectorize %j by 8
      schedule.unroll %k
    }
"""

COMPACT = "I(L1,L2)T2(L1,L2,16,8)P(L0)V(L4,8)U(L3)"

SEQUENCE = """\
schedule.sequence @gemm {
  %i, %j = schedule.loops "i", "j"
  %it = schedule.strip_mine %i by SIZE
  schedule.parallel %it
}
"""


def write(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


@pytest.fixture
def gemm(tmp_path: Path) -> str:
    return write(tmp_path, "gemm.mlir", GEMM)


def error(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(arguments) == 1
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    return captured.err.rstrip("\n")


def test_before_and_after(gemm: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schedule", gemm, "-p", COMPACT]) == 0
    assert capsys.readouterr().out == BEFORE_AND_AFTER


def test_functions_per_statement(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pipeline = "skew{loops=t,S0.i factors=2},shift{loops=S1.i offset=1}"
    assert main(["schedule", "polybench/jacobi-1d", "-p", pipeline]) == 0
    out = capsys.readouterr().out
    assert "    for i = 2t + i\n" in out
    assert "    for i = 1 + i\n" in out
    fused = "F(S0.L0,S2.L0)H(S0.L0,1,statements=[S2,S3])"
    assert main(["schedule", "polybench/2mm", "-p", fused]) == 0
    assert "for i = S0: i; S1: i; S2: 1 + i; S3: 1 + i" in capsys.readouterr().out


def test_without_a_schedule(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schedule", write(tmp_path, "dot.mlir", DOT)]) == 0
    assert capsys.readouterr().out.startswith("dot\n  ")


def test_graph_of_the_trees(gemm: str, tmp_path: Path) -> None:
    assert main(["schedule", gemm, "-p", "P(L0)", "--dot", str(tmp_path / "g.dot")]) == 0
    text = (tmp_path / "g.dot").read_text()
    assert text.startswith("digraph schedule {\n")
    assert text.count("{") == text.count("}") == 3
    assert 'label="gemm, before"' in text
    assert 'n1 [label="for i, parallel", fillcolor="#c6f6d5"];' in text
    assert "n1_0 -> n1_0_0;" in text


def test_graph_of_the_dependences(tmp_path: Path) -> None:
    path = tmp_path / "d.dot"
    assert main(["deps", "polybench/jacobi-1d", "--dot", str(path)]) == 0
    edges = [line for line in path.read_text().splitlines() if " -> " in line]
    assert len(edges) == 6
    assert '  "S1" -> "S0" [label="flow on A (t: 1)", color="#0072B2", style="solid"];' in edges


def test_drawing_without_graphviz(
    gemm: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    message = error(capsys, "schedule", gemm, "--svg", str(tmp_path / "g.svg"))
    assert message.startswith("loopwright: error: --svg needs Graphviz")
    assert not (tmp_path / "g.svg").exists()


def test_drawing(
    gemm: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dot = tmp_path / "dot"
    dot.write_text("#!/bin/sh\nread line; test \"$line\" = 'digraph schedule {' && echo '<svg/>'\n")
    dot.chmod(0o755)
    monkeypatch.setattr(pictures.shutil, "which", lambda _: str(dot))
    assert main(["schedule", gemm, "--svg", str(tmp_path / "g.svg")]) == 0
    assert (tmp_path / "g.svg").read_text() == "<svg/>\n"
    dot.write_text("#!/bin/sh\necho 'syntax error in line 1' >&2; exit 1\n")
    message = error(capsys, "deps", gemm, "--svg", str(tmp_path / "d.svg"))
    assert message == "loopwright: error: dot failed: syntax error in line 1"


def test_plots_need_no_other_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "plot.svg"
    tiles = "affine-schedule,tile{loops=t,i sizes=4,8}"
    assert main(["schedule", "polybench/jacobi-1d", "-p", tiles, "--plot", str(file)]) == 0
    ElementTree.fromstring(file.read_text())
    assert "S0: t, i: tiles" in file.read_text() and "var(" not in file.read_text()
    assert main(["deps", "polybench/jacobi-1d", "--plot", str(file)]) == 0
    drawing = ElementTree.fromstring(file.read_text())
    lines = [text.text for text in drawing.iter("{http://www.w3.org/2000/svg}text")]
    assert any("affine.store" in (line or "") for line in lines)
    arcs = [path.get("class", "") for path in drawing.iter("{http://www.w3.org/2000/svg}path")]
    assert sum(name.startswith("arc flow") for name in arcs) == 6
    message = error(capsys, "deps", "polybench/jacobi-1d", "--plot", str(tmp_path / "plot.png"))
    assert message.endswith("plot.png: name it .svg")


def test_edges_from_a_statement_to_itself_are_one(gemm: str, tmp_path: Path) -> None:
    path = tmp_path / "d.dot"
    assert main(["deps", gemm, "--dot", str(path)]) == 0
    (edge,) = (line for line in path.read_text().splitlines() if " -> " in line)
    assert edge == (
        '  "S0" -> "S0" [label="flow on C (i: 0, j: 0, k: 1)\\nanti on C (i: 0, j: 0, k: 1)\\n'
        'output on C (i: 0, j: 0, k: 1)", color="#0072B2:#D55E00:#CC79A7", style="solid,bold"];'
    )


SVG = "{http://www.w3.org/2000/svg}"
NODE = re.compile(r' +"?\w+"? \[label=')
LABEL = re.compile(r'label="([^"]*)"')


@pytest.mark.skipif(shutil.which("dot") is None, reason="needs Graphviz")
@pytest.mark.parametrize("command", ["deps", "schedule"])
@pytest.mark.parametrize("kernel", ["2mm", "nussinov", "jacobi-1d"])
def test_drawing_with_graphviz(command: str, kernel: str, tmp_path: Path) -> None:
    dot, svg = tmp_path / "g.dot", tmp_path / "g.svg"
    program = f"polybench/{kernel}"
    assert main([command, program, "--dot", str(dot), "--svg", str(svg)]) == 0
    lines = dot.read_text().splitlines()
    drawn = ElementTree.parse(svg).getroot()
    groups = [group.get("class") for group in drawn.iter(f"{SVG}g")]
    assert groups.count("edge") == sum(" -> " in line for line in lines) > 0
    assert groups.count("node") == len([line for line in lines if NODE.match(line)]) > 0
    texts = {text.text for text in drawn.iter(f"{SVG}text")}
    labels = [label for line in lines for label in LABEL.findall(line)]
    assert {line for label in labels for line in label.split("\\n")} == texts


@pytest.mark.parametrize("program", ["", GEMM])
@pytest.mark.parametrize("size", [2, 32])
def test_schedule_files(
    gemm: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], program: str, size: int
) -> None:
    text = program + SEQUENCE.replace("SIZE", str(size))
    path = write(tmp_path, "schedule.mlir", text)
    sizes = ["--set", "ni=33", "--set", "nj=6", "--set", "nk=7", "--seconds", "0"]
    assert main(["run", gemm, *sizes, "--schedule-file", path]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("C: ")
    assert main(["schedule", gemm, "-S", path]) == 0
    assert f"    for it = floor(i / {size}), parallel\n" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["parallel{loops=i}\n", "\nP(L0)\n"])
def test_other_formats_in_files(
    gemm: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    assert main(["schedule", gemm, "-S", write(tmp_path, "schedule.txt", text)]) == 0
    assert "for i, parallel" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "schedule.sequence @dot {\n}",
            "FILE: there is no schedule of @gemm; there is one of @dot",
        ),
        ("P(L0)\nP(L7)", "FILE:2:3: error: there is no loop L7 around S0"),
        (SEQUENCE, "FILE:3:35: error: "),
        (SEQUENCE.replace("SIZE", "0"), "FILE:3:9: error: "),
        ("parallel{loops=k}", "loopwright: error: parallel of k is illegal"),
        (SEQUENCE.replace("SIZE", "2") * 2, "there is already a schedule of @gemm"),
    ],
)
def test_mistakes_in_files(
    gemm: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, expected: str
) -> None:
    path = write(tmp_path, "schedule.mlir", text)
    assert expected.replace("FILE", path) in error(capsys, "schedule", gemm, "-S", path)


def test_a_file_or_a_pipeline(gemm: str, capsys: pytest.CaptureFixture[str]) -> None:
    message = error(capsys, "run", gemm, "-p", "P(L0)", "-S", "nowhere.mlir")
    assert "not allowed with argument" in message
    assert "nowhere.mlir: No such file" in error(capsys, "schedule", gemm, "-S", "nowhere.mlir")


def test_a_certificate_is_written_and_accepted(tmp_path: Path) -> None:
    file = tmp_path / "atax.json"
    command = ["schedule", "polybench/atax", "-p", "distribute{loops=S1.i}"]
    assert main([*command, "--certificate", str(file)]) == 0
    # A process of its own: the checker sets limits of isl and of time for the whole process.
    check = [sys.executable, certificate.__file__, file]
    assert subprocess.run(check).returncode == 0
    file.write_text(file.read_text().replace("i0 >= 0", "i0 >= 1"))
    assert subprocess.run(check).returncode == 1


def test_the_default_schedule_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    question = ("schedule", "polybench/mvt", "--size", "SMALL", "-t", "1")
    assert main([*question, "-p", "default", "--explain"]) == 0
    *_, how = capsys.readouterr().out.partition("how it was chosen:")
    assert "by the analytical estimate, of" in how and "LOOPWRIGHT_MODEL=off" in how
    assert main([*question, "-p", "rules", "--explain"]) == 1
    assert "--explain is about the default schedule" in capsys.readouterr().err
