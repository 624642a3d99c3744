"""Programs like those of the field, of kinds that the suite `field` does not have as they are.

Each kind is a text and a range of each size; a program is a kind with sizes drawn from a seed. The
kinds in `SEARCHED` have sizes of their own: searches are compared on them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from loop_text import affine_text

Range = tuple[int, int]


@dataclass(frozen=True)
class Kind:
    """The loops of a kind of programs, and the range of each size."""

    name: str
    sizes: Mapping[str, Range]
    source: str
    elements: tuple[str, ...] = ("f32", "f64")


@dataclass(frozen=True)
class Instance:
    """A program and a value for each of its sizes."""

    name: str
    text: str
    sizes: Mapping[str, int]


def instance(kind: Kind, seed: int) -> Instance:
    """The program of a kind and a seed: sizes are as often small as large."""
    random = Random(f"{kind.name} {seed}")
    sizes = {
        name: round(low * (high / low) ** random.random())
        for name, (low, high) in kind.sizes.items()
    }
    if random.random() < 0.5:
        sizes = {name: max(1, size // 8 * 8) if size > 16 else size for name, size in sizes.items()}
    text = affine_text(kind.name, random.choice(kind.elements), kind.source)
    return Instance(f"{kind.name} {seed}", text, sizes)


def searched(kind: Kind) -> Instance:
    """The program of a kind with the first bound of each size's range."""
    sizes = {name: low for name, (low, _) in kind.sizes.items()}
    return Instance(kind.name, affine_text(kind.name, kind.elements[0], kind.source), sizes)


