"""What our cost model sees of a schedule: one row of named numbers per statement and its loops."""
