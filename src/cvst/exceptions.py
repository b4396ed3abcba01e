"""Errors and warnings of the library.

.. code-block:: text

    CVSTError
    ├── InvalidInputError (ValueError)
    │   ├── TooFewStepsError
    │   ├── TooFewRowsError
    │   ├── UnsupportedScoreError
    │   ├── BudgetTooSmallError
    │   └── CheckpointError
    ├── AllFitsFailedError (ValueError)
    ├── InvalidPredictionError (ValueError)
    ├── ClusterLostError
    └── DataUnavailableError

    CVSTWarning (UserWarning)
    ├── CheckpointWarning
    ├── FallbackWarning
    └── UnusedArgumentWarning

Every message holds the value received, the rule it breaks and the way out.
"""

from __future__ import annotations

__all__ = [
    "AllFitsFailedError",
    "BudgetTooSmallError",
    "CVSTError",
    "CVSTWarning",
    "CheckpointError",
    "CheckpointWarning",
    "ClusterLostError",
    "DataUnavailableError",
    "FallbackWarning",
    "InvalidInputError",
    "InvalidPredictionError",
    "TooFewRowsError",
    "TooFewStepsError",
    "UnsupportedScoreError",
    "UnusedArgumentWarning",
]


class CVSTError(Exception):
    """Any error that this library raises on purpose."""


class InvalidInputError(CVSTError, ValueError):
    """An argument breaks a rule; raised before anything is fitted."""


class TooFewStepsError(InvalidInputError):
    """The sequential test cannot decide within the given number of steps."""


class TooFewRowsError(InvalidInputError):
    """The data are too small even for plain cross-validation."""


class UnsupportedScoreError(InvalidInputError):
    """The score does not come as one number that can be raced on."""


class BudgetTooSmallError(InvalidInputError):
    """The time budget does not suffice for a single look."""


class CheckpointError(InvalidInputError):
    """A checkpoint is in use, damaged, or belongs to another search."""


class InvalidPredictionError(CVSTError, ValueError):
    """A model predicts nothing that can be scored; raised if errors are to be raised.

    Otherwise its configuration fails.
    """


class AllFitsFailedError(CVSTError, ValueError):
    """Every configuration failed at the same look."""


class ClusterLostError(CVSTError):
    """A cluster loses its workers faster than they finish anything."""


class DataUnavailableError(CVSTError):
    """A data set is neither on disk nor to be fetched."""


class CVSTWarning(UserWarning):
    """Any warning that this library gives on purpose."""


class CheckpointWarning(CVSTWarning):
    """A checkpoint could not be read to its end, or cannot be written any more."""


class FallbackWarning(CVSTWarning):
    """The search does something simpler than asked, and says what."""


class UnusedArgumentWarning(CVSTWarning):
    """An argument is accepted for compatibility and has no effect."""
