"""Learning from labels: reading and splitting them, metrics, training, reports."""
