"""Schedule search, guided by a cost model, by measurements, or by both."""
