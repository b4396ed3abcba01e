"""How long a race will take: later looks cost what the earlier ones tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

__all__ = ["Forecast", "SeenLook"]

# Fits grow with the number of rows n like n^0 to n^3; a measured exponent beyond that
# is noise. With one look only, nothing is known of the growth.
LARGEST_EXPONENT = 3.0
FIRST_EXPONENT = 1.0


@dataclass(frozen=True, slots=True)
class SeenLook:
    """What a look took: training rows, configurations, seconds."""

    n_train: int
    n_configurations: int
    seconds: float

    @property
    def seconds_each(self) -> float:
        """Time per configuration."""
        return self.seconds / max(1, self.n_configurations)


@dataclass(slots=True)
class Forecast:
    """Learns from the looks of a race what the coming ones will take.

    Attributes
    ----------
    sizes : sequence of int
        Training rows of all looks, as far as they are planned.
    n_samples : int
        All rows, for the final fit.
    looks : list of SeenLook
        What has been seen.

    Examples
    --------
    >>> forecast = Forecast(sizes=[100, 200, 300, 400], n_samples=500)
    >>> forecast.saw(100, 50, seconds=5.0)
    >>> forecast.saw(200, 50, seconds=20.0)
    >>> round(forecast.seconds_of(300, 10), 6)
    9.0
    >>> round(forecast.at_most(n_left=10), 6)
    27.5
    """

    sizes: Sequence[int]
    n_samples: int
    looks: list[SeenLook] = field(default_factory=list)

    def saw(self, n_train: int, n_configurations: int, seconds: float) -> None:
        """Learn from a look that is over."""
        self.looks.append(SeenLook(n_train, n_configurations, seconds))

    def seconds_of(self, n_train: int, n_configurations: int) -> float | None:
        """Return the time of a look, None before there is anything to go by."""
        if not self.looks:
            return None
        last = self.looks[-1]
        growth: float = (n_train / last.n_train) ** self._exponent()
        return n_configurations * last.seconds_each * growth

    def at_most(self, n_left: int) -> float | None:
        """Return the time until the end if nobody is dropped any more.

        The remaining looks and the final fit; the race may well end sooner.
        """
        if not self.looks:
            return None
        coming = self.sizes[len(self.looks) :]
        times = [self.seconds_of(size, n_left) for size in coming]
        times.append(self.seconds_of(self.n_samples, 1))
        return sum(seconds for seconds in times if seconds is not None)

    def _exponent(self) -> float:
        """Fit a power of the number of rows to all looks; long looks count for more."""
        looks = [look for look in self.looks if look.seconds > 0]
        if len({look.n_train for look in looks}) < 2:
            return FIRST_EXPONENT
        sizes = np.log([look.n_train for look in looks])
        times = np.log([look.seconds_each for look in looks])
        slope = np.polyfit(sizes, times, 1, w=np.sqrt([k.seconds for k in looks]))[0]
        return float(np.clip(slope, 0.0, LARGEST_EXPONENT))
