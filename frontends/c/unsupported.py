"""Why expressions of some kinds cannot be read, and what to write, by libclang's name."""

from __future__ import annotations

REASONS: dict[str, tuple[str, str | None]] = {
    "MEMBER_REF_EXPR": (
        "members of unions, bit-fields, and members of elements that have another type than the "
        "first one are not supported",
        "use an array for each member of the elements",
    ),
    "STRING_LITERAL": ("a string is not a number", None),
    "INIT_LIST_EXPR": ("lists of initial values are not supported", "assign the elements"),
    "StmtExpr": ("statements inside of expressions are not supported", "write them before"),
    "COMPOUND_LITERAL_EXPR": ("compound literals are not supported", "use a variable"),
    "IMAGINARY_LITERAL": ("complex numbers are float complex or double complex", None),
}
