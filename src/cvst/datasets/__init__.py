"""The data of the paper, and data on disk: generators, a fetcher, readers of rows."""

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
from cvst.datasets._open import open_dataset
from cvst.datasets._standardise import standardise
from cvst.datasets._stored import StoredRows, stored_rows

__all__ = [
    "DatasetInfo",
    "StoredRows",
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
    "open_dataset",
    "standardise",
    "stored_rows",
]
