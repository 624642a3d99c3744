"""Answers of bounded size: pages that fit together, texts that are cut, and those that are not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from loopwright.serving.pages import LARGEST, MOST_PER_PAGE, Page, paged
from loopwright.session.problems import CallError


def size(answer: dict[str, Any]) -> int:
    return len(json.dumps(answer, ensure_ascii=False).encode())


@pytest.mark.parametrize("length", [1, 150, 900, 5000])
@pytest.mark.parametrize("character", ["x", "é", "\n"])
def test_pages_are_small_and_make_up_the_whole(length: int, character: str) -> None:
    items = [{"number": number, "text": character * length} for number in range(230)]
    first = paged({"items": items}, "items", Page(1, MOST_PER_PAGE))
    found: list[int] = []
    for number in range(1, first["pages"] + 1):
        page = paged({"items": items}, "items", Page(number, MOST_PER_PAGE))
        assert size(page) <= LARGEST
        assert (page["page"], page["pages"], page["total"]) == (number, first["pages"], 230)
        found += [item["number"] for item in page["items"]]
    assert found == list(range(230))


def test_a_page_behind_the_last_is_empty() -> None:
    answer = paged({"items": [1, 2, 3]}, "items", Page(9, 2))
    assert answer == {"items": [], "page": 9, "pages": 2, "total": 3}


def test_texts_are_cut_and_say_so() -> None:
    answer = paged({"relation": "x" * 30_000, "loops": ["y" * 2000]}, None, Page())
    assert size(answer) <= LARGEST
    assert answer["relation"].endswith(" more characters)")
    assert answer["loops"][0].startswith("yyy")


def test_a_schedule_is_whole_or_refused() -> None:
    whole = "tile{loops=i sizes=32}," * 170
    assert paged({"schedule": whole}, None, Page())["schedule"] == whole
    with pytest.raises(CallError) as raised:
        paged({"schedule": whole * 10}, None, Page())
    assert raised.value.problem.code == "too_large"
