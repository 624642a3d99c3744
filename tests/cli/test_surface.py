"""The commands agree with each other, and every public object has a short `repr`."""

from __future__ import annotations

import argparse
import re
import shlex
import shutil
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shtab

import loopwright
from loopwright.cli import main, parser_of
from loopwright.commands import COMMANDS
from loopwright.commands.completion import SHELLS, whole_parser
from loopwright.kernels.catalogue import catalogue

OTHER_METAVARS = {"output", "schedules"}
"""What is written differs from command to command: a file, a directory, either."""

SAME_HELP = {"fast_math", "schedule_file", "verify"}


def actions(name: str, parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.Action]]:
    """All options and arguments of a command and of its actions."""
    for action in parser._actions:  # pyright: ignore[reportPrivateUsage]
        if isinstance(action.choices, dict):
            for word, inner in action.choices.items():
                yield from actions(f"{name} {word}", inner)
        elif action.dest != "help":
            yield name, action


def by_name() -> dict[str, list[tuple[str, argparse.Action]]]:
    """The options of all commands, by what they are called in code."""
    found: dict[str, list[tuple[str, argparse.Action]]] = defaultdict(list)
    for command in COMMANDS:
        for name, action in actions(command, parser_of(command)):
            if action.option_strings and action.dest != "format":
                found[action.dest].append((name, action))
    return found


def test_the_same_option_is_spelled_and_explained_alike_everywhere() -> None:
    options = by_name()
    assert len(options["threads"]) >= 10
    for name, uses in options.items():
        spellings = {tuple(action.option_strings) for _, action in uses}
        assert len(spellings) == 1, (name, spellings)
        metavars = {str(action.metavar).removesuffix(",...") for _, action in uses}
        assert len(metavars) == 1 or name in OTHER_METAVARS, (name, metavars)
        kinds = {action.nargs == 0 for _, action in uses}
        assert len(kinds) == 1, f"{name} takes a value in some commands only"
        if name in SAME_HELP:
            assert len({action.help for _, action in uses}) == 1, name


def test_an_option_has_one_name_in_code() -> None:
    homes: dict[str, set[str]] = defaultdict(set)
    for name, uses in by_name().items():
        for _, action in uses:
            for spelling in action.option_strings:
                homes[spelling].add(name)
    shared = {spelling: names for spelling, names in homes.items() if len(names) > 1}
    assert not shared


@pytest.mark.parametrize("command", COMMANDS)
def test_help_ends_with_examples(command: str) -> None:
    _, found, examples = (parser_of(command).epilog or "").partition("examples:\n")
    assert found and f"  loopwright {command} " in f"{examples} "


