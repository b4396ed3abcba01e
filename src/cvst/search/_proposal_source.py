"""New configurations from a space and a proposer, as a race asks for them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from cvst._text import shortened
from cvst._typing import Configuration, FloatArray
from cvst._values import is_whole
from cvst.proposals import Cost, History, Proposer, RandomProposer
from cvst.race.machinery import FamilyKeys, Trial
from cvst.search._log import LOGGER
from cvst.spaces import Space

__all__ = ["ProposalSource", "members_of", "rounds_of", "with_fewer_rounds"]

# Rounds of the members of a family, as shares of the most: fewer come for nothing.
SHARES = (1.0, 0.7, 0.5, 0.35, 0.25, 0.15)

# Ensembles that average: more members are never worse, so fewer are not worth a look.
AVERAGES = ("Forest", "ExtraTrees", "Bagging")

# Shares of the time of the fits that the proposer and the first quicker one may take.
# Where either would take more, the next one is asked. With the last of them, and what
# else is done between two looks, that is to stay below a twentieth.
LARGEST_SHARES = 0.02, 0.01

# As if fits had taken this many seconds before the race: its first proposals matter
# most, and a model is asked for them.
CREDIT = 5.0

# How often a configuration that is known already is drawn anew.
MOST_TRIES = 30


@dataclass(repr=False)
class ProposalSource:
    """Proposes families of configurations that were not tried before.

    Parameters
    ----------
    space : Space
        What may be tried.
    proposer : Proposer
        Says where to look next.
    covered : mapping of str to str
        Hyper-parameters of which one fit serves all smaller values worth a look.
    known : sequence of dict
        Configurations that are in the race already.
    fewest : mapping of str to int
        Members of an average, and how many of them a proposal has at least, if the
        space allows: more are never worse, and a look at few of them cannot tell.
    quick : tuple of Proposer
        Asked instead, one after the other, while the proposals take more than their
        share of the time. Empty if the result must not depend on the clock.
    """

    space: Space
    proposer: Proposer
    covered: Mapping[str, str]
    known: Sequence[Configuration] = ()
    fewest: Mapping[str, int] = field(default_factory=dict)
    quick: tuple[Proposer, ...] = ()
    _n_members: int = field(default=0, repr=False)
    _points: dict[int, tuple[Configuration, FloatArray]] = field(default_factory=dict)
    _tried: set[Hashable] = field(default_factory=set)
    _n_known: int = 0
    # Of each proposer that was asked, by its place: seconds in all, and the last time.
    _spent: dict[int, tuple[float, float]] = field(default_factory=dict)
    _cost: tuple[Sequence[Trial], int, Cost] | None = None
    _key: FamilyKeys = field(init=False)

    def __post_init__(self) -> None:
        self._key = FamilyKeys(self.covered)

    def __repr__(self) -> str:
        # Part of the strategy's, which is read in logs, plans and notebooks: what can
        # be looked up in the search, such as the ranges, is left out.
        names = ", ".join(self.space.names)
        return f"ProposalSource({shortened(names, 60)}; {self.proposer!r})"

    def propose(
        self, trials: Sequence[Trial], count: int, seed: Sequence[int]
    ) -> list[list[Configuration]]:
        """Return families of new configurations, fewer if the space has no more."""
        if not self.space.n_dimensions:
            return []  # one configuration, which is in the race already
        rng = np.random.default_rng(list(seed))
        if not self._tried:
            self._tried = {self._key(one) for one in self.known}
        # Trials are never taken back, so those known are known.
        self._tried |= {self._key(one.configuration) for one in trials[self._n_known :]}
        self._n_known = len(trials)
        families = []
        for one in self.space.decode_all(self._ask(trials, count, rng)):
            fresh = self._fresh(one, rng)
            if fresh is not None:
                self._tried.add(self._key(fresh))
                families.append(with_fewer_rounds(fresh, self.covered))
        return families

    def enlarge(self, n_members: int) -> None:
        """Let averages that are proposed have at least this many members."""
        self._n_members = n_members

    def seconds(
        self, configurations: Sequence[Configuration], trials: Sequence[Trial]
    ) -> FloatArray:
        """Forecast the seconds of a look at configurations that none has seen.

        Parameters
        ----------
        configurations : sequence of dict
            What is to be looked at.
        trials : sequence of Trial
            Looks on as many rows, at least one.
        """
        cost = self._cost_of(trials)
        new = np.stack([self._point(one) for one in configurations])
        return np.exp(cost.log_seconds(new))

    def _cost_of(self, trials: Sequence[Trial]) -> Cost:
        """Learn what looks take, once for the same ones."""
        known = self._cost
        # The trials are kept with it, so that no others can have their address.
        if known is None or known[0] is not trials or known[1] != len(trials):
            points = np.array([self._point(trial.configuration) for trial in trials])
            times = np.array([trial.seconds for trial in trials])
            cost = Cost.fitted(self.space.n_choices, points, times)
            known = self._cost = (trials, len(trials), cost)
        return known[2]

    def _ask(
        self, trials: Sequence[Trial], count: int, rng: np.random.Generator
    ) -> FloatArray:
        history, start = self._history(trials), perf_counter()
        place = self._affordable(float(history.seconds.sum()))
        proposer = (self.proposer, *self.quick)[place]
        try:
            return proposer.propose(self.space.n_choices, history, count, rng)
        except Exception as error:
            # A proposer of one's own may fail: the race goes on with random draws.
            LOGGER.warning(
                "the proposer failed (%s: %s): drawing at random instead",
                type(error).__name__,
                error,
            )
            random = RandomProposer()
            return random.propose(self.space.n_choices, history, count, rng)
        finally:
            took = perf_counter() - start
            self._spent[place] = self._spent.get(place, (0.0, 0.0))[0] + took, took

    def _affordable(self, seconds: float) -> int:
        """Return which proposer the time of the fits allows; the last always may.

        Each is expected to take as long as the last time.
        """
        for place, share in enumerate(LARGEST_SHARES[: len(self.quick)]):
            if sum(self._spent.get(place, (0.0, 0.0))) <= share * (seconds + CREDIT):
                return place
        return len(self.quick)

    def _history(self, trials: Sequence[Trial]) -> History:
        if not trials:
            return History.empty(self.space.n_dimensions)
        return History.of(
            np.array([self._point(trial.configuration) for trial in trials]),
            [trial.loss for trial in trials],
            [trial.fidelity for trial in trials],
            [trial.seconds for trial in trials],
        )

    def _point(self, configuration: Configuration) -> FloatArray:
        # A configuration stays the same object throughout a race.
        known = self._points.get(id(configuration))
        if known is None or known[0] is not configuration:
            known = (configuration, self.space.encode(configuration, clip=True))
            self._points[id(configuration)] = known
        return known[1]

    def _fresh(
        self, configuration: Configuration, rng: np.random.Generator
    ) -> Configuration | None:
        """Return the configuration if it is new, else another one that is."""
        for _ in range(MOST_TRIES):
            configuration = self._with_enough(configuration)
            if self._key(configuration) not in self._tried:
                return configuration
            configuration = self.space.sample(1, rng)[0]
        if self.space.size > 10 * len(self._tried) + 1000:
            return None
        for one in self.space.grid():
            if self._key(one) not in self._tried:
                return one
        return None

    def _with_enough(self, configuration: Configuration) -> Configuration:
        """Return the configuration with as many members as are worth a proposal."""
        for name, least in self.fewest.items():
            least = max(least, self._n_members)
            given = configuration.get(name)
            if given is None or not is_whole(given) or given >= least:
                continue
            point = self.space.encode({**configuration, name: least}, clip=True)
            if not np.isnan(point).all():
                enough = self.space.decode(np.nan_to_num(point))[name]
                configuration = {**configuration, name: max(given, enough)}
        return configuration


def with_fewer_rounds(
    configuration: Configuration, covered: Mapping[str, str]
) -> list[Configuration]:
    """Return a configuration and those with fewer rounds that its fit serves as well.

    Parameters
    ----------
    configuration : dict
        With the most rounds.
    covered : mapping of str to str
        ``"smaller"`` for the names of rounds.

    Returns
    -------
    list of dict
        The given one first.

    Examples
    --------
    >>> family = with_fewer_rounds({"n_estimators": 100}, {"n_estimators": "smaller"})
    >>> [one["n_estimators"] for one in family]
    [100, 70, 50, 35, 25, 15]
    """
    names = [
        name
        for name, how in covered.items()
        if how == "smaller" and is_whole(configuration.get(name))
    ]
    if not names:
        return [configuration]
    family = []
    for share in SHARES:
        rounds = {name: max(1, round(share * configuration[name])) for name in names}
        member = {**configuration, **rounds}
        if member not in family:
            family.append(member)
    return family


def rounds_of(estimator: Any, covered: Mapping[str, str]) -> dict[str, str]:
    """Return the rounds worth looking at in several numbers.

    Parameters
    ----------
    estimator : estimator
        What is tuned.
    covered : mapping of str to str
        Hyper-parameters of which one fit serves several values.

    Examples
    --------
    >>> from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
    >>> rounds_of(GradientBoostingRegressor(), {"n_estimators": "smaller"})
    {'n_estimators': 'smaller'}
    >>> rounds_of(RandomForestRegressor(), {"n_estimators": "smaller"})
    {}
    """
    return {
        name: how
        for name, how in covered.items()
        if how == "smaller" and not _averages(estimator, name)
    }


def members_of(estimator: Any, covered: Mapping[str, str]) -> dict[str, int]:
    """Return how many members the estimator averages, by the name of the parameter.

    Parameters
    ----------
    estimator : estimator
        What is tuned.
    covered : mapping of str to str
        Hyper-parameters of which one fit serves several values.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> members_of(RandomForestRegressor(), {"n_estimators": "smaller"})
    {'n_estimators': 100}
    """
    own = estimator.get_params(deep=True)
    return {
        name: own[name]
        for name, how in covered.items()
        if how == "smaller" and _averages(estimator, name) and is_whole(own.get(name))
    }


def _averages(estimator: Any, name: str) -> bool:
    parts = {"": estimator, **estimator.get_params(deep=True)}
    part = parts.get(name.rpartition("__")[0], estimator)
    return any(word in type(part).__name__ for word in AVERAGES)
