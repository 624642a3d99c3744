"""What a session reads and writes: any file, in a process of one's own."""

from __future__ import annotations

from pathlib import Path

from ..frontends.loading import load
from ..runtime.program import Program
from ..support.output_files import write_output


class AnyFiles:
    """Files of the user's own process, named as its user names them."""

    def read(self, source: str) -> Program:
        """The program in a text or file; raises SourceError, OSError."""
        return load(source)

    def write(self, path: str, text: str) -> None:
        """Writes a file; raises OSError."""
        write_output(Path(path), text)

    def model(self, name: str) -> str:
        """The cost model of this name, or in this file."""
        return name
