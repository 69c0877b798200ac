"""Measures how far neural-network training parallelises, and what sparsity does to it."""

__version__ = "0.1.0"
