"""What kernels are compared with: one module per peer, each found at run time."""
