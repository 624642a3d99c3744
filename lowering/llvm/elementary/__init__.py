"""Elementary functions as LLVM IR: the same bits for scalars and for every lane of a vector."""
