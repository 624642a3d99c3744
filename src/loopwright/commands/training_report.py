"""Text of a training report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .common import format_table

if TYPE_CHECKING:
    from ..costmodel.learning.evaluation_report import Metrics


def report_text(card: dict[str, Any], metrics: dict[str, Metrics]) -> str:
    """Data, training and figures of a model."""
    from ..costmodel.learning.evaluation_report import table

    data, training = card["data"], card["training"]
    since = " after resuming" if training["resumed"] else ""
    lines = [
        f"model      {card['model']}, space {data['space']}",
        f"learned    from {data['training']['pairs']} pairs of {data['training']['programs']} "
        f"programs, {training['epochs']} epochs, {training['seconds']:.0f} s{since}",
        f"machine    {data['machine']}",
    ]
    lines += [f"left out   {count} x {reason}" for reason, count in data["skipped"].items()]
    cells = _figures(card["figures"]) if card["figures"]["test"] else table(metrics)
    return "\n".join([*lines, "", format_table(cells, numbers=True)])


def _figures(columns: dict[str, dict[str, float]]) -> list[list[str]]:
    """A line per figure, a column per part of the programs; counts are whole, the rest shares."""
    rows = [
        [
            name,
            *(
                f"{found[name]:.1%}" if name != "programs" else f"{found[name]:.0f}"
                for found in columns.values()
            ),
        ]
        for name in columns["test"]
    ]
    return [["", *columns], *rows]
