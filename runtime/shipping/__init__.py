"""Libraries for processors of several kinds, and wheels: what runs where there is no compiler.

`levels.py` says for which processors code is made, `dispatch.py` and `openmp_lookup.py` are the
LLVM IR that chooses among it, `shared_library.py` links, and `wheel.py` packs.
"""
