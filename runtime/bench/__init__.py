"""The harness behind `loopwright bench`: kernels of the catalogue against what else is installed.

selection -> cases (a kernel and a size) -> variants of every peer, prepared -> measured in turns
-> rows of a report.
"""
