"""Builds sdist and wheel, and tries the wheel alone: `python tools/wheel_check.py`.

The wheel is made from the sdist, and installed without any extra in a fresh environment outside of
the checkout. There the examples of the README run, every command, and every shipped model and
kernel is loaded; the environment's size has a limit.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[1]

MOST_MEGABYTES = 700

PACKAGES = ("costmodel", "dialects", "frontends", "kernels", "lowering", "passes", "runtime")
"""Folders of the root that are packages of the wheel."""

SCHEMAS = ROOT / "src" / "loopwright" / "schemas"

DATA = {".mlir", ".npz", ".py", ".toml", ".typed"}

COMMANDS: Mapping[str, tuple[int, str]] = {
    "--version": (0, "loopwright "),
    "run polybench/mvt --size SMALL --seconds 0.1 --threads 2": (0, "speed-up"),
    "run polybench/mvt --size SMALL --seconds 0.1 -p auto": (0, "schedule:"),
    "schedule kernels/polybench/gemm.mlir -p tile{loops=i,k sizes=8,8}": (1, "error: "),
    "schedule polybench/gemm -p parallel{loops=i}": (0, "parallel"),
    "deps polybench/gemm": (0, "dependences:"),
    "emit polybench/gemm --asm --set ni=20 --set nj=20 --set nk=20": (0, "vfmadd"),
    "emit polybench/gemm --c": (0, "for ("),
    "build polybench/gemm -o gemm.o": (0, "gemm.h"),
    "tune polybench/mvt --size MINI --threads 1 --beam 1 --budget 5s -o mvt.txt": (0, "as written"),
    "tune polybench/mvt --size MINI --beam 1 --space looper --interchange network": (
        0,
        "as written",
    ),
    "bench polybench/mvt --size MINI --threads 1 --peers numpy --seconds 0.1": (0, "numpy"),
    "calibrate --model additive --budget 1s": (1, "programs are too few to adapt a model"),
    "train labels --model additive -o a.npz": (1, 'pip install "loopwright[data]"'),
    "data show 3": (0, "func.func"),
    "data generate --programs 1 -o labels": (1, 'pip install "loopwright[data]"'),
    "tune polybench/mvt --size MINI --model looper": (1, 'pip install "loopwright[learn]"'),
    "serve": (1, 'pip install "loopwright[serve]"'),
    "deps polybench/mvt --json": (0, '"schema": "urn:loopwright:deps:1"'),
    "machine --help": (0, "usage: "),
    "completion bash": (0, "complete "),
}
"""Exit code, and a part of what is printed."""

API = """
import sys
import numpy as np
import loopwright
from loopwright.costmodel.find import find_loop_pairs, find_model, find_ranker
from loopwright.kernels.catalogue import catalogue

for name in catalogue():
    loopwright.load(name)
for name in ("additive", "ensemble"):
    find_model(name)
find_ranker("tournament")
find_loop_pairs("network"), find_loop_pairs("trees")
gemm = loopwright.load("kernels/polybench/gemm.mlir")["gemm"]
A, B, C = np.ones((40, 60)), np.ones((60, 50)), np.zeros((40, 50))
gemm.compile("auto", threads=2)(40, 50, 60, 1.5, 0.0, C, A, B)
assert np.allclose(C, 1.5 * A @ B)
assert loopwright.Target.named("zen4").vector_bits == 512
assert not {"torch", "pyarrow", "matplotlib", "scipy"}.intersection(sys.modules)
print("the API works from", loopwright.__file__)
"""


def main() -> None:
    """All of it, in a folder that is removed at the end."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        wheel = build(place)
        check_contents(wheel)
        python = install(wheel, place / "environment")
        work = place / "work"
        work.mkdir()
        environment = surroundings(python, place)
        subprocess.run([python, "-c", API], cwd=work, env=environment, check=True)
        run_readme(python, place, work, environment)
        run_commands(python, work, environment)
    print("the wheel works")


