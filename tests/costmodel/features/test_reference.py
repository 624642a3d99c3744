"""Rows of features are computed on one machine, whose figures models have learned with."""

from __future__ import annotations

from loopwright.costmodel.features.statements import Operations
from loopwright.passes.machine.target_files import reference_machine


def test_the_figures_that_models_have_learned_with() -> None:
    """Others make trained models and stored features worthless: then FEATURES_VERSION must grow."""
    machine = reference_machine()
    assert [machine.cycles[kind] for kind in Operations._fields] == [
        *(0.5, 0.5, 6.0, 18.0, 0.7, 1.0, 14.0, 0.7)
    ]
    assert [machine.latencies[kind] for kind in Operations._fields] == [
        *(2.5, 3.0, 14.0, 40.0, 5.0, 3.0, 18.0, 1.0)
    ]
    assert machine.hertz == 4e9
    assert [rate / machine.hertz for rate in machine.bandwidths.values()] == [50.0, 20.0, 5.0]
    assert machine.memory_bandwidth / machine.bandwidths[3] == 1.15
    assert [*machine.line_latencies.values()] == [3.0, 10.0, 25.0]
    assert (machine.loads_per_cycle, machine.stores_per_cycle) == (2, 1)
    assert (machine.gather_cycles, machine.scatter_cycles) == (0.7, 1.2)
    assert (machine.branch_cycles, machine.loop_entry_cycles) == (0.6, 6.0)
    assert machine.store_forwarding == 4.0
    assert (machine.cache_line, machine.page, machine.huge_page) == (64, 1 << 12, 1 << 21)
    assert machine.tlb_entries == 64
    assert machine.set_periods == {1: 4096, 2: 65536}
    assert machine.caches == {1: 32 << 10, 2: 1 << 20, 3: 32 << 20}
