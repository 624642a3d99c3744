"""Features of a schedule: a row of named numbers per statement in its loop context."""
