"""The language: dialects, parsing, verification, source positions of errors."""
