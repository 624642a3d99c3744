"""Labels in LOOPerSet's layout become programs and schedules of ours."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from loopwright.cli import main
from loopwright.costmodel.dataset.shards import list_shards, read_rows
from loopwright.runtime.program import load

VECTOR = [0] * 16


def schedule(times: list[float], **own: Any) -> dict[str, Any]:
    computation = {
        "shiftings": None,
        "tiling": {},
        "unrolling_factor": None,
        "parallelized_dim": None,
        "transformations_list": [],
        **own,
    }
    return {"comp0": computation, "fusions": None, "execution_times": times}


def program() -> dict[str, Any]:
    """b1[i0, i1] = b0[i0, i1 + 1] * b0[i0, i1] + constant, for i1 up to i0."""
    leaf = {"expr_type": "access", "children": []}
    expression = {
        "expr_type": "add",
        "children": [
            {"expr_type": "mul", "children": [leaf, leaf]},
            {"expr_type": "value", "children": []},
        ],
    }
    computation = {
        "absolute_order": 1,
        "iterators": ["i0", "i1"],
        "data_type": "float32",
        "write_access_relation": "{ comp0[i0, i1] -> b1[i0' = i0, i1' = i1] }",
        "write_buffer_id": 1,
        "accesses": [
            {"buffer_id": 0, "access_matrix": [[1, 0, 0], [0, 1, 1]]},
            {"buffer_id": 0, "access_matrix": [[1, 0, 0], [0, 1, 0]]},
        ],
        "expression_representation": expression,
    }
    annotation = {
        "iterators": {
            "i0": {"lower_bound": "0", "upper_bound": "64"},
            "i1": {"lower_bound": "0", "upper_bound": "i0 + 1"},
        },
        "computations": {"comp0": computation},
    }
    schedules = [
        schedule([4.0, 5.0, 6.0]),
        schedule([2.0], parallelized_dim="i0"),
        schedule(
            [1.0, 1.0],
            parallelized_dim="i0",
            tiling={"tiling_dims": ["i0", "i1"], "tiling_factors": ["32", "16"]},
            unrolling_factor="4",
        ),
        schedule([3.0], transformations_list=[[1, 0, 1, *VECTOR[3:]]]),
        schedule([3.0], transformations_list=[[3, 0, 1, 0, 0, 1, 1, *VECTOR[7:]]]),
        {**schedule([3.0]), "fusions": [["comp0", "comp0", 1]]},
    ]
    return {"program_annotation": annotation, "schedules_list": schedules}


@pytest.mark.parametrize("suffix", [".json", ".jsonl", ".jsonl.gz"])
def test_reading(suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / f"set{suffix}"
    if suffix == ".json":
        file.write_text(json.dumps({"function1": program()}))
    elif suffix == ".jsonl":
        file.write_text(json.dumps(program()) + "\n")
    else:
        file.write_bytes(gzip.compress(json.dumps(program()).encode()))
    assert main(["data", "looperset", str(file), "-o", str(tmp_path / "out")]) == 0
    assert "1 programs, 3 pairs; 2 schedules were skipped" in capsys.readouterr().out
    (shard,) = list_shards(tmp_path / "out").shards
    rows = {row["schedule"]: row for row in read_rows(shard)}
    assert rows[""]["seconds"] == pytest.approx(5e-3)
    assert set(rows) == {
        "",
        "parallel{loops=i0}",
        "tile{loops=i0,i1 sizes=32,16},parallel{loops=i0t},unroll{loops=i1 factor=4}",
        "interchange{loops=i1,i0}",
    }
    assert rows["parallel{loops=i0}"]["baseline_seconds"] == pytest.approx(5e-3)
    function = load(rows[""]["program"])["program"]
    for text in rows:
        function.schedule(text)
    source, result = np.ones((64, 65), np.float32), np.zeros((64, 64), np.float32)
    # Arguments are in the order in which the buffers are met.
    function.compile(schedule=None)(source, result)
    assert np.array_equal(result, np.tril(np.full((64, 64), 2.5, np.float32)))


def pair() -> dict[str, Any]:
    """Two computations in the same two loops."""
    entry = program()
    computations = entry["program_annotation"]["computations"]
    second = json.loads(json.dumps(computations["comp0"]).replace("comp0", "comp1"))
    second |= {"absolute_order": 2, "write_buffer_id": 2}
    second["write_access_relation"] = "{ comp1[i0, i1] -> b2[i0' = i0, i1' = i1] }"
    computations["comp1"] = second
    return entry


def test_computations_in_the_same_loops_have_one_step_for_both(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = pair()
    both = schedule([2.0], tiling={"tiling_dims": ["i0", "i1"], "tiling_factors": ["8", "4"]})
    alone = schedule([2.0], parallelized_dim="i0")
    illegal = schedule([2.0], parallelized_dim="i7")
    entry["schedules_list"] = [
        {**schedule([4.0]), "comp1": schedule([])["comp0"]},
        {**both, "comp1": both["comp0"]},
        {**alone, "comp1": alone["comp0"]},
        {**alone, "comp1": schedule([])["comp0"]},
        {**illegal, "comp1": illegal["comp0"]},
    ]
    file = tmp_path / "set.json"
    file.write_text(json.dumps({"a": entry}))
    assert main(["data", "looperset", str(file), "-o", str(tmp_path / "out")]) == 0
    assert "1 programs, 2 pairs; 2 schedules were skipped" in capsys.readouterr().out
    (shard,) = list_shards(tmp_path / "out").shards
    found = {row["schedule"] for row in read_rows(shard)}
    assert found == {"", "tile{loops=S0.i0,S0.i1 sizes=8,4}", "parallel{loops=S0.i0}"}


@pytest.mark.parametrize("content", ["[1]", '"text"'])
def test_another_layout_is_refused(
    content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "set.json"
    file.write_text(content)
    assert main(["data", "looperset", str(file), "-o", str(tmp_path / "out")]) == 1
    assert "expected an object of programs" in capsys.readouterr().err
    cut = tmp_path / "cut.jsonl.gz"
    cut.write_bytes(gzip.compress(json.dumps(program()).encode())[:-20])
    assert main(["data", "looperset", str(cut), "-o", str(tmp_path / "out")]) == 1
    assert main(["data", "looperset", "nofile.json", "-o", str(tmp_path / "none")]) == 1
    assert not (tmp_path / "none").exists()


def test_what_does_not_carry_over_is_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    strange = program()
    strange["program_annotation"]["computations"]["comp0"]["data_type"] = "complex"
    broken: dict[str, Any] = {"program_annotation": {}, "schedules_list": []}
    file = tmp_path / "set.json"
    file.write_text(json.dumps({"a": strange, "b": broken}))
    assert main(["data", "looperset", str(file), "-o", str(tmp_path / "out")]) == 0
    out = capsys.readouterr().out
    assert "elements of type complex" in out and "unexpected layout" in out
    file.write_text("{")
    assert main(["data", "looperset", str(file), "-o", str(tmp_path / "out")]) == 1
    assert "not JSON" in capsys.readouterr().err