@pytest.mark.parametrize("shell", SHELLS)
def test_completion_knows_all_commands_and_options(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(command in script for command in COMMANDS)
    assert shell == "tcsh" or ("--fast-math" in script and "--interchange" in script)


def test_files_are_completed() -> None:
    parser = whole_parser()
    found: dict[str, Any] = {}
    for name, action in actions("", parser):
        if action.metavar in ("FILE", "DIR"):
            found[f"{name} {action.dest}"] = getattr(action, "complete", None)
    assert len(found) > 15
    assert set(map(str, found.values())) == {str(shtab.FILE), str(shtab.DIRECTORY)}


def public_objects(tmp_path: Path) -> dict[str, object]:
    """One of everything that the API hands out, of a program with many statements."""
    program = loopwright.load("polybench/deriche")
    function = program["deriche"]
    sizes = catalogue()["polybench/deriche"].parameter_values("SMALL")
    chosen = function.default_schedule(sizes, threads=1)
    kernel = function.compile(chosen)
    arguments = catalogue()["polybench/deriche"].arguments("SMALL")
    kernel(*arguments)
    scop = function.scop
    return {
        "program": program,
        "function": function,
        "kernel": kernel,
        "schedule": chosen,
        "transformation": chosen.transformations[0],
        "tree": chosen.tree,
        "scop": scop,
        "parameter": scop.parameters[0],
        "array": scop.arrays[0],
        "statement": scop.statements[-1],
        "access": scop.statements[-1].accesses[0],
        "dependences": function.dependences,
        "dependence": next(iter(function.dependences)),
        "signature": function.signature,
        "target": loopwright.Target.host(),
        "specialisation": kernel.specialisation,
        "code": kernel.specialisation.code,
        "timing": kernel.time(*arguments, budget=0.01),
        "library": program.build(tmp_path / "library.o"),
        "kernel of the catalogue": catalogue()["polybench/deriche"],
    }


def test_every_public_object_has_a_short_repr(tmp_path: Path) -> None:
    for name, value in public_objects(tmp_path).items():
        text = repr(value)
        assert len(text) <= 400, f"{name}: {len(text)} characters"
        assert "\n" not in text, name
        assert type(value).__name__ in text, name


def test_str_is_the_text_form() -> None:
    program = loopwright.load("polybench/gemm")
    function = program["gemm"]
    assert "func.func @gemm" in str(program) and str(function).startswith("func.func @gemm")
    again = loopwright.load(f"{program}\n")
    assert str(again) == str(program)
    schedule = function.schedule("interchange{loops=k,S1.j}")
    assert str(schedule) == "interchange{loops=k,S1.j}"
    assert str(function.dependences) == function.dependences.readable()


def wrong_arguments() -> dict[str, tuple[type[Exception], dict[str, Any]]]:
    return {
        "fast_math is True or False, not 'no'": (TypeError, {"fast_math": "no"}),
        "fast_math is True or False, not 1": (TypeError, {"fast_math": 1}),
        "verify is True or False": (TypeError, {"verify": "yes"}),
        "threads is an integer, not '2'": (TypeError, {"threads": "2"}),
        "threads is an integer, not 2.5": (TypeError, {"threads": 2.5}),
        "threads is an integer, not True": (TypeError, {"threads": True}),
        "threads must be between 1 and 1024, got 0": (ValueError, {"threads": 0}),
        "target is a Target.*zen4.*not 'skylake'": (TypeError, {"target": "skylake"}),
        "a schedule is a Schedule or a text, not 3": (TypeError, {"schedule": 3}),
    }


@pytest.mark.parametrize("message", wrong_arguments())
def test_wrong_arguments_are_named(message: str, tmp_path: Path) -> None:
    error, arguments = wrong_arguments()[message]
    function = loopwright.load("polybench/mvt")["mvt"]
    with pytest.raises(error, match=f"mvt: {message}"):
        function.compile(**arguments)
    with pytest.raises(error, match=f"mvt: {message}"):
        function.build(tmp_path / "mvt.o", **arguments)


@pytest.mark.parametrize("file", ["polybench/mvt", "mvt.mlir"])
@pytest.mark.parametrize(
    "command",
    [
        ("schedule",),
        ("report", "--no-runs"),
        ("emit", "--mlir"),
        ("run",),
        ("tune", "--no-runs"),
        ("build", "-o", "mvt.o"),
    ],
)
def test_a_size_that_is_not_there_is_an_error(
    command: tuple[str, ...],
    file: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mvt.mlir").write_text(catalogue()["polybench/mvt"].text)
    name, *options = command
    assert main([name, file, *options, "--set", "zz=3"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert re.search("no (scalar or )?size 'zz'.*; there are .*\\bn\\b", line)
    assert [path.name for path in tmp_path.iterdir()] == ["mvt.mlir"]


def test_wrong_sizes_choices_and_files_are_named(tmp_path: Path) -> None:
    function = loopwright.load("polybench/mvt")["mvt"]
    with pytest.raises(ValueError, match="how is one of default, rules, auto, not 'atuo'"):
        function.choose_schedule("atuo", {"n": 10})
    with pytest.raises(ValueError, match="there is no size 'm'; there are n"):
        function.default_schedule({"m": 10})
    with pytest.raises(TypeError, match="size n is an integer, not '10'"):
        function.build(tmp_path / "mvt.o", sizes={"n": "10"})  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="path is a text or a Path, not 3"):
        function.build(3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="load: source is a text or a Path"):
        loopwright.load(3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="a target's name is one of host"):
        loopwright.Target.named(3)  # pyright: ignore[reportArgumentType]
    kernel = function.compile()
    for budget, error in (("1", TypeError), (-1.0, ValueError), (float("nan"), ValueError)):
        with pytest.raises(error, match="mvt: budget "):
            kernel.time(*[np.zeros(3)] * 6, budget=budget)  # pyright: ignore[reportArgumentType]


def test_shipped_kernels_load_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    texts = {
        str(loopwright.load(name))
        for name in ("polybench/gemm", "kernels/polybench/gemm.mlir", Path("polybench/gemm"))
    }
    assert len(texts) == 1
    (tmp_path / "polybench").mkdir()
    (tmp_path / "polybench" / "gemm").write_text("func.func @own() {\n  return\n}\n")
    assert list(loopwright.load("polybench/gemm")) == ["own"]


@pytest.mark.parametrize("digits", [30, 400, 5000])
@pytest.mark.parametrize("command", [["schedule", "-p", "default"], ["emit", "--c"], ["report"]])
def test_sizes_beyond_all_integers_are_one_line(
    command: list[str], digits: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, *options = command
    sizes = ["--set", f"n={'9' * digits}", "--set", "tsteps=2"]
    given = ["-o", str(tmp_path / "report.html")] if name == "report" else []
    assert main([name, "polybench/jacobi-2d", *options, *sizes, *given]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "does not fit into index" in line and len(line) < 400


def test_sizes_of_the_api_fit_into_index() -> None:
    function = loopwright.load("polybench/jacobi-2d")["jacobi_2d"]
    with pytest.raises(ValueError, match="size n does not fit into index"):
        function.default_schedule({"n": 2**63, "tsteps": 2})
    with pytest.raises(ValueError, match="size n does not fit into index"):
        function.explain_default({"n": 10**400, "tsteps": 2})


def schedule_examples() -> list[str]:
    _, _, examples = (parser_of("schedule").epilog or "").partition("examples:\n")
    return [line.strip() for line in examples.replace("\\\n", " ").splitlines() if line.strip()]


@pytest.mark.parametrize("example", schedule_examples())
def test_examples_of_the_help_run(
    example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "--svg" in example and not shutil.which("dot"):
        pytest.skip("Graphviz is not installed")
    monkeypatch.chdir(tmp_path)
    name, *arguments = shlex.split(example)
    assert name == "loopwright" and main(arguments) == 0
