"""Contents of wheels: what installers and auditors ask for, and nothing of where they were made."""

from __future__ import annotations

import base64
import csv
import hashlib
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from support.runtime_programs import DOT
from support.shipped_wheels import LOWEST, build_wheel, small_wheel

from loopwright.cli import main
from loopwright.passes.machine.detection import host_architecture


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_wheel(tmp_path_factory.mktemp("wheel"), "--levels", LOWEST)


def test_the_same_input_gives_the_same_bytes(wheel: Path, tmp_path: Path) -> None:
    again = small_wheel(tmp_path / "elsewhere", "--levels", LOWEST)
    assert again.read_bytes() == wheel.read_bytes()
    with zipfile.ZipFile(again) as archive:
        for name in archive.namelist():
            contents = archive.read(name)
            for place in (tmp_path, Path(__file__).parents[3], Path.home()):
                assert str(place).encode() not in contents, name


def test_processes_with_other_hashes_write_the_same_bytes(tmp_path: Path) -> None:
    """The default schedules of shipped kernels, in other folders, at other times."""
    command = ["build", "polybench/gemm", "polybench/jacobi-2d", "--wheel", "same"]
    wheels: list[bytes] = []
    for seed in ("1", "2"):
        folder = tmp_path / seed
        folder.mkdir()
        subprocess.run(
            [sys.executable, "-m", "loopwright", *command, "--levels", LOWEST],
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(sys.path),
                "PYTHONHASHSEED": seed,
                "LOOPWRIGHT_CACHE": "off",
            },
            cwd=folder,
            check=True,
        )
        (wheel,) = folder.glob("same-*.whl")
        wheels.append(wheel.read_bytes())
    assert wheels[0] == wheels[1]


def test_times_are_what_the_variable_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    options = ["-p", "", "--levels", LOWEST]
    with zipfile.ZipFile(build_wheel(tmp_path, "dated", {"dot": DOT}, *options)) as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(2023, 11, 14, 22, 13, 20)}
        bill = json.loads(archive.read("dated-0.1.0.dist-info/sboms/dated.cdx.json"))
    assert bill["metadata"]["timestamp"] == "2023-11-14T22:13:20Z"


def test_the_record_has_the_digest_of_every_file(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        record = "small-0.1.0.dist-info/RECORD"
        rows = list(csv.reader(archive.read(record).decode().splitlines()))
        assert [name for name, *_ in rows[:-1]] == sorted(set(archive.namelist()) - {record})
        assert rows[-1] == [record, "", ""]
        for name, digest, size in rows[:-1]:
            contents = archive.read(name)
            expected = base64.urlsafe_b64encode(hashlib.sha256(contents).digest())
            assert (digest, size) == (
                f"sha256={expected.decode().rstrip('=')}",
                str(len(contents)),
            )


def test_the_bill_of_materials_names_what_is_inside(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        bill = json.loads(archive.read("small-0.1.0.dist-info/sboms/small.cdx.json"))
        code = archive.read("small/lib/libsmall.so")
        assert (
            "Apache License"
            in archive.read("small-0.1.0.dist-info/licenses/LICENSE.loopwright").decode()
        )
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    components = {each["name"]: each for each in bill["components"]}
    functions = {"@dot", "@scalars", "@fixed", "@gemm"}
    assert components.keys() == {"loopwright", "numpy", "small/lib/libsmall.so", *functions}
    digest = hashlib.sha256(code).hexdigest()
    assert components["small/lib/libsmall.so"]["hashes"] == [{"alg": "SHA-256", "content": digest}]
    references = {each["bom-ref"] for each in bill["components"]} | {"small"}
    for dependency in bill["dependencies"]:
        assert {dependency["ref"], *dependency["dependsOn"]} <= references


def test_auditors_agree_with_the_tag(wheel: Path) -> None:
    """The library asks for glibc 2.17 at most, and for nothing besides glibc."""
    assert wheel.name == f"small-0.1.0-py3-none-manylinux_2_17_{host_architecture()}.whl"
    command = [sys.executable, "-m", "auditwheel", "show", str(wheel)]
    environment = {**os.environ, "COLUMNS": "1000"}
    shown = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    text = " ".join(shown.stdout.split())
    assert 'is consistent with the following platform tag: "manylinux_2_' in text
    found = text.partition('platform tag: "manylinux_2_')[2].partition(f"_{host_architecture()}")[0]
    assert int(found) <= 17


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--wheel", "Small"], "'Small' cannot be the name of a wheel"),
        (["--wheel", "lambda"], "'lambda' cannot be the name of a wheel"),
        (["--wheel", "numpy"], "'numpy' cannot be the name of a wheel: Python or NumPy has a modu"),
        (["--wheel", "json"], "'json' cannot be the name of a wheel: Python or NumPy has a module"),
        (["--wheel", "small", "--wheel-version", "new"], "'new' is no version, such as 1.0.2"),
        (["--wheel", "small", "--levels", "zen3"], "there is no level 'zen3'; there are x86-64,"),
        (["--wheel", "small", "--levels", "x86-64-v2,armv8-a"], "a library is for one architectur"),
        (["--wheel", "small", "--target", "zen3"], "a wheel has code for --levels; --target and"),
        (["--wheel", "small", "-f", "saxpy"], "there is no function 'saxpy' in"),
        (["--wheel", "small", "-s", "m=3"], "there is no size 'm'; there are n, x_dim0, y_dim0"),
        (["--wheel", "small", "-o", "missing/dist"], "there is no directory missing for the wheel"),
        ([], "say with --output what to write"),
        (["-o", "a.so", "--levels", "x86-64-v2"], "--levels is for --wheel"),
    ],
)
def test_mistakes_are_told(
    options: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dot.mlir").write_text(DOT)
    assert main(["build", "dot.mlir", *options]) == 1
    assert message in capsys.readouterr().err
    assert not list(tmp_path.glob("*.whl"))


def test_the_folder_of_a_wheel_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dot.mlir").write_text(DOT)
    options = ["-p", "", "--levels", LOWEST, "--wheel", "small"]
    assert main(["build", "dot.mlir", *options, "-o", "dist"]) == 0
    assert len(list(Path("dist").glob("small-*.whl"))) == 1


def test_two_functions_of_one_name_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.mlir").write_text(DOT)
    files = [str(tmp_path / f"{name}.mlir") for name in ("one", "two")]
    assert main(["build", *files, "--wheel", "twice", "-o", str(tmp_path)]) == 1
    assert "'dot'" in capsys.readouterr().err


def test_programs_without_functions_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "empty.mlir"
    file.write_text("")
    assert main(["build", str(file), "--wheel", "empty", "-o", str(tmp_path)]) == 1
    assert capsys.readouterr().err.endswith("empty.mlir has no function with a body\n")
