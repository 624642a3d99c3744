"""What works, and what is said, where no package of an extra is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import torch
from support.scaled_rows import examples

from loopwright.costmodel.model_names import SHIPPED
from loopwright.costmodel.models.additive_network_training import TrainedSum, collate
from loopwright.costmodel.models.ensemble import Ensemble
from loopwright.costmodel.models.model_files import load_model
from loopwright.costmodel.models.tensors import load_arrays_into
from loopwright.support.extras import EXTRAS

REFUSED = {*EXTRAS, "halide", "numba", "pandas", "scipy", "sklearn"}

REFUSE = f"""
import sys

class Refusing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {REFUSED!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Refusing())
"""


def run(program: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """Runs Python code in a process that finds none of these packages."""
    return subprocess.run(
        [sys.executable, "-c", REFUSE + program],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "LOOPWRIGHT_MODELS": str(tmp_path / "models"),
            "LOOPWRIGHT_TUNING": str(tmp_path / "tuning.sqlite"),
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_shipped_models_predict_choose_and_adapt(tmp_path: Path) -> None:
    program = """
import numpy as np
import loopwright
from loopwright.costmodel.find import find_loop_pairs, find_model, find_ranker
from loopwright.costmodel.models.learned_model import TrainingOptions
from support.scaled_rows import examples

programs = examples(3)
for name in ("additive", "ensemble"):
    model = find_model(name)
    before = model.score(programs[0].features)
    assert np.all(before > 0)
    model.adapt(programs, TrainingOptions(epochs=2))
    assert not np.array_equal(model.score(programs[0].features), before)
for name in ("network", "trees"):
    find_loop_pairs(name)
find_ranker("tournament")
mvt = loopwright.load("polybench/mvt")["mvt"]
print(mvt.choose_schedule("auto", {"n": 120}, threads=1))
assert "torch" not in sys.modules
"""
    done = run(program, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "vectorize" in done.stdout


COMMANDS = {
    "train labels --model additive -o a.npz": ("pyarrow", "data"),
    "data stats labels": ("pyarrow", "data"),
    "data generate -o labels --programs 1": ("pyarrow", "data"),
    "tune polybench/mvt --model looper": ("torch", "learn"),
    "bench polybench/mvt --plot a.png": ("matplotlib", "plot"),
    "serve": ("mcp", "serve"),
    "tuning export memory://tuned.jsonl": ("fsspec", "share"),
}


def test_one_line_names_the_extra(tmp_path: Path) -> None:
    program = f"""
from loopwright.cli import main
from loopwright.costmodel.find import find_model
from loopwright.costmodel.models.learned_model import TrainingOptions
from loopwright.errors import MissingExtra

for command in {list(COMMANDS)!r}:
    assert main(command.split()) == 1
for use in (
    lambda: find_model("tiramisu"),
    lambda: find_model("ensemble").fit([], [], TrainingOptions()),
):
    try:
        use()
    except MissingExtra as error:
        print(error, file=sys.stderr)
"""
    (tmp_path / "labels").mkdir()
    done = run(program, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == len(COMMANDS) + 2
    for line, (package, extra) in zip(lines, COMMANDS.values(), strict=False):
        assert line.startswith("loopwright: error: ")
        assert line.endswith(f' needs {package}: pip install "loopwright[{extra}]"')
    assert lines[-2:] == [
        "'tiramisu' needs torch: pip install \"loopwright[learn]\"",
        'training additive-network needs torch: pip install "loopwright[learn]"',
    ]


def test_the_networks_of_the_shipped_ensemble_give_what_torch_gives() -> None:
    model = load_model(SHIPPED / "ensemble.npz").model
    assert isinstance(model, Ensemble)
    features = [each for program in examples(6) for each in program.features]
    batch = collate(features, torch.device("cpu"))
    found = model.networks.scores_of_members(features)
    for member, scores in zip(model.networks.members, found, strict=True):
        trained = TrainedSum(model.networks.options).eval()
        load_arrays_into(trained, member.state())
        with torch.inference_mode():
            expected = trained(batch).numpy()
        np.testing.assert_allclose(scores, expected, rtol=1e-5)
    assert len(np.unique(found)) > len(features)
