"""Types of arguments that name files."""

from __future__ import annotations


class ReadFile(str):
    """The type of an argument that names a program or schedule to read."""


class WrittenFile(str):
    """The type of an argument that names a file, or NAME=FILE, to write."""
