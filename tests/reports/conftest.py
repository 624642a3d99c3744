"""Reports that several tests look at, written once."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.reports import HOSTILE, REPORTS

from loopwright.cli import main


@pytest.fixture(scope="session")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The files of `REPORTS`; nothing is measured, and there is no tuning database."""
    folder = tmp_path_factory.mktemp("reports")
    (folder / "<b>.mlir").write_text(HOSTILE)
    files = {name: folder / f"{name}.html" for name in REPORTS}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("LOOPWRIGHT_TUNING", "off")
        for name, arguments in REPORTS.items():
            assert main(["report", *arguments, "--no-runs", "-o", str(files[name])]) == 0
    return files