def build(place: Path) -> Path:
    """The wheel, made from the sdist of a copy of the checkout: nothing is left behind in there."""
    copy = place / "copy"
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).exists():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name, follow_symlinks=False)
    command = [sys.executable, "-m", "build", "--outdir", str(place / "dist"), str(copy)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(copy)
    (wheel,) = (place / "dist").glob("*.whl")
    return wheel


def check_contents(wheel: Path) -> None:
    """Whether all code and data of the packages is in the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        found = set(archive.namelist())
    listed = subprocess.run(
        ["git", "ls-files", *PACKAGES], cwd=ROOT, capture_output=True, text=True, check=True
    )
    wanted = [f"loopwright/{n}" for n in listed.stdout.split() if Path(n).suffix in DATA]
    wanted += [f"loopwright/schemas/{file.name}" for file in SCHEMAS.glob("*.json")]
    missing = sorted(name for name in wanted if name not in found)
    if missing:
        sys.exit(f"not in {wheel.name}: {', '.join(missing)}")


def install(wheel: Path, environment: Path) -> Path:
    """The interpreter of a fresh environment with nothing but the wheel and what it needs."""
    venv.create(environment, with_pip=True)
    python = environment / "bin" / "python"
    constraints = str(ROOT / "constraints.txt")
    subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "--constraint", constraints, str(wheel)],
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        check=True,
    )
    files = (path for path in environment.rglob("*") if path.is_file() and not path.is_symlink())
    megabytes = sum(path.stat().st_size for path in files) / 1e6
    print(f"{wheel.name}: {megabytes:.0f} MB in a fresh environment")
    if megabytes > MOST_MEGABYTES:
        sys.exit(f"more than {MOST_MEGABYTES} MB")
    return python


def surroundings(python: Path, place: Path) -> dict[str, str]:
    """An environment without the checkout, the user's folders and a compiler."""
    return {
        "PATH": str(python.parent),
        "HOME": str(place),
        "LANG": "C.UTF-8",
        "COLUMNS": "80",
        "LOOPWRIGHT_CACHE": str(place / "cache"),
        "LOOPWRIGHT_MODELS": str(place / "models"),
        "LOOPWRIGHT_TUNING": str(place / "tuning.sqlite"),
    }


def run_readme(python: Path, place: Path, work: Path, environment: Mapping[str, str]) -> None:
    """The README's examples; what runs them comes from outside of the environment."""
    readers = place / "readers"
    readers.mkdir()
    shutil.copy(ROOT / "tests" / "support" / "doc_examples.py", readers)
    sybil = find_spec("sybil")
    assert sybil is not None and sybil.origin is not None
    shutil.copytree(Path(sybil.origin).parent, readers / "sybil")
    code = "import sys; from pathlib import Path; from doc_examples import run_page; "
    code += "print('examples of the README:', len(run_page(Path(sys.argv[1]))))"
    subprocess.run(
        [python, "-c", code, str(ROOT / "README.md")],
        cwd=work,
        env={**environment, "PYTHONPATH": str(readers)},
        check=True,
    )


def run_commands(python: Path, work: Path, environment: Mapping[str, str]) -> None:
    """Every command, as somebody types it."""
    program = str(python.with_name("loopwright"))
    for command, (code, part) in COMMANDS.items():
        name, *rest = command.split(" -p ")
        words = [program, *shlex.split(name), *(["-p", *rest] if rest else [])]
        done = subprocess.run(
            words, cwd=work, env=dict(environment), capture_output=True, text=True, timeout=300
        )
        printed = done.stdout + done.stderr
        if done.returncode != code or part not in printed or "Traceback" in printed:
            sys.exit(f"loopwright {command}: exit code {done.returncode}\n{printed}")
    print(f"{len(COMMANDS)} commands ran")


if __name__ == "__main__":
    main()
