"""Drawings as SVG files of their own."""

from __future__ import annotations

import re
from importlib import resources

from ..support.markup import Markup

_VARIABLE = re.compile(r"--([\w-]+): ([^;]+);")


def standalone(drawing: Markup) -> str:
    """A drawing with its styles, in the light colours of reports.

    The colours are written out: most programs that read SVG know no variables.
    """
    palette = dict(_VARIABLE.findall(resource("report.css").partition("}")[0]))
    styles = re.sub(r"var\(--([\w-]+)\)", lambda v: palette[v[1]], resource("drawings.css"))
    font = "svg { font-family: DejaVu Sans, Helvetica, Arial, sans-serif; }"
    mono = "text.mono { font-family: DejaVu Sans Mono, monospace; font-size: 12px; }"
    opening, _, rest = drawing.partition(">")
    head = opening.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
    return f"{head}><style>{styles}{font}{mono}</style>{rest}\n"


def resource(name: str) -> str:
    """A file of this package."""
    return (resources.files(__name__.rpartition(".")[0]) / name).read_text(encoding="utf-8")