KINDS = (
    Kind("product", {"n": (40, 500), "m": (40, 500), "p": (40, 500)}, """
for i in range(n):
  for j in range(m):
    C[i, j] = 0.0
    for k in range(p):
      C[i, j] += A[i, k] * B[k, j]
"""),
    Kind("product_of_transposes", {"n": (40, 400), "m": (40, 400), "p": (40, 400)}, """
for i in range(n):
  for j in range(m):
    for k in range(p):
      C[j, i] += A[k, i] * B[j, k]
"""),
    Kind("thin_product", {"n": (1000, 20000), "m": (3, 12), "p": (3, 40)}, """
for i in range(n):
  for j in range(m):
    C[i, j] = b[j]
    for k in range(p):
      C[i, j] += A[i, k] * B[k, j]
"""),
    Kind("small_products", {"q": (100, 3000), "n": (4, 16), "m": (4, 16), "p": (4, 16)}, """
for b in range(q):
  for i in range(n):
    for j in range(m):
      for k in range(p):
        C[b, i, j] += A[b, i, k] * B[b, k, j]
"""),
    Kind("weighted_gram", {"n": (60, 400), "p": (60, 600)}, """
for i in range(n):
  for j in range(i + 1):
    C[i, j] = 0.0
    for k in range(p):
      C[i, j] += w[k] * A[i, k] * A[j, k]
"""),
    Kind("gram_of_columns", {"n": (60, 300), "p": (100, 2000)}, """
for i in range(n):
  for j in range(i, n):
    for k in range(p):
      C[i, j] += A[k, i] * A[k, j]
"""),
    Kind("triangular_product", {"n": (60, 400), "m": (60, 400)}, """
for i in range(n):
  for j in range(m):
    C[i, j] = 0.0
    for k in range(i + 1):
      C[i, j] += L[i, k] * B[k, j]
"""),
    Kind("two_sided_product", {"n": (300, 3000), "m": (300, 3000)}, """
for i in range(n):
  y[i] = 0.0
  for j in range(m):
    y[i] += A[i, j] * x[j]
for i in range(n):
  for j in range(m):
    z[j] += A[i, j] * y[i]
"""),
    Kind("bilinear_form", {"n": (200, 3000), "m": (200, 3000)}, """
for i in range(n):
  for j in range(m):
    s[0] += x[i] * A[i, j] * y[j]
"""),
    Kind("contraction4", {"n": (8, 40), "m": (8, 40), "p": (8, 40), "q": (8, 40)}, """
for a in range(n):
  for b in range(m):
    for c in range(p):
      for d in range(q):
        C[a, b, c] += A[a, d, c] * B[d, b]
"""),
    Kind("contraction5", {"n": (6, 24), "m": (6, 24), "p": (6, 24), "q": (6, 24), "r": (6, 24)}, """
for a in range(n):
  for b in range(m):
    for c in range(p):
      for d in range(q):
        for e in range(r):
          C[a, b, c] += A[e, a, d] * B[c, d, e, b]
"""),
    Kind("convolution", {"f": (4, 64), "c": (3, 64), "h": (14, 64), "w": (14, 64)}, """
for o in range(f):
  for y in range(h):
    for x in range(w):
      O[o, y, x] = b[o]
      for i in range(c):
        for u in range(3):
          for v in range(3):
            O[o, y, x] += I[i, y + u, x + v] * W[o, i, u, v]
"""),
    Kind("channels_last", {"f": (4, 64), "c": (3, 64), "h": (14, 64), "w": (14, 64)}, """
for y in range(h):
  for x in range(w):
    for o in range(f):
      O[y, x, o] = 0.0
      for u in range(3):
        for v in range(3):
          for i in range(c):
            O[y, x, o] += I[2 * y + u, 2 * x + v, i] * W[u, v, i, o]
"""),
    Kind("filter_of_channels", {"c": (8, 128), "h": (20, 120), "w": (20, 120)}, """
for i in range(c):
  for y in range(h):
    for x in range(w):
      O[i, y, x] = 0.0
      for u in range(5):
        for v in range(5):
          O[i, y, x] += I[i, y + u, x + v] * W[i, u, v]
"""),
    Kind("filter_of_signals", {"q": (4, 64), "n": (500, 20000), "p": (8, 64)}, """
for s in range(q):
  for i in range(n):
    y[s, i] = 0.0
    for k in range(p):
      y[s, i] += x[s, i + k] * h[k]
"""),
    Kind("downsampling", {"h": (100, 1000), "w": (100, 1000)}, """
for y in range(h):
  for x in range(w):
    O[y, x] = (I[2 * y, 2 * x] + I[2 * y, 2 * x + 1]
               + I[2 * y + 1, 2 * x] + I[2 * y + 1, 2 * x + 1]) * 0.25
"""),
    Kind("upsampling", {"h": (100, 700), "w": (100, 700)}, """
for y in range(h):
  for x in range(w):
    O[2 * y, 2 * x] = I[y, x]
    O[2 * y, 2 * x + 1] = (I[y, x] + I[y, x + 1]) * 0.5
    O[2 * y + 1, 2 * x] = (I[y, x] + I[y + 1, x]) * 0.5
    O[2 * y + 1, 2 * x + 1] = (I[y, x] + I[y + 1, x + 1]) * 0.5
"""),
    Kind("blur_pipeline", {"h": (100, 1500), "w": (100, 1500)}, """
for y in range(h + 2):
  for x in range(w):
    T[y, x] = (I[y, x] + I[y, x + 1] + I[y, x + 2]) * third
for y in range(h):
  for x in range(w):
    O[y, x] = (T[y, x] + T[y + 1, x] + T[y + 2, x]) * third
"""),
    Kind("edge_pipeline", {"h": (100, 1000), "w": (100, 1000)}, """
for y in range(h):
  for x in range(w):
    G[y, x] = (I[y, x + 2] - I[y, x] + (I[y + 1, x + 2] - I[y + 1, x]) * 2.0
               + I[y + 2, x + 2] - I[y + 2, x])
for y in range(h):
  for x in range(w):
    H[y, x] = (I[y + 2, x] - I[y, x] + (I[y + 2, x + 1] - I[y, x + 1]) * 2.0
               + I[y + 2, x + 2] - I[y, x + 2])
for y in range(h):
  for x in range(w):
    O[y, x] = sqrt(G[y, x] * G[y, x] + H[y, x] * H[y, x])
"""),
    Kind("normalised_rows", {"n": (50, 2000), "m": (50, 2000)}, """
for i in range(n):
  s[i] = 0.0
  t[i] = 0.0
  for j in range(m):
    s[i] += A[i, j]
    t[i] += A[i, j] * A[i, j]
for i in range(n):
  for j in range(m):
    B[i, j] = (A[i, j] - s[i] * scale) * (t[i] * scale + 1.0) * g[j]
"""),
    Kind("normalised_columns", {"n": (50, 2000), "m": (50, 2000)}, """
for j in range(m):
  s[j] = 0.0
  for i in range(n):
    s[j] += A[i, j]
  for i in range(n):
    A[i, j] = A[i, j] - s[j] * scale
"""),
    Kind("largest_of_rows", {"n": (50, 3000), "m": (50, 3000)}, """
for i in range(n):
  s[i] = A[i, 0]
  for j in range(1, m):
    s[i] = max(s[i], A[i, j])
for i in range(n):
  for j in range(m):
    B[i, j] = exp(A[i, j] - s[i])
"""),
    Kind("pooling", {"c": (4, 64), "h": (20, 150), "w": (20, 150)}, """
for i in range(c):
  for y in range(h):
    for x in range(w):
      O[i, y, x] = I[i, 2 * y, 2 * x]
      for u in range(3):
        for v in range(3):
          O[i, y, x] = max(O[i, y, x], I[i, 2 * y + u, 2 * x + v])
"""),
    Kind("distances", {"n": (50, 1000), "m": (50, 1000), "p": (2, 64)}, """
for i in range(n):
  for j in range(m):
    D[i, j] = 0.0
    for k in range(p):
      D[i, j] += (X[i, k] - Y[j, k]) * (X[i, k] - Y[j, k])
"""),
    Kind("transposed_sum", {"n": (200, 2500), "m": (200, 2500)}, """
for i in range(n):
  for j in range(m):
    B[i, j] = A[j, i] * alpha + B[i, j]
"""),
    Kind("permutation", {"n": (20, 200), "m": (20, 200), "p": (20, 200)}, """
for i in range(n):
  for j in range(m):
    for k in range(p):
      B[k, i, j] = A[i, j, k]
"""),
    Kind("heat", {"t": (4, 40), "n": (60, 800), "m": (60, 800)}, """
for s in range(t):
  for i in range(1, n - 1):
    for j in range(1, m - 1):
      B[i, j] = A[i, j] + (A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1]
                           - A[i, j] * 4.0) * c
  for i in range(1, n - 1):
    for j in range(1, m - 1):
      A[i, j] = B[i, j]
"""),
    Kind("diffusion_of_coefficients", {"n": (20, 120), "m": (20, 120), "p": (20, 120)}, """
for i in range(1, n - 1):
  for j in range(1, m - 1):
    for k in range(1, p - 1):
      B[i, j, k] = K[i, j, k] * (A[i - 1, j, k] + A[i + 1, j, k] + A[i, j - 1, k]
                                 + A[i, j + 1, k] + A[i, j, k - 1] + A[i, j, k + 1]
                                 - A[i, j, k] * 6.0)
"""),
    Kind("wave", {"t": (10, 200), "n": (1000, 30000)}, """
for s in range(t):
  for i in range(1, n - 1):
    C[i] = B[i] * 2.0 - A[i] + (B[i - 1] - B[i] * 2.0 + B[i + 1]) * c
  for i in range(n):
    A[i] = B[i]
  for i in range(n):
    B[i] = C[i]
"""),
    Kind("recurrence_of_rows", {"n": (50, 2000), "m": (50, 2000)}, """
for i in range(1, n):
  for j in range(m):
    A[i, j] += A[i - 1, j] * decay
"""),
    Kind("running_sums", {"n": (100, 2000), "m": (100, 2000)}, """
for i in range(n):
  for j in range(1, m):
    A[i, j] += A[i, j - 1]
"""),
    Kind("solve_many", {"n": (40, 200), "m": (40, 400)}, """
for i in range(n):
  for j in range(i):
    for k in range(m):
      B[i, k] = B[i, k] - L[i, j] * B[j, k]
  for k in range(m):
    B[i, k] = B[i, k] / L[i, i]
"""),
    Kind("cells", {"n": (8, 64), "m": (64, 600), "p": (64, 600)}, """
for i in range(n):
  for j in range(m):
    G[i, j] = b[j]
    for k in range(p):
      G[i, j] += X[i, k] * W[j, k]
for i in range(n):
  for j in range(m):
    S[i, j] = S[i, j] * f[j] + max(G[i, j], 0.0)
"""),
    Kind("integer_products", {"n": (40, 300), "m": (40, 300), "p": (40, 300)}, """
for i in range(n):
  for j in range(m):
    C[i, j] = 0
    for k in range(p):
      C[i, j] += A[i, k] * B[k, j]
""", ("i32",)),
    Kind("paths", {"n": (40, 250)}, """
for k in range(n):
  for i in range(n):
    for j in range(n):
      D[i, j] = min(D[i, j], D[i, k] + D[k, j])
""", ("f32", "i32")),
)
"""Labels are of these; a chosen kind is learned from all others."""

