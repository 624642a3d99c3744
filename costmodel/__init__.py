"""Learned cost models: features, models, training, and the data they are trained on."""
