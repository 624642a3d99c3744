"""Pipelines parse into transformations, print as they are written, and tell what is wrong."""

from __future__ import annotations

import pytest

from loopwright.dialects.errors import SourceError
from loopwright.passes.syntax.pipeline import parse_pipeline
from loopwright.passes.transformations.interchange import Interchange
from loopwright.passes.transformations.parallel import Parallel
from loopwright.passes.transformations.tile import Tile
from loopwright.passes.transformations.unroll import Unroll
from loopwright.passes.transformations.vectorize import Vectorize


def test_reads_every_kind_of_option() -> None:
    text = (
        'tile{loops=i,S1.j sizes=32,16 names=a,b}, interchange{loops="k",i},parallel{loops=a}\n'
        ",vectorize{ loops=S1.j },unroll{loops=k factor=4}"
    )
    assert parse_pipeline(text) == (
        Tile(("i", "S1.j"), (32, 16), ("a", "b")),
        Interchange(("k", "i")),
        Parallel(("a",)),
        Vectorize(("S1.j",)),
        Unroll(("k",), 4),
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tile{loops=i,j sizes=32,16}",
        "tile{loops=i,S1.j sizes=32,16 names=a,b},unroll{loops=j}",
        "vectorize{loops=j width=8},unroll{loops=k factor=4},interchange{loops=k,j,i}",
    ],
)
def test_prints_what_it_reads(text: str) -> None:
    assert ",".join(map(str, parse_pipeline(text))) == text


ERRORS = [
    ("tile", 1, "tile needs the option loops"),
    ("tile{loops=i}", 1, "tile needs the option sizes"),
    ("tiel{loops=i sizes=4}", 1, "unknown transformation: 'tiel'"),
    ("tile{loop=i sizes=4}", 6, "unknown option of tile: 'loop'"),
    ("unroll{loops=i factor=x}", 23, "expected an integer, not 'x'"),
    ("tile{loops=i sizes=9999999999999999999}", 20, "an integer has at most 18 digits here"),
    ("tile{loops=i sizes=4 sizes=4}", 22, "option sizes is given twice"),
    ("unroll{loops=i factor=1,2}", 16, "option factor takes one value, not 2"),
    ("unroll{loops=i factor=}", 23, "expected a value, not '}'"),
    ("parallel{loops=i", 17, "expected the name of an option or '}', not the end"),
    ("parallel{loops=i} unroll{loops=i}", 19, "expected ',' between passes, not 'unroll'"),
    ("parallel{loops=i},{}", 19, "expected the name of a pass, not '{'"),
    ("parallel{loops=i;j}", 17, "expected the name of an option or '}', not ';'"),
]


@pytest.mark.parametrize(("text", "column", "message"), ERRORS)
def test_errors_point_at_the_place(text: str, column: int, message: str) -> None:
    with pytest.raises(SourceError) as caught:
        parse_pipeline(text)
    assert caught.value.message == message
    assert caught.value.location is not None
    assert (caught.value.location.line, caught.value.location.column) == (1, column)


def test_suggests_what_was_meant() -> None:
    with pytest.raises(SourceError) as caught:
        parse_pipeline("parallel{loops=i},tiel{loops=i sizes=4}")
    assert str(caught.value) == (
        "<pipeline>:1:19: error: unknown transformation: 'tiel'\n"
        "parallel{loops=i},tiel{loops=i sizes=4}\n"
        "                  ^\n"
        "hint: did you mean tile?"
    )
