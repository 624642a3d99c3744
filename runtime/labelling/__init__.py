"""Measuring schedules by the thousand: compilers and a measuring process that may die.

A `LabellingWorker` labels the programs of a workload on one machine. Compiling processes turn (program,
schedule) pairs into object code, one measuring process runs them, one at a time; while it runs,
compiling processes that share its cores stand still.
"""
