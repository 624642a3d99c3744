"""pyarrow without static types: its objects are `Any`, rows are dictionaries."""

from __future__ import annotations

import importlib
from typing import Any

from ...support.extras import require

require("a directory of labels", "pyarrow")

pa: Any = importlib.import_module("pyarrow")
csv: Any = importlib.import_module("pyarrow.csv")
parquet: Any = importlib.import_module("pyarrow.parquet")

Table = Any
"""A `pyarrow.Table`."""
