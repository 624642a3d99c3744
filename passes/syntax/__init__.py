"""Text formats of schedules."""
