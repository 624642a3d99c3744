"""Choice of schedules without a search: `auto` and the tuning database."""
