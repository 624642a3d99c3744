"""Whatever the text, the outcome is a module or a SourceError with a place in the text."""

from __future__ import annotations

import re

import pytest
from dialects.samples import ALL
from hypothesis import given, settings
from hypothesis import strategies as st

from loopwright.dialects.errors import SourceError
from loopwright.dialects.parse import parse_module

_TOKEN = re.compile(r'"[^"\n]*"|[%#@!^]?[A-Za-z_0-9.$-]+|\s+|.', re.DOTALL)
_TEXTS = [_TOKEN.findall(text) for text in ALL]
_WORDS = sorted({word for text in _TEXTS for word in text if word.strip()})
_FOREIGN = [
    *("-1", "0", "99999999999999999999", "1.0e999", "0x7F", "é", "\x00", '"', "\\", "//", "-"),
    *("i128", "f16", "none", "tensor<4xf32>", "memref<*xf32>", "vector<8xf32>", "!llvm.ptr"),
    *("%0#5", "#undefined", "loc", "^bb0", "^bb0:", "dense<1>", "affine_map<() -> ()>", "{-#"),
]


@st.composite
def mutated_texts(draw: st.DrawFn) -> str:
    """A program with a few words deleted, doubled, swapped, replaced or cut off."""
    words = list(draw(st.sampled_from(_TEXTS)))
    for _ in range(draw(st.integers(1, 3))):
        position = draw(st.integers(0, len(words) - 1))
        other = draw(st.integers(0, len(words) - 1))
        match draw(st.sampled_from(["delete", "double", "swap", "known", "foreign", "cut"])):
            case "delete":
                del words[position : position + draw(st.integers(1, 8))]
            case "double":
                words.insert(position, words[other])
            case "swap":
                words[position], words[other] = words[other], words[position]
            case "known":
                words[position] = draw(st.sampled_from(_WORDS))
            case "foreign":
                words[position] = draw(st.sampled_from(_FOREIGN))
            case _:
                del words[position:]
        if not words:
            break
    return "".join(words)


def check(text: str) -> None:
    """Parses; what parses is printed and parses again to the same."""
    try:
        module = parse_module(text)
    except SourceError as error:
        assert error.location is not None
        assert str(error).startswith(f"{error.location}: error: ")
        assert "\n" not in error.message
        return
    printed = str(module)
    again = parse_module(printed)
    assert module.is_structurally_equivalent(again)
    assert str(again) == printed


@given(mutated_texts())
@settings(max_examples=150, deadline=None)
def test_mutated(text: str) -> None:
    check(text)


@given(st.text(max_size=60))
@settings(max_examples=50, deadline=None)
def test_random(text: str) -> None:
    check(text)


@given(st.lists(st.sampled_from(_WORDS + _FOREIGN), max_size=20).map(" ".join))
@settings(max_examples=50, deadline=None)
def test_random_words(text: str) -> None:
    check(text)


@pytest.mark.campaign
@given(st.one_of(mutated_texts(), st.text()))
@settings(max_examples=5000, deadline=None)
def test_campaign(text: str) -> None:
    check(text)
