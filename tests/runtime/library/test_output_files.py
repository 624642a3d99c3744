"""Outputs are written beside and renamed: whole, or not at all."""

import errno
import os
from pathlib import Path

import pytest

from loopwright.support.output_files import replacing, write_output


def test_an_older_file_stays_where_writing_fails(tmp_path: Path) -> None:
    file = tmp_path / "kernel.o"
    file.write_text("old")
    with pytest.raises(OSError, match=r"kernel\.o") as caught, replacing(file) as beside:
        beside.write_text("ne")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert caught.value.errno == errno.ENOSPC
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_an_interrupt_leaves_nothing(tmp_path: Path) -> None:
    file = tmp_path / "kernel.o"
    with pytest.raises(KeyboardInterrupt), replacing(file):
        raise KeyboardInterrupt
    assert not list(tmp_path.iterdir())


def test_permissions_and_links_stay(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("old")
    file.chmod(0o640)
    link.symlink_to(file)
    write_output(link, "new")
    assert link.is_symlink() and file.read_text() == "new"
    assert file.stat().st_mode & 0o777 == 0o640


def test_what_is_no_file_is_written_to() -> None:
    write_output("/dev/null", b"away")
    assert not Path("/dev/null").is_file()


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"kernel\.o"):
        write_output(tmp_path / "none" / "kernel.o", b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_devices_are_named_in_errors() -> None:
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        write_output("/dev/full", "text\n")
