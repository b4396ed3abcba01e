"""What looks and the final fit cost, as functions of rows and configurations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from cvst.theory import PowerCurve

__all__ = ["CostModel"]

# No forecast is better than that, however well a curve fits.
LEAST_DOUBT = 1.2


@dataclass(frozen=True, slots=True)
class CostModel:
    """Seconds of looks and of the final fit.

    Attributes
    ----------
    fit : PowerCurve
        Seconds that a worker spends on fitting one configuration among all of them.
    predict : PowerCurve
        Seconds that it spends on predicting one row.
    wall : float
        Seconds on the clock for a second of a worker: below one with several workers.
    overhead : float
        Seconds that a look takes before anybody works.
    alone : PowerCurve
        Seconds of a fit that shares its work with no other.
    probe_seconds : float
        What the measurement took.
    largest_probe : int
        Rows of the largest look timed.
    plausible : tuple of PowerCurve
        Other curves for ``fit`` that the measurement leaves open.
    n_configurations, n_groups : int
        How many there are, and how many groups that share work they make; 0 if nothing
        is shared.
    lonely, lonely_predict : float
        How much longer fitting a configuration, and predicting a row with it, takes
        when no other of its group takes part.
    gaps : tuple of float
        How far the configurations that were timed are behind their leader, in standard
        deviations of the pointwise difference.
    gap_rows : int
        On how many rows the gaps were seen.
    unlike : tuple of float
        How much their losses differ from the leader's from row to row, in standard
        deviations of the leader's losses.
    smooth : bool
        Whether each row has a loss of its own, as squared errors are.
    paces : tuple of float
        How much longer each of them took than the mean of all.
    parts : tuple of float
        What share of all configurations each of them stands for; empty if alike.
    share : float
        The share of a processor that all of this counts on: less than 1 where others
        use the machine.
    """

    fit: PowerCurve
    predict: PowerCurve
    alone: PowerCurve
    wall: float = 1.0
    overhead: float = 0.0
    probe_seconds: float = 0.0
    largest_probe: int = 0
    plausible: tuple[PowerCurve, ...] = ()
    n_configurations: int = 0
    n_groups: int = 0
    lonely: float = 1.0
    lonely_predict: float = 1.0
    gaps: tuple[float, ...] = ()
    gap_rows: int = 0
    unlike: tuple[float, ...] = ()
    smooth: bool = False
    paces: tuple[float, ...] = ()
    parts: tuple[float, ...] = ()
    share: float = 1.0

    def each(
        self,
        n_train: int,
        n_test: int,
        n_configurations: float | None = None,
        pace: float = 1.0,
    ) -> float:
        """Return the seconds a worker spends on one of this many configurations."""
        fit, predict = pace * self.fit(n_train), n_test * self.predict(n_train)
        if n_configurations is None:
            return fit + predict
        n = n_configurations
        return fit * self.company(n) + predict * self.company(n, self.lonely_predict)

    def look(
        self, n_train: int, n_test: int, n_configurations: float, pace: float = 1.0
    ) -> float:
        """Return the seconds of a look on the clock.

        Parameters
        ----------
        n_train, n_test : int
            Rows to train and to test on.
        n_configurations : float
            How many take part.
        pace : float
            How much longer these take than the mean of all.
        """
        worked = n_configurations * self.each(n_train, n_test, n_configurations, pace)
        if self.n_configurations:
            # Fewer never take longer than all of them together.
            n_all = max(float(self.n_configurations), n_configurations)
            worked = min(worked, n_all * self.each(n_train, n_test))
        return self.overhead + self.wall * worked

    def refit(self, n_samples: int) -> float:
        """Return the seconds of the final fit."""
        return self.alone(n_samples)

    def cross_validation(
        self, n_samples: int, n_configurations: int, n_folds: int
    ) -> float:
        """Return the seconds of k-fold cross-validation with the same evaluator."""
        n_test = n_samples // n_folds
        return n_folds * self.look(n_samples - n_test, n_test, n_configurations)

    def scaled(self, factor: float) -> CostModel:
        """Return the model of a machine that is slower by this factor."""
        return replace(
            self,
            fit=self.fit.scaled(factor),
            predict=self.predict.scaled(factor),
            alone=self.alone.scaled(factor),
            plausible=tuple(curve.scaled(factor) for curve in self.plausible),
        )

    def company(self, n_configurations: float, lonely: float | None = None) -> float:
        """Return how much longer a fit takes when this many are left.

        The fewer are left, the fewer share the work of their group.

        Parameters
        ----------
        n_configurations : float
            How many take part.
        lonely : float or None
            How much longer it takes when no other of the group does; None for fits.

        Examples
        --------
        >>> line = PowerCurve(0.0, 1.0, 1.0)
        >>> model = CostModel(
        ...     line, line, line, n_configurations=100, n_groups=10, lonely=4.0
        ... )
        >>> model.company(100), model.company(1)
        (1.0, 4.0)
        """
        n_all, n_groups = self.n_configurations, self.n_groups
        lonely = self.lonely if lonely is None else lonely
        if n_groups in (0, n_all) or not 0 < n_configurations < n_all:
            return 1.0
        if n_configurations <= 1:
            return lonely
        # Groups that have a member left, were these drawn at random. But what is good
        # lies together: at best in as few groups as possible. The truth is in between.
        absent: float = (1 - n_configurations / n_all) ** (n_all / n_groups)
        at_random: float = n_groups * (1 - absent)
        together = max(1.0, n_configurations * n_groups / n_all)
        per_member = sqrt(at_random * together) / n_configurations
        at_least = n_groups / n_all
        share = (min(1.0, per_member) - at_least) / (1 - at_least)
        return 1 + (lonely - 1) * share

    def doubt(self, n_rows: int) -> tuple[float, float]:
        """Return the factors between which a fit on this many rows will probably be.

        Examples
        --------
        >>> line = PowerCurve(0.0, 1.0, 1.0)
        >>> other = PowerCurve(0.0, 3.0, 1.0)
        >>> low, high = CostModel(line, line, line, plausible=(other,)).doubt(100)
        >>> round(low, 2), high
        (0.83, 3.0)
        """
        here = max(self.fit(n_rows), 1e-12)
        ratios = [curve(n_rows) / here for curve in self.plausible]
        low, high = min(ratios, default=1.0), max(ratios, default=1.0)
        return float(np.minimum(low, 1 / LEAST_DOUBT)), float(max(high, LEAST_DOUBT))
