"""Section: the schedule tree, as nested boxes."""

from __future__ import annotations

from ..passes.polyhedral.descriptions import describe_loop, describe_statement
from ..passes.polyhedral.schedule_tree import Leaf, Loop, Sequence, Tree
from ..passes.polyhedral.scop import Scop
from ..passes.syntax.compact_notation import print_notation
from ..passes.syntax.schedule_ops import to_sequence
from ..runtime.choosing.schedule_names import DEFAULT
from ..support.markup import Markup, block, element, join
from .drawing import legend
from .section import Section, tabs
from .subject import Subject


def section(subject: Subject) -> Section:
    """The loops of the schedule, and its texts to copy."""
    schedule = subject.schedule
    lead = (
        "The loops in the order in which they run; loops inside of others are inside their boxes."
    )
    boxes = element("div", _node(schedule.scop, schedule.tree), class_="tree")
    colours = legend(
        (element("span", "", class_=f"key {name}"), words)
        for name, words in (
            ("parallel", "parallel"),
            ("vector", "vector"),
            ("unroll", "unrolled"),
            ("point", "inside a tile"),
            ("statement", "statement"),
        )
    )
    if not schedule.transformations:
        return Section("tree", "Schedule tree", lead, join((boxes, colours, _choice(subject))))
    texts = {
        "pipeline": block(str(schedule), columns=4000, class_="wrapped"),
        "compact notation": block(print_notation(schedule) or "", columns=4000, class_="wrapped"),
        "operations": block(str(to_sequence(schedule))),
    }
    heading = element("h3", "As text")
    parts = (boxes, colours, heading, tabs(texts, "text"), _choice(subject))
    return Section("tree", "Schedule tree", lead, join(parts))


def _choice(subject: Subject) -> Markup:
    """How the default schedule was decided; nothing for one that was given."""
    if subject.chosen != DEFAULT or subject.unknown_sizes:
        return Markup()
    text = subject.function.explain_default(
        subject.sizes, threads=subject.threads, fast_math=subject.fast_math
    )
    return element("details", element("summary", "How it was chosen"), block(text))


def _node(scop: Scop, tree: Tree) -> Markup:
    match tree:
        case Leaf(name):
            return element("div", describe_statement(scop, name), class_="statement")
        case Loop(body=body):
            kinds = {
                "parallel": tree.parallel,
                "vector": tree.vector is not None,
                "unroll": tree.unroll is not None,
                "point": tree.within is not None,
            }
            style = " ".join(("loop", *(name for name, is_set in kinds.items() if is_set)))
            head = element("div", describe_loop(scop, tree), class_="head")
            return element("div", head, _node(scop, body), class_=style)
        case Sequence(children):
            return join(_node(scop, child) for child in children)
