"""A checkpoint as others read it: without the data, also while the race runs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cvst._typing import Configuration, FloatArray, IntArray
from cvst.exceptions import CheckpointError
from cvst.race import Look, LookLosses, Problem, RaceState, Strategy, Verdict
from cvst.race.machinery import space_of
from cvst.report import race_summary
from cvst.report.machinery import estimate_values, settled_reason, tie_of
from cvst.search._results import ranked_by_score, results_table
from cvst.search.checkpoint._records import Reading, read_records
from cvst.search.checkpoint._story import WRONG, Story
from cvst.search.estimate import ScoreEstimate
from cvst.statistics import SpicerTest, WaldTest

__all__ = ["Checkpoint", "load_checkpoint"]

TESTS: dict[str, type[WaldTest] | type[SpicerTest]] = {
    "WaldTest": WaldTest,
    "SpicerTest": SpicerTest,
}


class RecordedStrategy(Strategy):
    """Answers what the strategy of a race answered while it ran; it decides nothing.

    Parameters
    ----------
    told : dict
        What was written about the strategy.
    rankings : dict of int to ndarray
        Its rankings, by the number of looks.
    criteria : dict of int to str
        By what they were ranked.
    by_mean : dict of int to bool
        Whether equal evidence was ranked by means alone.
    """

    def __init__(
        self,
        told: dict[str, Any],
        rankings: dict[int, IntArray],
        criteria: dict[int, str],
        by_mean: dict[int, bool],
    ) -> None:
        self.told = told
        self.rankings = rankings
        self.criteria = criteria
        self.by_mean = by_mean
        self.level = float(told["level"])
        self.confirming_reason = told.get("confirming_reason")

    def __repr__(self) -> str:
        return str(self.told["text"])

    def stop_reason(self, state: RaceState) -> str | None:
        """Leave that open: the record of the race says it."""
        del state
        return None

    def next_look(self, state: RaceState) -> Look:
        """Refuse: there is nothing to look at."""
        del state
        raise self._refusal()

    def judge(self, state: RaceState, look: Look, seen: LookLosses) -> Verdict:
        """Refuse: there is nothing to judge."""
        del state, look, seen
        raise self._refusal()

    @staticmethod
    def _refusal() -> CheckpointError:
        return CheckpointError(
            "A race that was read from a checkpoint has no data to go on with. Run the "
            "search with the same checkpoint instead."
        )

    def ranking(self, state: RaceState) -> IntArray:
        """Return the ranking of that time, or by the last losses if none was kept."""
        known = self.rankings.get(state.n_looks)
        return super().ranking(state) if known is None else known

    def ranks_by_mean(self, state: RaceState) -> bool:
        """Return what it was at that time."""
        return self.by_mean.get(state.n_looks, False)

    @property
    def proposes(self) -> bool:
        """Whether configurations joined on the way."""
        return bool(self.told.get("proposes", False))

    @property
    def window(self) -> int:
        """Number of last looks that decide about the winner."""
        return int(self.told["window"])

    @property
    def sentences(self) -> dict[str, str]:
        """What its reasons mean."""
        return dict(self.told["sentences"])

    @property
    def sequential_test(self) -> WaldTest | SpicerTest | None:
        """The sequential test that drops configurations."""
        values = dict(self.told["test"] or {})
        kind = TESTS.get(values.pop("kind", ""))
        return None if kind is None else kind(**values)

    def criterion(self, state: RaceState) -> str:
        """Complete the sentence "It ranks first …"."""
        return self.criteria.get(state.n_looks) or super().criterion(state)


@dataclass(frozen=True)
class Checkpoint:
    """A race that was read from its checkpoint, with the attributes of a fitted search.

    Displays take it for one: ``TracesDisplay.from_search(checkpoint)``. Values of
    hyper-parameters that are neither numbers nor text nor tuples of them are there as
    text.

    Attributes
    ----------
    path : Path
        The file.
    race_ : RaceState
        Everything that happened so far.
    strategy_ : Strategy
        Ranks and explains as the strategy did. It decides nothing.
    stop_reason_ : str or None
        Why the race ended, None if it goes on or was broken off.
    n_under_way : tuple of (int, int)
        How many configurations of the look under way are on disk, and how many it has,
        or those looks together that overlap; zeros between two looks.
    seconds : float
        Seconds from the beginning of the fit to the last record.
    settings : dict
        Class of the search, and estimator, scoring and seed as text.
    scores : ndarray of shape (n_configurations, n_looks)
        Scores with scikit-learn's sign, NaN where absent or failed.
    best_score_estimate_ : ScoreEstimate or None
        What the search found the winner to be worth. None before the race is over, or
        if it was broken off: the estimate needs the weights and groups of the rows,
        and fits on half of them, and a checkpoint has no rows.
    """

    path: Path
    race_: RaceState
    strategy_: Strategy
    stop_reason_: str | None
    n_under_way: tuple[int, int]
    seconds: float
    settings: dict[str, Any]
    scores: FloatArray
    best_score_estimate_: ScoreEstimate | None = None

    @property
    def n_looks_(self) -> int:
        """Number of finished looks."""
        return self.race_.n_looks

    @property
    def configurations(self) -> tuple[Configuration, ...]:
        """The configurations by number."""
        return self.race_.configurations

    @property
    def ranking(self) -> IntArray:
        """Those not dropped, the leader first."""
        self._need_look()
        return ranked_by_score(self.strategy_, self.race_, self.scores)[0]

    @property
    def best_index_(self) -> int:
        """Number of the leader."""
        return int(self.ranking[0])

    @property
    def best_params_(self) -> Configuration:
        """The leader."""
        return self.configurations[self.best_index_]

    @property
    def best_score_(self) -> float:
        """Score of the leader at its last look, or over its folds."""
        return float(self.cv_results_["mean_test_score"][self.best_index_])

    @property
    def cv_results_(self) -> dict[str, Any]:
        """One row per configuration; loads into a data frame."""
        self._need_look()
        return results_table(
            self.race_,
            ranked_by_score(self.strategy_, self.race_, self.scores)[1],
            self.scores,
            self.configurations,
            self.settings["error_score"],
        )

    def summary(self) -> dict[str, Any]:
        """Return what a report says, for :func:`cvst.report.page_html`."""
        scoring = self.settings.get("score")
        self._need_look()
        ranking, ranks = ranked_by_score(self.strategy_, self.race_, self.scores)
        page = race_summary(
            self.race_,
            self.configurations,
            ranking,
            ranks=ranks,
            scores=self.scores,
            scoring=scoring,
            strategy=self.strategy_,
            stop_reason=self.stop_reason_,
        )
        told = estimate_values(self.best_score_estimate_, scoring)
        page["winner"]["estimate"] = told
        return page

    def _need_look(self) -> None:
        if not self.race_.n_looks:
            done, total = self.n_under_way
            raise CheckpointError(
                f"'{self.path}' has no finished look yet: {done} of {total} "
                "configurations of the first are done. Wait, or run the search again."
            )

    def __repr__(self) -> str:
        state = "goes on" if self.stop_reason_ is None else "is over"
        return f"<Checkpoint '{self.path}': the race {state}, {self.race_!r}>"


def load_checkpoint(path: str | os.PathLike[str]) -> Checkpoint:
    """Read the checkpoint of a race that is over, was broken off, or still runs.

    Parameters
    ----------
    path : str or path
        What ``checkpoint`` of a search names. The file is not changed, and no code in
        it is run.

    Returns
    -------
    Checkpoint
        The race so far, for reports and displays.

    Raises
    ------
    CheckpointError
        If the file is not a checkpoint, is damaged, or holds no race yet.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from cvst import RaceGridSearchCV, load_checkpoint
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> file = Path(mkdtemp()) / "iris.checkpoint"
    >>> search = RaceGridSearchCV(
    ...     KNeighborsClassifier(), {"n_neighbors": [1, 5]}, random_state=0,
    ...     checkpoint=file)
    >>> search = search.fit(*load_iris(return_X_y=True))
    >>> load_checkpoint(file).best_params_
    {'n_neighbors': 5}
    """
    path = Path(path)
    # Bytes behind the last good record may be one that is being written.
    story = Story.of(path, read_records(path, Reading()), {})
    if story.begin is None:
        raise CheckpointError(
            f"'{path}' holds no race yet: the search has not begun to fit. Wait, or "
            "run it again."
        )
    try:
        return _checkpoint(path, story)
    except WRONG as error:
        if isinstance(error, CheckpointError):
            raise
        raise CheckpointError(
            f"'{path}' is damaged: its parts do not fit together "
            f"({type(error).__name__}: {error}). Name another file."
        ) from error


def _checkpoint(path: Path, story: Story) -> Checkpoint:
    assert story.begin is not None
    values = dict(story.begin["problem"])
    values["configurations"] = tuple(values["configurations"])
    if values["n_configurations"] != len(values["configurations"]):
        # Tables of that many would fill the memory.
        raise ValueError(f"{values['n_configurations']} configurations are missing")
    space = space_of(values["configurations"], values["covered"])
    # In the order of their looks, which gives each the number that it had.
    joined = tuple(one for facts in story.facts for one in facts["joined"])
    state = RaceState(Problem(**values, space=space), tuple(story.looks), joined)
    scores = np.full((state.n_configurations, state.n_looks), np.nan)
    rankings, criteria, by_mean = {}, {}, {}
    for place, (seen, facts) in enumerate(zip(story.looks, story.facts, strict=True)):
        if seen.scores is not None:
            scores[seen.look.configurations, place] = seen.scores
        if "ranking" in facts:
            rankings[place + 1] = np.asarray(facts["ranking"], dtype=np.intp)
            criteria[place + 1] = str(facts["criterion"])
            by_mean[place + 1] = bool(facts["by_mean"])
    strategy = RecordedStrategy(story.begin["strategy"], rankings, criteria, by_mean)
    reason = story.end
    # Ties are found anew, as a fitted search does, and not read from the file.
    estimate = None
    if reason is not None and state.observations:
        winner = int(ranked_by_score(strategy, state, scores)[0][0])
        tie = tie_of(state, winner, strategy)
        reason = settled_reason(reason, tie, strategy)
        estimate = _estimate(story.facts[-1].get("estimate"), winner)
    return Checkpoint(
        path,
        state,
        strategy,
        reason,
        story.n_under_way,
        story.spent,
        dict(story.header["search"]),
        scores,
        estimate,
    )


def _estimate(told: Mapping[str, Any] | None, winner: int) -> ScoreEstimate | None:
    # A function of the user's may have chosen another one, which is not known here.
    if told is None or told["winner"] != winner:
        return None
    return ScoreEstimate(
        value=float(told["value"]),
        low=float(told["low"]),
        high=float(told["high"]),
        level=float(told["level"]),
        optimism=float(told["optimism"]),
        growth=float(told["growth"]),
        n_configurations=int(told["n_configurations"]),
        method=str(told["method"]),
    )
