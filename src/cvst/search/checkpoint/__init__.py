"""A race on disk while it runs: kept after each group, continued, read by others."""

from cvst.search.checkpoint._opening import recorded
from cvst.search.checkpoint._recorder import Recorder, look_scores

__all__ = ["Recorder", "look_scores", "recorded"]
