"""Every call of a Session refuses arguments of other types, in one line that names them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from loopwright import Session
from loopwright.errors import SourceError
from loopwright.session.calls import NAMES
from loopwright.session.problems import CallError, problem_of


def wrong_calls() -> Iterator[tuple[str, str]]:
    for name in NAMES:
        for each in inspect.signature(getattr(Session, name)).parameters.values():
            if each.name not in ("self", "report"):
                yield name, each.name


@pytest.fixture
def session() -> Iterator[Session]:
    with Session() as session:
        session.load("polybench/gemm", size="MINI")
        yield session


@pytest.mark.parametrize(("name", "argument"), [*wrong_calls()])
@pytest.mark.parametrize("value", [object(), b"gemm", 2.5j])
def test_other_types_are_refused(session: Session, name: str, argument: str, value: Any) -> None:
    parameters = inspect.signature(getattr(Session, name)).parameters.values()
    needed = [each for each in parameters if each.default is inspect.Parameter.empty]
    given: dict[str, Any] = {each.name: "gemm" for each in needed if each.name != "self"}
    if "schedules" in given:
        given["schedules"] = [""]
    with pytest.raises(CallError) as caught:
        getattr(session, name)(**{**given, argument: value})
    assert problem_of(caught.value).code == "type"
    assert str(caught.value).startswith(f"{argument}: ")
    assert "\n" not in str(caught.value)


def test_flags_and_numbers_are_not_mixed(session: Session) -> None:
    for arguments in ({"fast_math": 1}, {"fast_math": "no"}, {"threads": True}, {"threads": 2.0}):
        with pytest.raises(CallError, match=r"not (bool|int)|is True|is 2\.0"):
            session.load("polybench/gemm", **arguments)  # pyright: ignore[reportArgumentType]


def test_lists_and_paths_are_taken(session: Session, tmp_path: Path) -> None:
    file = tmp_path / "gemm.schedule"
    session.save("gemm", file)  # pyright: ignore[reportArgumentType]
    assert file.is_file()
    found = session.predict("gemm", [""], "roofline")  # pyright: ignore[reportArgumentType]
    assert len(found.predictions) == 1


@pytest.mark.parametrize("name", ["", "a\nb", "a\0b", "x" * 201])
def test_names_of_programs_are_one_line(session: Session, name: str) -> None:
    with pytest.raises(CallError, match="one line"):
        session.load("polybench/gemm", name=name)


def test_a_session_is_made_of_limits_and_files() -> None:
    with pytest.raises(TypeError, match="limits is RunLimits or None, not 5"):
        Session(5)  # pyright: ignore[reportArgumentType]


def test_its_repr_is_one_line(session: Session) -> None:
    assert repr(session) == "<Session of gemm>"


BLOCKS = ["{}", "```\n{}\n```", "```mlir\n{}\n```\n", "  ~~~text\n{}\n~~~", "````\n{}\n  ````"]


@pytest.mark.parametrize("block", [*BLOCKS, "`{}`", " `{}`\n"])
def test_schedules_may_be_blocks_of_code(session: Session, block: str) -> None:
    found = session.legal("gemm", block.format("parallel{loops=i}"), block.format(""))
    assert found.legal and found.schedule == "parallel{loops=i}"


@pytest.mark.parametrize("block", BLOCKS)
def test_programs_may_be_blocks_of_code(session: Session, block: str) -> None:
    text = "func.func @f(%n: index) {\n  return\n}"
    assert session.load(block.format(text)).function == "f"


def test_text_around_a_block_is_no_schedule(session: Session) -> None:
    for text in ("try ```\nparallel{loops=i}\n```", "```\na\n```\n```\nb\n```", "```a```"):
        with pytest.raises(SourceError):
            session.legal("gemm", text)


def test_none_is_the_default(session: Session) -> None:
    assert session.legal("gemm", "parallel{loops=i}", None).legal  # pyright: ignore[reportArgumentType]
    with pytest.raises(CallError, match=r"^step: it is None"):
        session.legal("gemm", None)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("tile(i, j, 32, 32)", "tile{loops=NAME,... sizes=INTEGER|NAME,..."),
        ("parallel{loops=i},tile{loops=[i,j]}", "tile{loops=NAME,... sizes="),
        ("parallel{loops=i};tile{loops=i,j}", "parallel{loops=NAME"),
        ("tile{loops=i,j, sizes=32,32}", "tile{loops=NAME,..."),
        ("(i, j)", "steps are written tile{loops=i,j sizes=32,32},parallel{loops=it}"),
    ],
)
def test_texts_that_are_no_steps_say_what_steps_are(
    session: Session, text: str, remedy: str
) -> None:
    with pytest.raises(SourceError) as caught:
        session.legal("gemm", text)
    found = problem_of(caught.value).remedy
    assert found is not None and remedy in found
