"""lit: runs every `.mlir` file below through the tool that its first lines name."""

import os
import sys
from pathlib import Path

import lit.formats

root = Path(__file__).resolve().parents[2]
scripts = Path(sys.executable).parent

config.name = "loopwright"  # noqa: F821
config.test_format = lit.formats.ShTest()  # noqa: F821
config.suffixes = [".mlir"]  # noqa: F821
config.environment["PATH"] = os.pathsep.join((str(scripts), os.environ["PATH"]))  # noqa: F821
config.environment["PYTHONPATH"] = str(root / "src")  # noqa: F821
config.environment["LOOPWRIGHT_CACHE"] = "off"  # noqa: F821
config.substitutions += [  # noqa: F821
    ("loopwright-opt", f"{sys.executable} -m loopwright.opt"),
]
