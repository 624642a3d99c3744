"""Baghdadi et al., "A deep learning based cost model for automatic code optimization", 2021."""