SEARCHED = (
    Kind("separable_wavelet", {"h": (900, 900), "w": (700, 700)}, """
for y in range(h):
  for x in range(w):
    L[y, x] = I[y, 2 * x] * 0.7 + I[y, 2 * x + 1] * 0.3
for y in range(h):
  for x in range(w):
    R[y, x] = I[y, 2 * x] * 0.3 - I[y, 2 * x + 1] * 0.7
for y in range(h):
  for x in range(w):
    O[y, x] = max(L[y, x], 0.1) * R[y, x] + I[y, x]
"""),
    Kind("strided_convolution", {"f": (48, 48), "c": (24, 24), "h": (40, 40), "w": (40, 40)}, """
for o in range(f):
  for y in range(h):
    for x in range(w):
      for i in range(c):
        for u in range(3):
          for v in range(3):
            O[o, y, x] += I[i, 2 * y + u, 2 * x + v] * W[o, i, u, v]
"""),
    Kind("attention_scores", {"q": (8, 8), "n": (256, 256), "p": (48, 48)}, """
for b in range(q):
  for i in range(n):
    for j in range(n):
      S[b, i, j] = 0.0
      for k in range(p):
        S[b, i, j] += Q[b, i, k] * K[b, j, k] * scale
for b in range(q):
  for i in range(n):
    m[b, i] = S[b, i, 0]
    for j in range(n):
      m[b, i] = max(m[b, i], S[b, i, j])
"""),
    Kind("mixed_contraction", {"n": (36, 36), "m": (40, 40), "p": (28, 28), "q": (30, 30)}, """
for a in range(n):
  for b in range(m):
    for c in range(p):
      for d in range(q):
        C[c, a, b] += A[b, d, a] * B[d, c]
"""),
    Kind("anisotropic_stencil", {"t": (6, 6), "n": (90, 90), "m": (90, 90), "p": (90, 90)}, """
for s in range(t):
  for i in range(1, n - 1):
    for j in range(2, m - 2):
      for k in range(1, p - 1):
        B[i, j, k] = (A[i, j, k] * a + (A[i - 1, j, k] + A[i + 1, j, k]) * b
                      + (A[i, j - 2, k] + A[i, j + 2, k]) * c
                      + (A[i, j, k - 1] + A[i, j, k + 1]) * d)
  for i in range(1, n - 1):
    for j in range(2, m - 2):
      for k in range(1, p - 1):
        A[i, j, k] = B[i, j, k]
"""),
    Kind("rank_update_of_columns", {"n": (420, 420), "p": (310, 310)}, """
for i in range(n):
  for j in range(i + 1):
    for k in range(p):
      C[i, j] += A[k, i] * B[k, j] + B[k, i] * A[k, j]
""", ("f64",)),
    Kind("scored_pairs", {"n": (700, 700), "m": (600, 600), "p": (12, 12)}, """
for i in range(n):
  for j in range(m):
    D[i, j] = 0.0
    for k in range(p):
      D[i, j] += max(X[i, k] - Y[j, k], Y[j, k] - X[i, k])
for i in range(n):
  s[i] = D[i, 0]
  for j in range(m):
    s[i] = min(s[i], D[i, j])
"""),
    Kind("chained_vectors", {"n": (1400, 1400), "m": (1300, 1300)}, """
for i in range(n):
  for j in range(m):
    y[j] += A[i, j] * x[i]
for j in range(m):
  z[j] = y[j] * g[j]
for i in range(n):
  for j in range(m):
    x[i] += A[i, j] * z[j]
"""),
)
"""Nobody has tuned anything for these."""
