"""Sessions: the compiler as a few calls with small results, for programs that drive it."""
