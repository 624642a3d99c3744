"""The strategies of the default schedule, in order of preference."""

from __future__ import annotations

from collections.abc import Callable

from ..estimate.scheduling_context import SchedulingContext
from ..polyhedral.schedule_tree import Tree
from ..schedules.schedule import Schedule
from .batches_in_lanes import batches_in_lanes
from .column_updates import column_updates
from .distant_recurrences import distant_recurrences
from .factorisation import factorisation
from .fused_contraction import fused_contraction
from .gauss_seidel import gauss_seidel
from .index_set_splitting import index_set_splitting
from .line_sweeps import line_sweeps
from .matrix_vector import matrix_vector
from .multi_operand_contraction import multi_operand_contraction
from .nonserial_recurrences import nonserial_recurrences
from .opaque_statements import opaque_statements
from .outer_vectors import outer_vectors
from .outermost_parallel import outermost_parallel
from .output_stationary import output_stationary
from .parallel_strips import parallel_strips
from .partial_sums import partial_sums
from .pivot_blocks import pivot_blocks
from .privatised_contraction import privatised_contraction
from .recurrences import recurrences
from .scattered_reductions import scattered_reductions
from .skewed_rows import skewed_rows
from .strict_order_reductions import strict_order_reductions
from .sums_in_lanes import sums_in_lanes
from .tensor_contraction import tensor_contraction
from .tile_transposition import tile_transposition
from .time_tiling import time_tiling
from .transposed_contraction import transposed_contraction
from .triangular import triangular
from .triangular_solve import triangular_solve
from .unrolled_bodies import unrolled_bodies
from .unrolled_short_loops import unrolled_short_loops
from .unrolled_sums import unrolled_sums
from .vectorise_and_parallelise import vectorise_and_parallelise
from .wavefronts import wavefronts

Strategy = Callable[[Schedule, Tree, SchedulingContext], Schedule | None]
"""Schedules one top-level nest (a child of the root of the schedule's tree); None where the nest is
not of its kind, or is better left alone. The rest of the tree stays as it is, and the names of
loops there as well.
"""

STRATEGIES: tuple[Strategy, ...] = (
    time_tiling,
    gauss_seidel,
    skewed_rows,
    output_stationary,
    tensor_contraction,
    fused_contraction,
    privatised_contraction,
    transposed_contraction,
    triangular,
    factorisation,
    column_updates,
    nonserial_recurrences,
    pivot_blocks,
    multi_operand_contraction,
    strict_order_reductions,
    triangular_solve,
    line_sweeps,
    matrix_vector,
    recurrences,
    index_set_splitting,
    wavefronts,
    tile_transposition,
    vectorise_and_parallelise,
)

FOR_OPAQUE: tuple[Strategy, ...] = (scattered_reductions, opaque_statements)
"""Strategies for nests with statements that are not affine: all others ask for the subscripts of
all accesses."""

FALLBACKS: tuple[Strategy, ...] = (
    unrolled_short_loops,
    unrolled_bodies,
    outer_vectors,
    batches_in_lanes,
    vectorise_and_parallelise,
    outermost_parallel,
    parallel_strips,
    unrolled_sums,
    partial_sums,
    sums_in_lanes,
    distant_recurrences,
)
"""Proposals for nests that one of `COMPETING` is the first to have an answer for."""

COMPETING: tuple[Strategy, ...] = (
    tile_transposition,
    transposed_contraction,
    line_sweeps,
    multi_operand_contraction,
    matrix_vector,
    recurrences,
    vectorise_and_parallelise,
)
"""Strategies whose answers are not always better than all `FALLBACKS`: lanes along other loops."""

ALWAYS_COMPETING: tuple[Strategy, ...] = (unrolled_sums, partial_sums)
"""Proposals for all nests: products of a few rows and columns need no tiles for caches, and sums of
all elements have no other loop for threads."""
