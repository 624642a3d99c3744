"""Wheels: a shared library, its header and its Python module in one file that pip installs.

The same library gives the same bytes: files have the time that SOURCE_DATE_EPOCH says, or that of
the first zip files, and nothing tells where they were made.
"""

from __future__ import annotations

import base64
import hashlib
import io
import keyword
import re
import sys
import time
import zipfile
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

from ...support.output_files import write_output
from ...support.version import __version__
from ..calling.errors import BuildError
from .moments import given_moment
from .package_files import package_files
from .python_module import python_module
from .shared_library import SharedLibrary
from .symbol_versions import platform_tag

_EARLIEST = 315532800
"""1980-01-01, before which zip files know no times."""

_PYTHON = ">=3.11"
_NUMPY = "numpy>=2.0"


def check_name(name: str) -> None:
    """Raises BuildError for what cannot be the name of a Python module and of a library."""
    if name == "numpy" or name in sys.stdlib_module_names:
        raise BuildError(
            f"'{name}' cannot be the name of a wheel: Python or NumPy has a module of this name"
        )
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise BuildError(
            f"'{name}' cannot be the name of a wheel: it is a lower-case letter, and lower-case "
            "letters, digits and _ behind it"
        )


def check_version(version: str) -> None:
    """Raises BuildError for what is no release number."""
    if not re.fullmatch(r"\d+(\.\d+)*((a|b|rc)\d+)?(\.post\d+)?(\.dev\d+)?", version):
        raise BuildError(f"'{version}' is no version, such as 1.0.2")


def write_wheel(library: SharedLibrary, folder: Path, version: str, bill: str) -> Path:
    """Writes the wheel of a library into a folder; raises BuildError, OSError.

    `bill` is its bill of materials.
    """
    check_name(library.name)
    check_version(version)
    tag = f"py3-none-{platform_tag(library.code, library.architecture)}"
    files = {
        f"{library.name}/{path}": contents.encode()
        for path, contents in (
            python_module(library, version) | package_files(library, version)
        ).items()
    }
    files[f"{library.name}/lib/{library.file_name}"] = library.code
    information = f"{library.name}-{version}.dist-info"
    for name, contents in _information(library, version, tag, bill).items():
        files[f"{information}/{name}"] = contents.encode()
    record = f"{information}/RECORD"
    files[record] = _record(files, record).encode()
    path = folder / f"{library.name}-{version}-{tag}.whl"
    write_output(path, _zip(files))
    return path


def _information(library: SharedLibrary, version: str, tag: str, bill: str) -> dict[str, str]:
    functions = ", ".join(interface.symbol for interface in library.interfaces)
    return {
        "METADATA": (
            "Metadata-Version: 2.4\n"
            f"Name: {library.name}\nVersion: {version}\n"
            f"Summary: Machine code of {functions}, compiled by loopwright\n"
            f"Requires-Python: {_PYTHON}\nRequires-Dist: {_NUMPY}\n"
            "License-File: LICENSE.loopwright\n"
        ),
        "WHEEL": (
            f"Wheel-Version: 1.0\nGenerator: loopwright {__version__}\n"
            f"Root-Is-Purelib: false\nTag: {tag}\n"
        ),
        "licenses/LICENSE.loopwright": _licence(),
        f"sboms/{library.name}.cdx.json": bill,
    }


def _licence() -> str:
    """The licence of what wheels have of loopwright itself."""
    # A checkout has the metadata of its build beside the packages, without a licence.
    installed = metadata.distributions(name="loopwright")
    texts = (each.read_text("licenses/LICENSE") for each in installed)
    text = next((each for each in texts if each is not None), None)
    if text is None:
        raise BuildError("the installation of loopwright lacks its LICENSE; install it again")
    return text


def _record(files: Mapping[str, bytes], name: str) -> str:
    lines = [
        f"{path},sha256={_digest(contents)},{len(contents)}"
        for path, contents in sorted(files.items())
    ]
    return "\n".join([*lines, f"{name},,"]) + "\n"


def _digest(contents: bytes) -> str:
    digest = hashlib.sha256(contents).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def _zip(files: Mapping[str, bytes]) -> bytes:
    date = time.gmtime(max(given_moment() or 0, _EARLIEST))[:6]
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        # What tells about the wheel comes last, as the format recommends.
        for path in sorted(files, key=lambda path: (".dist-info/" in path, path)):
            entry = zipfile.ZipInfo(path, date)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = (0o100755 if path.endswith(".so") else 0o100644) << 16
            archive.writestr(entry, files[path])
    return buffer.getvalue()
