"""Benchmark harness of `loopwright bench`: the catalogue's kernels against installed peers.

selection -> cases (a kernel and a size) -> variants of every peer, prepared -> measured in turns
-> rows of a report.
"""
