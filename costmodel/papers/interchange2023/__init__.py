"""Mezdoor et al., "A deep learning model for loop interchange", CC 2023."""
