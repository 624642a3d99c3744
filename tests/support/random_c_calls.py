"""Random C: calls of functions with a result and loops, and loops that rotate arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .c_file_forms import FLOATS, Loop, Value

if TYPE_CHECKING:
    from .random_c_files import Writer


def value_call(writer: Writer, depth: int) -> str:
    """A call of a function with a loop that returns a number."""
    flat = [each for each in writer.arrays if each.style == "flat"]
    if not flat:
        return writer.assign(depth)
    array = writer.random.choice(flat)
    kind = "double" if array.type in FLOATS else "int"
    form = writer.random.randrange(3)
    name = f"value{form}_{array.type.replace(' ', '_')}"
    bodies = (
        f"    {kind} r = 0;\n    for (int q = 0; q < k; q++)\n        r += d[q];\n",
        f"    if (k < 2) return d[0];\n    {kind} r = d[0];\n"
        "    for (int q = 1; q < k; q++) {\n        if (d[q] < r) r = d[q];\n    }\n",
        f"    {kind} w[3] = {{2, 1}}, r = 1;\n    while (k > 0) {{ r += w[k % 3]; k--; }}\n"
        "    if (d[0] > 1) return d[1] + r;\n",
    )
    writer.helpers[name] = (
        f"static {kind} {name}(int k, const {array.type} *d) {{\n{bodies[form]}    return r;\n}}\n"
    )
    call = f"{name}({writer.random.choice('nm')}, {array.name} + {writer.index(writer.loops[:1])})"
    pad, (target, type) = "    " * depth, writer.place()
    fitted = writer.fitted(type, Value(call, kind == "int"))
    return writer.random.choice(
        (
            f"{pad}{target} = {fitted};\n",
            f"{pad}if ({call} > 3) {target} = {writer.fitted(type, writer.expression(1))};\n",
            f"{pad}s += {writer.fitted(writer.sums['s'], Value(call, kind == 'int'))};\n",
        )
    )


def rotation(writer: Writer, depth: int) -> str:
    """A loop that swaps two arrays, or rotates three."""
    flat = [each for each in writer.arrays if each.style == "flat" and not each.is_const]
    same = [each for each in flat if each.type == flat[0].type] if flat else []
    if len(same) < 2:
        return writer.loop(depth)
    names = [each.name for each in same]
    pad, bound, i = "    " * depth, writer.random.choice("nm"), writer.name("i")
    step = writer.random.choice(("++", " += 2"))
    writer.loops.append(Loop(i, bound))
    value = writer.fitted(same[0].type, writer.expression(2))
    index = writer.index(writer.loops)
    writer.loops.pop()
    copies = "".join(
        f"{one} = {other}; " for one, other in zip(names, [*names[1:], "h"], strict=True)
    )
    turn = f"{same[0].type} *h = {names[0]}; {copies}"
    body = f"for (int {i} = 0; {i} < {bound}; {i}++) {names[-1]}[{index}] = {value};"
    parts = [body, turn if writer.random.random() < 0.5 else f"{{ {turn}}}"]
    if writer.random.random() < 0.3:
        parts.reverse()
    count, rounds = writer.name("r"), writer.random.choice(("n", "m", "3"))
    head = f"for (int {count} = 0; {count} < {rounds}; {count}{step})"
    return f"{pad}{head} {{\n{pad}    {parts[0]}\n{pad}    {parts[1]}\n{pad}}}\n"
