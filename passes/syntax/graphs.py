"""Schedule trees and dependences as Graphviz graphs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..polyhedral import schedule_tree
from ..polyhedral.dependences import Dependence, DependenceKind
from ..polyhedral.descriptions import describe_statement, node_label
from ..polyhedral.distance import distances
from ..polyhedral.schedule_tree import Leaf, Loop, Tree
from ..polyhedral.scop import Scop
from ..schedules.schedule import Schedule

# Those of Okabe and Ito, which people with colour-vision deficiencies can tell apart.
_COLOURS = {
    DependenceKind.FLOW: "#0072B2",
    DependenceKind.ANTI: "#D55E00",
    DependenceKind.OUTPUT: "#CC79A7",
    DependenceKind.INPUT: "#718096",
}

_STYLES = {
    DependenceKind.FLOW: "solid",
    DependenceKind.ANTI: "dashed",
    DependenceKind.OUTPUT: "dotted",
    DependenceKind.INPUT: "solid",
}

_HEAD = (
    '  node [fontname="Helvetica", fontsize=11, shape=box, style="rounded,filled", '
    'fillcolor="#f7fafc", color="#4a5568"];',
    '  edge [fontname="Helvetica", fontsize=10, color="#4a5568"];',
)


def tree_graph(schedules: Mapping[str, Schedule]) -> str:
    """The trees of schedules side by side, each in a box with its title, as DOT."""
    lines = ["digraph schedule {", *_HEAD]
    for number, (title, schedule) in enumerate(schedules.items()):
        lines += [f"  subgraph cluster_{number} {{", f"    label={_quote(title)};"]
        lines += _nodes(schedule.scop, schedule.tree, f"n{number}")
        lines.append("  }")
    return "\n".join((*lines, "}"))


def _nodes(scop: Scop, tree: Tree, name: str) -> Iterator[str]:
    colour = _fill(tree)
    fill = f", fillcolor={_quote(colour)}" if colour else ""
    yield f"    {name} [label={_quote(node_label(scop, tree))}{fill}];"
    children = tree.children if isinstance(tree, schedule_tree.Sequence) else ()
    for number, child in enumerate((tree.body,) if isinstance(tree, Loop) else children):
        yield from _nodes(scop, child, f"{name}_{number}")
        yield f"    {name} -> {name}_{number};"


def _fill(tree: Tree) -> str | None:
    match tree:
        case Leaf():
            return "#fefcbf"
        case Loop(parallel=True):
            return "#c6f6d5"
        case Loop(vector=int()):
            return "#bee3f8"
        case _:
            return None


def dependence_graph(scop: Scop, dependences: Iterable[Dependence]) -> str:
    """Statements and the dependences between them, as DOT.

    An edge has the kind, the array and the distances along the loops that both share. Edges from a
    statement to itself are one, as their labels would lie on top of each other.
    """
    lines = [f"digraph {_quote(scop.name)} {{", *_HEAD]
    lines += [
        f"  {_quote(s.name)} [label={_quote(describe_statement(scop, s.name))}];"
        for s in scop.statements
    ]
    own: dict[str, list[Dependence]] = {}
    for dependence in dependences:
        if dependence.source == dependence.target:
            own.setdefault(dependence.source, []).append(dependence)
        else:
            lines.append(_edge(scop, [dependence]))
    lines += [_edge(scop, group) for group in own.values()]
    return "\n".join((*lines, "}"))


def _edge(scop: Scop, group: Sequence[Dependence]) -> str:
    """One edge for dependences between the same statements."""
    label = "\n".join(_label(scop, dependence) for dependence in group)
    colours = ":".join(dict.fromkeys(_COLOURS[dependence.kind] for dependence in group))
    styles = dict.fromkeys(_STYLES[dependence.kind] for dependence in group)
    style = next(iter(styles)) if len(styles) == 1 else "solid"
    if all(dependence.reduction for dependence in group):
        style = f"{style},bold"
    return (
        f"  {_quote(group[0].source)} -> {_quote(group[0].target)} "
        f"[label={_quote(label)}, color={_quote(colours)}, style={_quote(style)}];"
    )


def _label(scop: Scop, dependence: Dependence) -> str:
    steps = distances(scop, dependence.source, dependence.target, dependence.relation)
    loops = scop.statement(dependence.source).loops
    distance = ", ".join(f"{name}: {step}" for name, step in zip(loops, steps, strict=False))
    return f"{dependence.kind.value} on {dependence.array} ({distance})"


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
