"""Pages are well-formed, whole in one file, and escape what is from the program."""

from __future__ import annotations

import json
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest
from support.reports import NAMES

from loopwright.support.markup import VOID

MOST_BYTES = 3_000_000

SECTIONS = [
    "source",
    "spaces",
    "tree",
    "steps",
    "code",
    "times",
    "roofline",
    "search",
    "certificate",
]


class Structure(HTMLParser):
    """Elements of a page: their nesting, identifiers and what they load."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: Counter[str] = Counter()
        self.identifiers: list[str] = []
        self.links: list[str] = []
        self.loads: list[str] = []
        self.scripts: list[tuple[str | None, str]] = []
        self.text: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        assert len(named) == len(attrs), f"{tag} has an attribute twice"
        self.tags[tag] += 1
        self.identifiers += [named["id"] or ""] if "id" in named else []
        self.links += [named["href"] or ""] if "href" in named else []
        self.loads += [named["src"] or ""] if "src" in named else []
        assert not any(name.startswith("on") for name in named), (tag, named)
        if tag == "script":
            self.scripts.append((named.get("type"), ""))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            kind, text = self.scripts[-1]
            self.scripts[-1] = kind, text + data
        else:
            self.text.append(data)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_well_formed_and_whole(name: str, reports: dict[str, Path]) -> None:
    page = reports[name].read_text(encoding="utf-8")
    found = Structure(page)
    assert found.open == []
    assert len(page.encode()) < MOST_BYTES
    own = [each for each in found.identifiers if not each.startswith("head-")]
    assert len(own) == len(set(own))
    assert found.loads == []
    assert all(link.removeprefix("#") in own for link in found.links if link.startswith("#"))
    assert all(link.startswith("#") for link in found.links)
    assert not re.search(r"@import|url\((?!#)", page)
    code = [text for kind, text in found.scripts if kind is None]
    assert len(code) == 1
    for kind, text in found.scripts:
        assert kind in (None, "application/json")
        if kind is not None:
            json.loads(text)


@pytest.mark.parametrize("name", NAMES)
def test_every_section_is_there(name: str, reports: dict[str, Path]) -> None:
    page = reports[name].read_text(encoding="utf-8")
    wanted = ["illegal", *SECTIONS] if name == "illegal" else SECTIONS
    assert re.findall(r'<section id="(\w+)"', page) == wanted


def test_what_is_from_a_program_is_text(reports: dict[str, Path]) -> None:
    found = Structure(reports["hostile"].read_text(encoding="utf-8"))
    assert found.tags["img"] == found.tags["b"] == 0
    text = "".join(found.text)
    assert '</pre><b> & "quotes"' in text
    assert "<b>.mlir" in text


def test_what_is_not_known_is_one_line(reports: dict[str, Path]) -> None:
    page = reports["hostile"].read_text(encoding="utf-8")
    lines = re.findall(r'<p class="missing">([^<]*)</p>', page)
    assert lines == ["This needs all sizes: add --set n=..."] * 4


def test_an_illegal_step_is_explained_and_drawn(reports: dict[str, Path]) -> None:
    page = reports["illegal"].read_text(encoding="utf-8")
    text = "".join(Structure(page).text)
    assert "S1[t=0, i=1, j=1] must run before S0[t=1, i=1, j=1]" in text
    assert "parallel{loops=S0.i} is legal" in text
    drawing = page[page.index('class="witness"') :]
    drawing = drawing[: drawing.index("</svg>")]
    assert drawing.count('class="arrow violated"') == 1
    # Four values of t and of i beside the witness: those of both statements.
    assert drawing.count('class="dot first"') == drawing.count('class="dot second"') == 5 * 4


def test_steps_show_what_they_change(reports: dict[str, Path]) -> None:
    page = reports["gemm"].read_text(encoding="utf-8")
    assert page.count('<details class="step">') == 4
    last = page[page.rindex('<details class="step">') :]
    assert '<span class="removed">for it = floor(i / 4)\n' in last
    assert '<span class="added">for it = floor(i / 4), parallel\n' in last


def test_the_certificate_is_checked_and_saved(reports: dict[str, Path]) -> None:
    page = reports["gemm"].read_text(encoding="utf-8")
    assert "loopwright-check: accepted" in page
    scripts = Structure(page).scripts
    saved = json.loads(scripts[-2][1])
    assert saved["format"] == "loopwright certificate" and saved["function"] == "gemm"
