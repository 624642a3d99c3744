"""Machine code: compilation, calls, measurements, tuning."""
