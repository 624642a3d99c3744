"""Searches for fast schedules, guided by a cost model, by runs, or by both."""
