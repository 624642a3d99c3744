"""What objects look like in notebooks: escaped, whole, and of limited size."""

from __future__ import annotations

import contextlib
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import pytest

import loopwright
from loopwright import f64
from loopwright.kernels.catalogue import catalogue
from loopwright.passes.search.result import PathStep, Result
from loopwright.session.records import Description, Size
from loopwright.support.markup import MOST_ROWS, Markup, block, element, notebook, table


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@loopwright.kernel
def double(A: f64["N"]) -> None:  # noqa: N803, F821, UP037
    for i in range(len(A)):
        A[i] *= 2.0


def test_a_python_kernel_shows_its_text() -> None:
    text = double._repr_html_()  # pyright: ignore[reportPrivateUsage]
    assert "Kernel double" in text and "func.func @double" in text
    assert "pre" in Tags(text).seen


def test_a_large_program_is_cut() -> None:
    entry = catalogue()["polybench/deriche"]
    function = loopwright.load("polybench/deriche")["deriche"]
    sizes = entry.parameter_values("MINI")
    schedule = function.default_schedule(sizes, threads=1)
    for shown in (function, function.dependences, schedule):
        text = shown._repr_html_()  # pyright: ignore[reportPrivateUsage]
        Tags(text)
        assert len(text) < 20_000
    count = len(list(function.dependences))
    assert count > MOST_ROWS
    text = function.dependences._repr_html_()  # pyright: ignore[reportPrivateUsage]
    assert f"... {count - MOST_ROWS} more" in text


def test_a_result_shows_its_path() -> None:
    schedule = loopwright.load("polybench/atax")["atax"].schedule()
    path = (PathStep("as written", 1.0, None), PathStep("<b>", 2.0, 3.0))
    result = Result(schedule, 2.0, 3.0, None, path, 5, 5, 1, 0.1, "done")
    text = result._repr_html_()  # pyright: ignore[reportPrivateUsage]
    assert "3.00 times as fast" in text and "&lt;b&gt;" in text
    assert "b" not in Tags(text).seen


def test_answers_of_sessions_show_their_fields() -> None:
    with contextlib.closing(loopwright.Session()) as session:
        session.load("polybench/jacobi-2d", size="MINI", threads=2)
        refused = session.legal("jacobi_2d", "fuse{loops=S0.i,S1.i}")
        text = refused._repr_html_()  # pyright: ignore[reportPrivateUsage]
        tags = Tags(text)
        assert "Legality answer" in text and refused.problem is not None
        assert escape(refused.problem.message) in text
        assert all(repair.steps in text for repair in refused.repairs)
        assert tags.seen.count("table") > 3
        found = session.dependences("jacobi_2d")
        text = found._repr_html_()  # pyright: ignore[reportPrivateUsage]
        assert Tags(text).seen.count("tr") == 2 + len(found.dependences) + 1


def test_what_is_built_shows_files_and_regions(tmp_path: Path) -> None:
    library = loopwright.load("polybench/gemm")["gemm"].build(tmp_path / "gemm.o")
    text = library._repr_html_()  # pyright: ignore[reportPrivateUsage]
    assert "Library gemm.o" in text and "gemm.h" in text
    source = tmp_path / "two.c"
    source.write_text(
        "void f(int n, double *a) { for (int i = 0; i < n; i++) a[i] *= 2; }\n"
        "void g(int n, double *a) {\n"
        '  for (int i = 0; i < n; i++) { a[i] += 1; __asm__("<b>"); }\n'
        "}\n"
    )
    found = loopwright.drop_in(source, tmp_path / "out.c")
    assert len(repr(found)) < 80
    text = found._repr_html_()  # pyright: ignore[reportPrivateUsage]
    assert "replaced" in text and "<b>" not in text
    assert Tags(text).seen.count("tr") == 1 + len(found.replaced) + len(found.left_out)


def test_long_records_are_cut() -> None:
    sizes = tuple(Size(f"n{number}", number) for number in range(1000))
    described = Description("f", (), sizes, (), ("<b>",) * 1000, ())
    text = described._repr_html_()  # pyright: ignore[reportPrivateUsage]
    assert "b" not in Tags(text).seen
    assert len(text) < 10_000
    assert text.count(f"... {1000 - MOST_ROWS} more") == 2


def test_a_comparison_of_programs_shows_its_witness() -> None:
    first = loopwright.load("polybench/atax")["atax"]
    text = loopwright.verify(first, first)._repr_html_()  # pyright: ignore[reportPrivateUsage]
    assert "pre" in Tags(text).seen and "equal" in text


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (element("p", "a < b", Markup("<br>")), "<p>a &lt; b<br></p>"),
        (element("a", "x", href='"&', data_n=1.25), '<a href="&quot;&amp;" data-n="1.25">x</a>'),
        (element("input", hidden=True, value=None, class_="c"), '<input hidden class="c">'),
        (block("one\ntwo\nthree", 2), "<pre>one\ntwo\n... 1 more lines</pre>"),
        (block("abcdef", columns=3), "<pre>abc ...</pre>"),
    ],
)
def test_markup(markup: str, expected: str) -> None:
    assert markup == expected


def test_tables_and_titles_are_escaped() -> None:
    text = notebook("<x>", table([["a"], ["<y>"]]))
    assert "&lt;x&gt;" in text and "&lt;y&gt;" in text
