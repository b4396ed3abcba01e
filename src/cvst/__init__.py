"""Hyper-parameter search that races configurations on growing subsets of the data."""

__version__ = "0.1.0.dev0"
