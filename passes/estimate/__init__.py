"""Analytical performance estimate: statistics, in-core time, traffic, roofline."""
