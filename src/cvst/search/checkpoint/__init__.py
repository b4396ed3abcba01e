"""A race on disk while it runs: kept after each group, continued, read by others."""

from cvst.search.checkpoint._fingerprint import Part, data_fingerprint, difference
from cvst.search.checkpoint._opening import recorded
from cvst.search.checkpoint._recorder import Recorder
from cvst.search.checkpoint._stored import Checkpoint, load_checkpoint

__all__ = [
    "Checkpoint",
    "Part",
    "Recorder",
    "data_fingerprint",
    "difference",
    "load_checkpoint",
    "recorded",
]
