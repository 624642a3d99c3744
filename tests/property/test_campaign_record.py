"""Totals of campaigns that are run in pieces."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from support import campaign_record


def test_pieces_add_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path, str(campaign_record.BENCHMARKS)])
    record: Any = importlib.import_module("record")
    (tmp_path / "results").mkdir()
    monkeypatch.setattr(record, "FOLDER", tmp_path / "results")
    monkeypatch.setattr(record, "ROOT", tmp_path)
    monkeypatch.setattr(record, "commit", lambda: "0000000")
    monkeypatch.setattr(campaign_record, "BENCHMARKS", tmp_path)
    campaign_record.add("c", "pairs", 40, 1, 0, range(9))
    campaign_record.add("c", "inputs", 100, 0, 2, range(100))
    campaign_record.add("c", "pairs", 45, 0, 1, range(20, 30))
    campaign_record.add("c", "pairs", 5, 0, 0, range(9, 10))
    rows = json.loads((tmp_path / "results" / "c.json").read_text())["rows"]
    assert rows == [["inputs", 100, 0, 2, "0-99"], ["pairs", 90, 1, 1, "0-9, 20-29"]]
    with pytest.raises(ValueError, match="counted before"):
        campaign_record.add("c", "pairs", 5, 0, 0, range(25, 26))
