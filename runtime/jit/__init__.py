"""Just-in-time compilation: LLVM, object code, cache, OpenMP, threads."""
