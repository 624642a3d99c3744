"""The strategies of the default schedule, in the order in which they are asked."""

from __future__ import annotations

from collections.abc import Callable

from ..estimate.scheduling_context import SchedulingContext
from ..polyhedral.schedule_tree import Tree
from ..schedules.schedule import Schedule
from .column_updates import finished_columns
from .factorisation import factorisation
from .fused_contraction import initialised_contraction
from .gauss_seidel import interleaving
from .index_set_splitting import split_at_pivots
from .matrix_vector import matrix_vector
from .privatised_contraction import private_contraction
from .recurrences import recurrences
from .strict_order_reductions import ordered_sums
from .tensor_contraction import contraction
from .time_tiling import time_tiling
from .triangular import triangular
from .triangular_solve import triangular_solve
from .vectorise_and_parallelise import vector_parallel
from .wavefronts import wavefronts

Strategy = Callable[[Schedule, Tree, SchedulingContext], Schedule | None]
"""Schedules one top-level nest (a child of the root of the schedule's tree); None where the nest is
not of its kind, or is better left alone. The rest of the tree stays as it is, and the names of
loops there as well.
"""

STRATEGIES: tuple[Strategy, ...] = (
    time_tiling,
    interleaving,
    contraction,
    initialised_contraction,
    private_contraction,
    triangular,
    factorisation,
    finished_columns,
    ordered_sums,
    triangular_solve,
    matrix_vector,
    recurrences,
    split_at_pivots,
    wavefronts,
    vector_parallel,
)
