"""What the tests of the learners share."""

import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest


@dataclass(frozen=True)
class ReferenceFit:
    """One model fitted by the R package, and its data."""

    x: Any
    y: Any
    x_test: Any
    settings: dict[str, Any]

    def kernel(self, rows: Any) -> Any:
        """Return the Gaussian kernel between some rows and the training rows."""
        return np.exp(-self.settings["gamma"] * (rows - self.x.T) ** 2)


@pytest.fixture(scope="session")
def r_fits():
    """Return a function from the name of a learner to the fits of the R package."""
    path = Path(__file__).parent / "reference" / "r_learners.json.gz"
    stored = json.loads(gzip.decompress(path.read_bytes()))

    def fits(learner):
        return [
            ReferenceFit(
                np.array(data["x"])[:, np.newaxis],
                np.array(data["y"]),
                np.array(data["x_test"])[:, np.newaxis],
                settings,
            )
            for settings in stored["fits"]
            if settings["learner"] == learner
            for data in stored["datasets"]
            if data["id"] == settings["dataset"]
        ]

    return fits
