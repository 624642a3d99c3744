"""Tavarageri et al., "AI Powered Compiler Techniques for DL Code Optimization", 2021."""
