"""Memory optimisations on the loop IR."""
