"""The data of the paper: generators, a fetcher for the real sets, and a list of all."""

from __future__ import annotations

from cvst.datasets._breiman import make_ringnorm, make_twonorm, make_waveform
from cvst.datasets._catalogue import DatasetInfo, list_datasets
from cvst.datasets._donoho import (
    make_blocks,
    make_bumps,
    make_doppler,
    make_heavisine,
)
from cvst.datasets._example import load_example
from cvst.datasets._fetch import fetch_benchmark
from cvst.datasets._noisy_waves import make_noisy_sinc, make_noisy_sine
from cvst.datasets._standardise import standardise

__all__ = [
    "DatasetInfo",
    "fetch_benchmark",
    "list_datasets",
    "load_example",
    "make_blocks",
    "make_bumps",
    "make_doppler",
    "make_heavisine",
    "make_noisy_sinc",
    "make_noisy_sine",
    "make_ringnorm",
    "make_twonorm",
    "make_waveform",
    "standardise",
]
