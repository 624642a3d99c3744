"""Labelling worker: measures (program, schedule) pairs on one machine or a cluster.

A `LabellingWorker` labels the programs of a workload on one machine. Compiling processes turn
(program, schedule) pairs into object code, one measuring process runs them, one at a time; while it
runs, compiling processes that share its cores stand still.
"""
