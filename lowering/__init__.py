"""Code generation: schedule -> loop nest -> loop IR -> LLVM IR, C."""
