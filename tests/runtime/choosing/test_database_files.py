"""Tuned schedules that are shared as files."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from loopwright.cli import main
from loopwright.runtime.choosing import database as module
from loopwright.runtime.choosing.database import Question, Tuned, TuningDatabase

QUESTION = Question("digest", "scale", {"n": 10}, "machine", 2, False)


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], TuningDatabase]:
    """Makes a database the one of the commands."""

    def choose(name: str) -> TuningDatabase:
        path = tmp_path / f"{name}.sqlite"
        monkeypatch.setenv("LOOPWRIGHT_TUNING", str(path))
        return TuningDatabase(path)

    return choose


def test_the_faster_schedule_of_two_databases_stays(
    use: Callable[[str], TuningDatabase], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = replace(QUESTION, threads=4)
    third = replace(QUESTION, target="another machine")
    here = use("one")
    here.put(QUESTION, Tuned("slow", 2.0, 1.0))
    here.put(other, Tuned("fast", 1.0, 2.0))
    here.put(third, Tuned("only here", 1.0, 2.0))
    file = str(tmp_path / "one.jsonl")
    assert main(["tuning", "export", file]) == 0
    there = use("two")
    there.put(QUESTION, Tuned("fast", 1.0, 2.0))
    there.put(other, Tuned("slow", 2.0, 1.0))
    assert main(["tuning", "merge", file]) == 0
    assert "took over 2 of 3 schedules" in capsys.readouterr().out
    assert there.get(QUESTION) == Tuned("fast", 1.0, 2.0)
    assert there.get(other) == Tuned("fast", 1.0, 2.0)
    assert there.get(third) == Tuned("only here", 1.0, 2.0)
    assert main(["tuning", "merge", file]) == 0
    assert "took over 0 of 3 schedules" in capsys.readouterr().out


def test_schedules_of_this_compiler_stay(
    use: Callable[[str], TuningDatabase], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = str(tmp_path / "old.jsonl")
    with monkeypatch.context() as old:
        old.setattr(module, "code_generator", lambda: "an older one")
        use("old").put(QUESTION, Tuned("old", 1.0, 2.0))
    assert main(["tuning", "export", file]) == 0
    here = use("new")
    here.put(QUESTION, Tuned("new", 3.0, 1.0))
    assert main(["tuning", "merge", file]) == 0
    assert here.get(QUESTION) == Tuned("new", 3.0, 1.0)


HEAD = {"format": "loopwright tuning", "version": 1}
ENTRY: dict[str, Any] = {
    "program": "digest",
    "sizes": "{}",
    "target": "machine",
    "threads": 1,
    "fast_math": 0,
    "schedule": "",
    "seconds": 1.0,
    "speedup": 1.0,
    "function": "f",
    "compiler": "c",
    "found_at": 0.0,
}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "is no export of tuned schedules"),
        ([{"format": "another"}], "is no export of tuned schedules"),
        ([HEAD, {}], "bad.jsonl:2: a line has the fields program, sizes"),
        ([HEAD, ENTRY | {"threads": "1"}], "bad.jsonl:2: threads cannot be '1'"),
        ([HEAD, ENTRY, ENTRY | {"seconds": 0.0}], "bad.jsonl:3: this is no schedule that was"),
        ([HEAD, ENTRY | {"speedup": float("nan")}], "bad.jsonl:2: speedup cannot be nan"),
        ([HEAD, ENTRY | {"schedule": "x" * 100_001}], "bad.jsonl:2: this is no schedule that was"),
    ],
)
def test_other_files_are_refused_whole(
    lines: list[Any],
    message: str,
    use: Callable[[str], TuningDatabase],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    database = use("here")
    file = tmp_path / "bad.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert main(["tuning", "merge", str(file)]) == 1
    assert message in capsys.readouterr().err
    assert database.entries() == []


def test_a_file_that_is_no_text(
    use: Callable[[str], TuningDatabase], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    use("here")
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    assert main(["tuning", "merge", str(tmp_path / "binary")]) == 1
    assert "is no export of tuned schedules" in capsys.readouterr().err


def make_key(folder: Path, name: str) -> Path:
    """A pair of keys, as `ssh-keygen -t ed25519` makes them."""
    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
    (folder / name).write_bytes(private)
    public = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
    (folder / f"{name}.pub").write_bytes(public)
    return folder / name


def test_only_what_was_signed_is_trusted(
    use: Callable[[str], TuningDatabase], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key, other = make_key(tmp_path, "key"), make_key(tmp_path, "other")
    file, plain = tmp_path / "signed.jsonl", tmp_path / "plain.jsonl"
    use("here").put(QUESTION, Tuned("fast", 1.0, 2.0))
    assert main(["tuning", "export", str(file), "--sign", str(key)]) == 0
    assert main(["tuning", "export", str(plain)]) == 0
    there = use("there")
    trust = ["--trust", f"{other}.pub", "--trust", f"{key}.pub"]
    changed = tmp_path / "changed.jsonl"
    changed.write_bytes(file.read_bytes().replace(b'"fast"', b'"slow"'))
    for name, keys, message in (
        (file, trust[:2], "was signed by none of"),
        (plain, trust, "is not signed"),
        (changed, trust, "was signed by none of"),
        (file, ["--trust", str(plain)], "is no public key of OpenSSH"),
    ):
        assert main(["tuning", "merge", str(name), *keys]) == 1
        assert message in capsys.readouterr().err
        assert there.entries() == []
    assert main(["tuning", "merge", str(file), *trust]) == 0
    assert there.get(QUESTION) == Tuned("fast", 1.0, 2.0)
    assert main(["tuning", "merge", str(file)]) == 0, "who trusts everybody"
    assert main(["tuning", "export", str(plain), "--sign", f"{key}.pub"]) == 1
    assert "--sign:" in capsys.readouterr().err


def test_places_of_an_object_store_and_folders(
    use: Callable[[str], TuningDatabase], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = replace(QUESTION, threads=4)
    use("one").put(QUESTION, Tuned("fast", 1.0, 2.0))
    folder = tmp_path / "served"
    folder.mkdir()
    for place in ("memory://bucket/one.jsonl", str(folder / "one.jsonl")):
        assert main(["tuning", "export", place]) == 0
    use("two").put(other, Tuned("fast", 1.0, 2.0))
    for place in ("memory://bucket/two.jsonl", str(folder / "two.jsonl")):
        assert main(["tuning", "export", place]) == 0
    for number, place in enumerate(("memory://bucket", str(folder))):
        database = use(f"merged{number}")
        assert main(["tuning", "merge", place]) == 0
        assert "took over 2 of 2 schedules" in capsys.readouterr().out
        assert database.get(other) == Tuned("fast", 1.0, 2.0)
    for place, message in (
        ("memory://bucket/three.jsonl", "memory://bucket/three.jsonl: "),
        ("nowhere://bucket", "nowhere://bucket: Protocol not known"),
        (str(tmp_path / "none.jsonl"), "none.jsonl: No such file"),
        (str(tmp_path / "empty"), "has no exports of tuned schedules"),
    ):
        (tmp_path / "empty").mkdir(exist_ok=True)
        assert main(["tuning", "merge", place]) == 1
        assert message in capsys.readouterr().err
