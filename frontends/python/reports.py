"""What a kernel does: loops, schedule, arrays of its own, and what is in the way of threads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...passes.polyhedral.descriptions import describe_tree
from ...passes.polyhedral.isl_context import ISL_LOCK
from ...passes.polyhedral.schedule_tree import Loop, Tree
from ...passes.schedules.errors import IllegalTransformation
from ...passes.schedules.schedule import Schedule
from ...passes.transformations.parallel import Parallel
from ...runtime.choosing.schedule_names import DEFAULT
from ...runtime.jit.threads import default_threads
from ...runtime.program import Function


def explain(
    title: str,
    function: Function,
    values: tuple[object, ...],
    *,
    threads: int | None,
    fast_math: bool,
) -> str:
    """The loops as written, and what the default schedule makes of them for these arguments."""
    parts = [title, "\n  as written:", *_indented(describe_tree(function.scop, function.scop.tree))]
    local = [array for array in function.scop.arrays if array.argument is None and array.shape]
    if local:
        names = ", ".join(array.name for array in local)
        parts += [f"\n  arrays of its own: {names}"]
    with ISL_LOCK:
        original = Schedule.original(function.scop, reassociate=fast_math)
        reasons = list(_sequential(original, original.tree))
    if reasons:
        parts += ["\n  not parallel as written:", *_indented("\n".join(reasons))]
    sizes = function.checked_sizes(values)
    count = threads or default_threads()
    shown = [parameter.name for parameter in function.scop.parameters]
    spelled = ", ".join(f"{name}={sizes[name]}" for name in shown)
    chosen = function.choose_schedule(
        DEFAULT, _chosen(function, sizes), threads=count, fast_math=fast_math
    )
    parts += [f"\n  schedule for {spelled} on {count} threads:"]
    if chosen.transformations:
        parts += _indented(describe_tree(chosen.scop, chosen.tree))
        parts += ["\n  as pipeline:", *_indented(str(chosen))]
    else:
        parts += _indented("the loops as written")
    how = function.explain_default(_chosen(function, sizes), threads=count, fast_math=fast_math)
    parts += ["\n  how it was chosen:", *_indented(how)]
    return "\n".join(parts)


def _chosen(function: Function, sizes: Mapping[str, int]) -> dict[str, int]:
    known = {size.name for size in function.scop.sizes}
    return {name: value for name, value in sizes.items() if name in known}


def _sequential(schedule: Schedule, tree: Tree) -> Iterator[str]:
    """For each outermost loop that is not parallel, the dependence that forbids it."""
    if isinstance(tree, Loop):
        try:
            schedule.apply(Parallel((schedule.short_name(tree),)))
        except IllegalTransformation as error:
            yield f"{schedule.short_name(tree)}: {error.violation.describe()}"
            yield from _sequential(schedule, tree.body)
        return
    for child in getattr(tree, "children", ()):
        yield from _sequential(schedule, child)


def _indented(text: str) -> list[str]:
    return [f"    {line}" for line in text.splitlines()]
