"""Section: the generated loops, beside the assembly of the hot ones."""

from __future__ import annotations

from ..lowering.c import emit_c
from ..lowering.c.names import function_name
from ..lowering.llvm import Options, translate
from ..passes.polyhedral.bounds import check_bounds
from ..runtime.jit import object_code as jit
from ..runtime.jit.generated_code import verified_loops
from ..support.markup import Markup, block, element, join, table
from .assembly import HotLoop, hot_loops
from .port_model import model_numbers
from .section import Section, missing, tabs
from .subject import Subject

MOST_LOOPS = 3
MOST_LINES = 400

TITLE = "Code"


def section(subject: Subject) -> Section:
    """Loops as C and as loop IR, hot assembly, and the model's numbers."""
    lead = (
        "What is generated for these sizes, the innermost loops of its assembly that compute most, "
        "and what the performance model expects of both."
    )
    if subject.context is None:
        return Section("code", TITLE, lead, missing(subject.needs_sizes))
    schedule = subject.schedule if subject.schedule.transformations else None
    check_bounds(subject.function.scop, subject.sizes)
    source = subject.function.source(schedule, fast_math=subject.fast_math)
    loops, _ = verified_loops(source, schedule, subject.sizes)
    plain, _ = verified_loops(source, schedule, subject.sizes, vectors=False)
    target = subject.schedule.target
    options = Options(num_threads=subject.threads, fast_math=subject.fast_math)
    assembly = jit.emit_assembly(
        str(translate(loops, target=target, options=options)), target=target
    )
    texts = {
        "as C": block(_function_text(subject, emit_c(plain, callees=False)), MOST_LINES),
        "loop IR": block(str(loops), MOST_LINES),
    }
    left = element("div", element("h3", "Loops"), tabs(texts, "loops"))
    right = element("div", element("h3", "Hot loops"), _hot(subject, assembly))
    columns = element("div", left, right, class_="columns")
    return Section(
        "code", TITLE, lead, join((columns, model_numbers(subject.schedule, subject.context)))
    )


def _function_text(subject: Subject, text: str) -> str:
    """C from the head of the function on: without headers and helpers."""
    lines = text.splitlines()
    head = f" {function_name(subject.function.name)}("
    starts = [n for n, line in enumerate(lines) if head in line and not line.startswith((" ", "#"))]
    # The first of two declares the function, for what stands before it.
    return "\n".join(lines[max(starts, default=0) :])


def _hot(subject: Subject, assembly: str) -> Markup:
    found = hot_loops(assembly, MOST_LOOPS)
    if not found:
        words = "No loop that computes was found in the assembly; this is its beginning."
        return join((missing(words), block(assembly, 100)))
    panels = {
        f"loop {number}": join((block("\n".join(loop.lines), MOST_LINES), _numbers(subject, loop)))
        for number, loop in enumerate(found, start=1)
    }
    return tabs(panels, "hot loops")


def _numbers(subject: Subject, loop: HotLoop) -> Markup:
    """What one iteration asks of the ports."""
    machine = subject.schedule.target
    bounds = loop.bounds(machine)
    counts = loop.kinds
    rows = [["of one iteration", "instructions", "cycles at least"]]
    names = {"arithmetic": "arithmetic", "loads": "load", "stores": "store"}
    for title, kind in names.items():
        rows.append([title, str(counts[kind]), f"{bounds[title]:.2f}"])
    rows.append(["others", str(counts["other"]), "-"])
    most = max(bounds.values())
    floating = loop.floating_point_operations
    operations = floating or loop.integer_operations
    words = f"{loop.depth + 1} loops deep. " if loop.depth else "In no other loop. "
    if operations and most:
        rate = operations / most
        kind, unit = ("floating-point", "GFLOP/s") if floating else ("integer", "Gop/s")
        words += (
            f"{operations} {kind} operations in at least {most:.2f} cycles: "
            f"{rate:.3g} per cycle, {rate * machine.hertz * 1e-9:.3g} {unit} on a core "
            f"at {machine.hertz * 1e-9:.3g} GHz."
        )
    return join((table(rows, numbers=True), element("p", words, class_="note")))
