"""What random Python functions are made of: statements over vectors and matrices, by kind."""

from __future__ import annotations

FIRST_WITH_COMPLEX = 900
"""Functions of smaller numbers are as they were when they were counted."""

FIRST_WITH_IDIOMS = 9000
"""As above."""

IDIOMS: tuple[tuple[str, ...], ...] = (
    ("for v in {x}:", "    {x}[0] -= v"),
    ("for p, (v, w) in enumerate(zip({x}, {x}[::-1])):", "    {x}[p] = v - w + p"),
    ("for p, v in enumerate({x}, 1):", "    {x}[p - 1] = v - p"),
    ("for dy, dx in ((0, 1), (1, 0), (2, 2)):", "    {M}[dy, dx] -= {M}[dx, dy]"),
    ("for q, c in enumerate(WEIGHTS):", "    {M}[q, 1] += c * {M}[1, q]"),
    ("for row in {M}:", "    row -= {M}[0, 1]"),
    ("r = {M} * 1", "r = r - {N}", "r = r[::-1] + 1", "{M}[:, :] = r"),
    (
        "r = {x} * 1",
        "for p in range(3):",
        "    r = r - {x}[::-1]",
        "    s = r",
        "    {x}[0] -= s[1]",
    ),
    ("def g(u, w=2):", "    z = u - 1", "    return z - w", "{M}[:, :] = g({M}, {N})"),
    ("b = {x}[1]", "h = lambda u: u - b", "{x}[0] = h({x}[2])", "{x}[1] = h({x}[3] - 1)"),
    ("{x}[0] = helper({x}[1], {x}[2])", "{M}[0, 0] = helper({M}[1, 0], {x}[0]) + 1"),
    ("{x} -= np.cumsum({x})",),
    ("{x}[1:] -= np.diff({x})",),
    ("{x} += np.arange(len({x})) - np.arange(2, 2 + len({x}))",),
    ("{M}[0] = np.concatenate(({M}[1, :2], {M}[2, 2:]))",),
    ("if {x}[0]:", "    {x}[1] -= 1"),
)
"""What Python programs are written with: statements over a vector, and matrices of one shape."""

ORDERED: tuple[tuple[str, ...], ...] = (
    ("{x}[0] = np.argmax({x}) - np.argmin({x})",),
    ("{x} += np.maximum.accumulate({x})",),
    ("{x}[1] -= np.ptp({x}) + np.count_nonzero({x} > 0)",),
    ("{x} += ({x} > 1) * {x}", "{x}[0] += {x}[1] > {x}[2]"),
    ("if np.any({x} > 2) and not np.all({x} < 1):", "    {x}[3] = 1"),
)
"""The same for numbers that have an order."""

FIRST_WITH_MASKS = 20_500
"""As above."""

MASKS: tuple[tuple[str, ...], ...] = (
    ("{x}[{x} > 1] -= {x}[0]",),
    ("b = {M} > {N}", "{M}[b] = {N}[b] - 1", "{N}[~b] += 1", "{x}[0] = b.sum()"),
    ("b = ({x} < 0) | ({x} == 2)", "{x}[b ^ ({x} > 1)] = 3", "{x} += b * {x} - b"),
    ("b = np.zeros(len({x}), dtype=bool)", "b[1:] = {x}[1:] > {x}[:-1]", "{x}[b & ({x} < 2)] = 1"),
    ("t = {x}[0] > 1", "for v in {x}:", "    t = t or v > 2", "{x}[1] -= t"),
    ("for p in reversed(range(len({x}) - 1)):", "    {x}[p] -= {x}[p + 1]"),
    ("for p, v in enumerate({x}):", "    if v > 2:", "        break", "    {x}[p] = v - p"),
    (
        "def g(u):",
        "    for p in range(3):",
        "        if u[p] > 1:",
        "            return p",
        "    return -1",
        "{x}[0] = g({x}) - 1",
    ),
    ("{x}[0] = {x}[1] or {x}[2]", "{x}[1] = ({x}[3] and {x}[0]) - 1"),
)
"""The same with masks, truth values, and functions that return early."""

FIRST_WITH_NEW_ARRAYS = 70_000
"""As above."""

