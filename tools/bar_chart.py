"""Horizontal bar chart on a logarithmic scale, as reproducible SVG."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import log10

BAR, GAP, LABELS, WIDTH, TOP = 14, 4, 120, 520, 40
TICKS = (1, 2, 5, 10, 20, 50, 100)
BLUE, GREY = "#4051b5", "#808080"


def bar_chart(title: str, bars: Sequence[tuple[str, float]]) -> str:
    """One bar for each name and value, in the given order; the axis begins at 1."""
    largest = max(value for _, value in bars)
    scale = WIDTH / log10(largest)
    height = TOP + len(bars) * (BAR + GAP) + 24
    bottom = height - 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LABELS + WIDTH + 60} {height}" '
        f'font-family="sans-serif" font-size="11" fill="{GREY}">',
        f"<title>{escape(title)}</title>",
        f'<text x="{LABELS}" y="18" font-size="13">{escape(title)}</text>',
    ]
    for tick in TICKS:
        if tick <= largest:
            x = LABELS + scale * log10(tick)
            parts.append(
                f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 6}" y2="{bottom}" stroke="{GREY}" '
                f'stroke-opacity="0.3"/><text x="{x:.1f}" y="{height - 6}" '
                f'text-anchor="middle">{tick}x</text>'
            )
    for number, (name, value) in enumerate(bars):
        y = TOP + number * (BAR + GAP)
        width = scale * log10(max(value, 1.0))
        parts.append(
            f'<text x="{LABELS - 6}" y="{y + 11}" text-anchor="end">{escape(name)}</text>'
            f'<rect x="{LABELS}" y="{y}" width="{width:.1f}" height="{BAR}" fill="{BLUE}"/>'
            f'<text x="{LABELS + width + 4:.1f}" y="{y + 11}">{value:g}</text>'
        )
    return "\n".join([*parts, "</svg>"]) + "\n"
