"""Section: the certificate, and what the independent checker says of it."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from .. import certificate as checker
from ..dialects.errors import SourceError
from ..lowering.certificate import certificate
from ..support.markup import Markup, block, element, join
from .section import Section, missing
from .subject import Subject

TITLE = "Certificate"

SECONDS = 60
"""How long the checker may take."""

LARGEST = 400_000
"""Characters of a certificate that is part of the page."""


def section(subject: Subject) -> Section:
    """The generated nest for all sizes, to save, and the verdict on it."""
    lead = (
        "Program and generated loops for all sizes. loopwright-check reads them and proves, "
        "without the compiler, that both compute the same."
    )
    try:
        found = certificate(subject.schedule)
    except SourceError as error:
        return Section("certificate", TITLE, lead, missing(error.message))
    written = f"{json.dumps(found, indent=1)}\n"
    nest = found["nest"]
    assert isinstance(nest, list), "the nest is a list of lines"
    text = "\n".join(map(str, nest))  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]
    parts = [
        element("p", element("strong", check(written))),
        _save(subject, written),
        element("details", element("summary", "The generated nest"), block(text, 300)),
    ]
    return Section("certificate", TITLE, lead, join(parts))


def check(text: str) -> str:
    """The answer of the checker in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "certificate.json"
        file.write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", checker.__name__, str(file)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return f"loopwright-check did not end in {SECONDS} s: nothing is proved."
        answer = done.stdout.strip().removeprefix(f"{file}: ")
        return f"loopwright-check: {answer or 'it failed'}"


def _save(subject: Subject, text: str) -> Markup:
    if len(text) > LARGEST:
        words = "It is too large for this page: 'loopwright schedule --certificate FILE' writes it."
        return element("p", words, class_="note")
    return join(
        (
            element(
                "button",
                f"Save the certificate ({len(text) / 1000:.0f} kB)",
                type="button",
                hidden=True,
                data_save="certificate-text",
                data_name=f"{subject.function.name}.json",
            ),
            # A script element ends at its end tag; JSON has the other spelling of it.
            element(
                "script",
                Markup(text.replace("<", "\\u003c")),
                type="application/json",
                id="certificate-text",
            ),
        )
    )