NEW_ARRAYS: tuple[tuple[str, ...], ...] = (
    ("{M} -= np.pad({N}[1:-1, 1:-1], 1)",),
    ("{M} += np.pad({N}[:-2, 1:], ((1, 1), (1, 0)), mode='edge')",),
    ("{M} -= np.pad({N}[1:-1, 1:-1], 1, 'reflect')", "{x} += np.pad({x}[1:-1], 1, 'wrap')"),
    ("r = np.stack(({x}, {x}[::-1]), axis=1)", "{x} -= r[:, 0] - 2 * r[:, 1]"),
    ("r = np.vstack(({M}, {N}[:2]))", "{M} += r[2:]"),
    ("r = np.hstack(({N}, {M}[:, :1]))", "{M}[:, :] = r[:, 1:]"),
    ("r = np.diag({x})", "{x} -= r[0] + np.diag(r)", "{x}[1:] += np.diag(r[1:, :-1], 0)"),
    ("r = np.eye(len({x}), len({x}), 1, dtype=np.int64)", "{x} += r[0]"),
    ("r = np.repeat({x}, 2)", "{x} += r[::2] - r[1::2] + r[0]"),
    ("r = np.tile({x}, 2)", "{x} -= r[1 : len({x}) + 1]"),
    ("np.add({x}, {x}[::-1], out={x})", "np.subtract({M}, {N}[::-1], out={M})"),
    ("{M} -= np.cumsum({M}, axis=0) + np.roll({N}, 1, axis=1)",),
)
"""The same with functions that make arrays."""

NEW_ORDERED: tuple[tuple[str, ...], ...] = (
    ("r = {M}.copy()", "r[r > 1] -= {N}[r > 1]", "{M} += r"),
    ("r = {x} * 2", "r[r < 0] += 3", "r[{x} > 0] = r[{x} > 0] - {x}[{x} > 0]", "{x} -= r"),
    ("{M}[...] = np.select([{M} > 1, {N} > 1], [{N}, {M}], default=2)",),
    ("{x}[:] = {x}.clip(-1, 2)", "{x}[0] = np.argmax({M}) - {N}.argmin()"),
    ("np.maximum({M}, {N}, out={M})",),
)
"""The same for numbers that have an order."""

FIRST_WITH_SHAPES = 90_000
"""As above."""

SHAPES: tuple[tuple[str, ...], ...] = (
    ("{x} += {x}.reshape(-1, 1)[::-1, 0] - np.expand_dims({x}, 0)[0]",),
    ("{M} -= {N}.reshape(-1, {N}.shape[1])[::-1]",),
    ("r = {M}.reshape(1, *{M}.shape).copy()", "{M} += r[0, ::-1] - r[0, 0, 1]"),
    ("r = np.stack(({x}, {x}[::-1]), axis=1).reshape(-1)", "{x} -= r[1::2] - 2 * r[::2]"),
    ("r = np.repeat({x}, 4).reshape(-1, 2, 2)", "{x} += r.sum(axis=(1, 2)) - r[::-1, 0, 1]"),
    ("r = np.repeat({x}, 2)", "r.reshape(-1, 2)[1] = 3", "{x} -= r[::2]"),
)
"""The same with arrays in other shapes."""

BRANCHES: tuple[tuple[str, ...], ...] = (
    ("if {x}[0] > 0:", "    {M}[1:] -= {N}[:-1]", "else:", "    {x}[:] = {x}[::-1]"),
    (
        "for p in range(len({x})):",
        "    if {x}[p] > 1:",
        "        {x} -= {x}[p]",
        "        {M}[1] += 1",
    ),
    (
        "r = {x} * 1",
        "if {M}[0, 0] > 1:",
        "    r = r - {x}[::-1]",
        "    s = r * 2",
        "    {x}[:] = s",
        "{x} += r",
    ),
    (
        "if np.sum({M}) > 0:",
        "    {M}[{N} > 0] = {N}[{N} > 0]",
        "elif {x}[1] < 0:",
        "    {x} += np.cumsum({x})",
    ),
    (
        "if {x}[2] < {N}[1, 1]:",
        "    r = {M} @ {N}.T",
        "    {M} -= r[0, 0]",
        "    {x}[1] = np.argmax({x})",
    ),
    ("p = 0", "for v in {x}:", "    p = max(p, v)", "{x}[0] -= p"),
)
"""The same with statements on arrays under conditions, for numbers that have an order."""
