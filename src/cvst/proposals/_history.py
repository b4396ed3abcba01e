"""What was observed so far, as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cvst._typing import FloatArray
from cvst.exceptions import InvalidInputError

__all__ = ["History", "with_pending"]


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """All evaluations so far, in the order in which they ended.

    Attributes
    ----------
    points : ndarray of shape (n, d)
        Numbers in [0, 1], choices as codes 0 to k - 1, NaN where a parameter is
        inactive. A point looked at twice has two rows.
    losses : ndarray of shape (n,)
        Mean loss; NaN or infinite if the fit failed.
    fidelities : ndarray of shape (n,)
        Share of the full work in (0, 1]; 1 is a full evaluation.
    seconds : ndarray of shape (n,)
        What the evaluation took; NaN if that is not known.

    Examples
    --------
    >>> history = History.of([[0.5, 1], [0.2, 0]], [0.3, 0.1])
    >>> len(history), history.fidelities
    (2, array([1., 1.]))
    """

    points: FloatArray
    losses: FloatArray
    fidelities: FloatArray
    seconds: FloatArray

    def __post_init__(self) -> None:
        """Check shapes and ranges once, so that proposers need not."""
        n = len(self.losses)
        if self.points.ndim != 2 or len(self.points) != n:
            raise InvalidInputError(
                f"points have the shape {self.points.shape}, but there are {n} "
                "losses. Pass one row of parameters for each loss."
            )
        for name in ("losses", "fidelities", "seconds"):
            shape = getattr(self, name).shape
            if shape != (n,):
                raise InvalidInputError(
                    f"{name} have the shape {shape} instead of ({n},). Pass one "
                    "number for each point."
                )
        wrong = ~((self.fidelities > 0) & (self.fidelities <= 1))
        if wrong.any():
            raise InvalidInputError(
                f"A fidelity is {self.fidelities[wrong][0]}, but it is a share of the "
                "full work in (0, 1]. Divide the work by that of a full evaluation."
            )

    def __len__(self) -> int:
        return len(self.losses)

    @classmethod
    def of(
        cls,
        points: npt.ArrayLike,
        losses: npt.ArrayLike,
        fidelities: npt.ArrayLike = 1.0,
        seconds: npt.ArrayLike = 1.0,
    ) -> History:
        """Make a history of anything array-like; one fidelity may serve all points."""
        losses = np.asarray(losses, dtype=float)
        shape = losses.shape
        return cls(
            np.asarray(points, dtype=float),
            losses,
            # Read-only views: a history is never written to.
            np.broadcast_to(np.asarray(fidelities, dtype=float), shape),
            np.broadcast_to(np.asarray(seconds, dtype=float), shape),
        )

    @classmethod
    def empty(cls, n_dimensions: int) -> History:
        """Return the history of a search that has not begun."""
        return cls.of(np.empty((0, n_dimensions)), np.empty(0))

    def head(self, n: int) -> History:
        """Return the first ``n`` evaluations."""
        return History(
            self.points[:n], self.losses[:n], self.fidelities[:n], self.seconds[:n]
        )

    def extended(self, other: History) -> History:
        """Return this history with the evaluations of another behind it."""
        return History(
            np.concatenate([self.points, other.points]),
            np.concatenate([self.losses, other.losses]),
            np.concatenate([self.fidelities, other.fidelities]),
            np.concatenate([self.seconds, other.seconds]),
        )


def with_pending(history: History, points: npt.ArrayLike) -> History:
    """Add points whose losses are not known yet, as if they had come out middling.

    This constant liar keeps a proposer from proposing the same again while workers are
    busy. The lie is the median of the finite losses at the highest fidelity: a model
    expects little of the surroundings, but does not take them for a failure.

    Parameters
    ----------
    history : History
        What is known.
    points : array-like of shape (m, d)
        What is being evaluated.

    Returns
    -------
    History
        ``n + m`` evaluations; the pending ones have the highest fidelity seen so far,
        and what they will take is unknown.

    Examples
    --------
    >>> history = History.of([[0.1], [0.9]], [1.0, 3.0])
    >>> with_pending(history, [[0.5]]).losses
    array([1., 3., 2.])
    """
    pending = np.asarray(points, dtype=float).reshape(-1, history.points.shape[1])
    finite = np.isfinite(history.losses)
    lie, fidelity = 0.0, 1.0
    if finite.any():
        # A median over all fidelities would mix in the larger losses of cheap looks.
        fidelity = float(history.fidelities[finite].max())
        lie = float(
            np.median(history.losses[finite & (history.fidelities == fidelity)])
        )
    lies = np.full(len(pending), lie)
    # No lie about the time: one must not believe that what is dear comes cheap.
    return history.extended(History.of(pending, lies, fidelity, np.nan))
