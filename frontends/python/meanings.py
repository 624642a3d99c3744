"""Pieces of syntax trees: names that mean objects, and copies that keep these."""

from __future__ import annotations

import ast
import copy
from typing import TypeVar

Node = TypeVar("Node", bound=ast.AST)


def meant(text: str, meaning: object) -> ast.Name:
    """A name that means an object, as messages call it."""
    name = ast.Name(text, ast.Load())
    name.meaning = meaning  # pyright: ignore[reportAttributeAccessIssue]
    return name


def copied(node: Node) -> Node:
    """A copy of a piece; what its names mean, modules and functions, is not copied."""
    meanings = [each.__dict__["meaning"] for each in ast.walk(node) if hasattr(each, "meaning")]
    return copy.deepcopy(node, {id(each): each for each in meanings})


def placed(new: Node, old: ast.AST) -> Node:
    """A new piece, at the place of another one."""
    for each in ast.walk(new):
        if not hasattr(each, "lineno"):
            ast.copy_location(each, old)
    return new
