"""Reports in a browser: no complaints, and everything can be reached by mouse and keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.browser import Page, find_browser, open_browser
from support.reports import NAMES

from loopwright.cli import main

BROWSER = find_browser()

pytestmark = pytest.mark.skipif(BROWSER is None, reason="needs Chromium")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    assert BROWSER is not None
    with open_browser(BROWSER, tmp_path_factory.mktemp("profile")) as page:
        page.resize(1280, 900)
        yield page


def shown(page: Page) -> list[str]:
    """The titles of the panels that are seen, outer ones first."""
    return page.run(
        "[...document.querySelectorAll('#spaces .panel')]"
        ".filter(each => each.offsetParent).map(each => each.dataset.label)"
    )


@pytest.mark.parametrize("name", NAMES)
def test_every_tab_is_opened_without_a_complaint(
    name: str, page: Page, reports: dict[str, Path]
) -> None:
    page.open(reports[name])
    tabs = page.run("document.querySelectorAll('[role=tab]').length")
    opened = page.run(
        "[...document.querySelectorAll('[role=tab]')].filter(tab => {"
        " tab.click();"
        " return !document.getElementById(tab.getAttribute('aria-controls')).hidden"
        "}).length"
    )
    assert opened == tabs > 0
    page.run("document.querySelectorAll('summary, button').forEach(each => each.click())")
    assert page.complaints == []


FAULTY_LABELS = """
[...document.querySelectorAll('svg')].flatMap(svg => {
  const frame = svg.getBoundingClientRect();
  const labels = [...svg.querySelectorAll('text')].filter(e => e.textContent.trim());
  const boxes = labels.map(each => each.getBoundingClientRect());
  const isCut = a => a.left < frame.left - 1 || a.right > frame.right + 1
    || a.top < frame.top - 1 || a.bottom > frame.bottom + 1;
  const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2;
  return labels.flatMap((label, i) => [
    ...(isCut(boxes[i]) ? [`cut: ${label.textContent}`] : []),
    ...labels.filter((_, j) => j > i && meet(boxes[i], boxes[j]))
      .map(other => `${label.textContent} meets ${other.textContent}`)]);
})
"""


@pytest.mark.parametrize("name", NAMES)
def test_labels_of_drawings_are_whole_and_apart(
    name: str, page: Page, reports: dict[str, Path]
) -> None:
    page.open(reports[name])
    # Drawings in closed panels have no size.
    page.run(
        "document.querySelectorAll('.panel').forEach(each => { each.hidden = false });"
        "document.querySelectorAll('details').forEach(each => { each.open = true })"
    )
    assert page.run("document.querySelectorAll('svg text').length") > 5
    assert page.run(FAULTY_LABELS) == []
    page.run("document.querySelector('svg text').textContent = 'x'.repeat(500)")
    assert page.run(FAULTY_LABELS)


@pytest.mark.parametrize("width", [1280, 400])
def test_no_text_leaves_the_window(width: int, page: Page, reports: dict[str, Path]) -> None:
    page.resize(width, 800)
    page.open(reports["gemm"])
    assert page.run("document.documentElement.scrollWidth") <= width
    page.resize(1280, 900)


def test_the_instance_under_the_pointer(page: Page, reports: dict[str, Path]) -> None:
    page.open(reports["gemm"])
    assert shown(page)[:2] == ["S1: i, k", "tiles"]
    box = page.run(
        "(() => { const svg = document.querySelector('svg.space');"
        " svg.scrollIntoView({behavior: 'instant', block: 'center'});"
        " const box = svg.getBoundingClientRect();"
        " const data = JSON.parse(svg.closest('figure').querySelector('script').textContent);"
        " return [box.x + data.left + 9.5 * data.cell, box.y + data.top + 5.5 * data.cell] })()"
    )
    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=box[0], y=box[1])
    text = page.run("document.querySelector('.readout').textContent")
    held = page.run("JSON.parse(document.querySelector('figure.plane script').textContent).held.j")
    # After four rows of 30 and a tile of 4 x 5, the fifth of the second row of its tile.
    assert text == (
        f"S1[i=5, k=9, j={held}] runs {4 * 30 + 4 * 5 + 5 + 5}th of the 600 shown; "
        f"in it=1, jt={held // 8}, kt=1; reads C[5, {held}], reads A[5, 9], "
        f"reads B[9, {held}], writes C[5, {held}]"
    )


def test_arrow_keys_walk_through_tabs_and_instances(page: Page, reports: dict[str, Path]) -> None:
    page.open(reports["gemm"])
    page.run("document.querySelector('#spaces [role=tab]').focus()")
    page.press("ArrowRight")
    assert shown(page)[0] == "S1: i, j"
    seen = "#spaces > .tabs > .panel:not([hidden])"
    page.run(f"document.querySelector('{seen} .panel:not([hidden]) svg.space').focus()")
    readout = f"document.querySelector('{seen} .readout').textContent"
    assert "[i=0, k=" in page.run(readout)
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowLeft"):
        page.press(key)
    text = page.run(readout)
    assert "[i=1, k=" in text and "j=1]" in text


def test_a_row_and_its_arrows_are_lit_together(page: Page, reports: dict[str, Path]) -> None:
    page.open(reports["illegal"])
    page.run("document.querySelectorAll('tr[data-dependence]')[1].focus()")
    kinds = page.run("[...document.querySelectorAll('.arc.lit')].map(e => e.classList[1])")
    assert kinds == ["anti"] * 5
    page.run("document.activeElement.blur()")
    assert page.run("document.querySelectorAll('.lit').length") == 0


def test_light_and_dark(page: Page, reports: dict[str, Path]) -> None:
    paper = "getComputedStyle(document.body).backgroundColor"
    seen: list[str] = []
    for scheme in ("light", "dark"):
        page.resize(1280, 900, scheme)
        page.open(reports["field"])
        seen.append(page.run(paper))
        page.run("document.querySelector('.theme').click()")
        seen.append(page.run(paper))
    page.resize(1280, 900)
    assert seen[0] == seen[3] != seen[1] == seen[2]


def test_paper_is_white_and_has_every_step(page: Page, reports: dict[str, Path]) -> None:
    page.open(reports["gemm"])
    page.run("document.documentElement.dataset.theme = 'dark'")
    dark = {"name": "prefers-color-scheme", "value": "dark"}
    page.call("Emulation.setEmulatedMedia", media="print", features=[dark])
    page.run("dispatchEvent(new Event('beforeprint'))")
    colour = page.run("getComputedStyle(document.body).backgroundColor")
    hidden = page.run("getComputedStyle(document.querySelector('nav')).display")
    page.call("Emulation.setEmulatedMedia", media="", features=[])
    assert (colour, hidden) == ("rgb(255, 255, 255)", "none")
    assert page.run("[...document.querySelectorAll('details')].every(each => each.open)")


def test_drawings_alone_have_the_font_of_reports(page: Page, tmp_path: Path) -> None:
    file = tmp_path / "alone.svg"
    assert main(["deps", "polybench/gemm", "--plot", str(file)]) == 0
    page.open(file)
    fonts = page.run(
        "[...document.querySelectorAll('text')].map(each => getComputedStyle(each).fontFamily)"
    )
    assert len(fonts) > 20 and {font.split(",")[0] for font in fonts} == {
        '"DejaVu Sans"',
        '"DejaVu Sans Mono"',
    }
    assert "steps of a reduction" in file.read_text()
