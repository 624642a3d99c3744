"""Programs and schedules as the published cost models see them."""
