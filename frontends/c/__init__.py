"""C files as programs: regions of loops over array elements, read with libclang."""
