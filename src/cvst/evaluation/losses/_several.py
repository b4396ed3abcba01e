"""Several scores: one to race on, the others to be recorded besides."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from cvst._sklearn_compat import scorer_parts
from cvst.evaluation.losses._pointwise import PointwiseLoss
from cvst.evaluation.losses._resolve import is_metric, resolve_loss
from cvst.evaluation.losses.influence import OpaqueScore
from cvst.exceptions import InvalidInputError

__all__ = ["SINGLE", "Scoring", "named_scores", "raced_name", "resolve_scoring"]

# A rule of choice that people ask for by this name. It needs to be told what is simple.
ONE_STANDARD_ERROR = "one_standard_error"

# The name of a score that has none because it is the only one, as in scikit-learn.
SINGLE = "score"


@dataclass(frozen=True)
class Scoring:
    """What is raced on, and what is recorded besides.

    Attributes
    ----------
    loss : PointwiseLoss
        What is raced on.
    name : str
        Its name in ``cv_results_``.
    others : mapping of str to PointwiseLoss
        The other scores by name; a callable that returns several brings them along.
    several : bool
        Whether there are several scores.
    chosen_by : str
        The name of the score that ``refit`` chooses by; that of the race by default.
    """

    loss: PointwiseLoss
    name: str = SINGLE
    others: Mapping[str, PointwiseLoss] = field(default_factory=dict)
    several: bool = False
    chosen_by: str = ""

    def __post_init__(self) -> None:
        # The fields of a frozen object are set like this.
        object.__setattr__(self, "chosen_by", self.chosen_by or self.name)

    @property
    def responses(self) -> tuple[str, ...]:
        """What models are asked for, that of the race first."""
        others = [loss.response for loss in self.others.values()]
        return tuple(dict.fromkeys([self.loss.response, *others]))


def resolve_scoring(
    scoring: Any,
    estimator: Any,
    y: Any,
    refit: Any = True,
    race_by: str | None = None,
    *,
    metadata: bool = False,
    other_metadata: Collection[str] = (),
) -> Scoring:
    """Return what to race on and what to record.

    Parameters
    ----------
    scoring : as for :func:`resolve_loss`, or a list, tuple, set or dict of them
        The scores; a callable may return a dictionary of numbers.
    estimator : estimator
        The estimator to be raced.
    y : array-like or None
        All targets of the race.
    refit : bool, str or callable
        A name is that of the score to choose by, and to race on without ``race_by``.
    race_by : str or None
        The name of the score to race on.
    metadata : bool, default=False
        Whether the score to race on gets more than targets, predictions and weights.
    other_metadata : collection of str, default=()
        Names of other scores that do.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> several = resolve_scoring(["r2", "neg_max_error"], Ridge(), [1.0, 2.0], "r2")
    >>> several.name, list(several.others)
    ('r2', ['neg_max_error'])
    """
    name = raced_name(scoring, refit, race_by)
    if _is_opaque(scoring):
        shown = getattr(scoring, "__name__", repr(scoring))
        # It is unknown before the first fit whether the callable returns a dictionary.
        # That one of its scores is named is the only sign, and "score" may be the only
        # one, too.
        named = isinstance(refit if race_by is None else race_by, str)
        key = name if named else None
        chosen_by = refit if isinstance(refit, str) and named else None
        opaque = OpaqueScore(scoring, name=shown, key=key, refit=chosen_by)
        opaque = opaque.for_target(estimator, y)
        several = key not in (None, SINGLE)
        return Scoring(opaque, name, several=several, chosen_by=chosen_by or "")
    scores = named_scores(scoring)
    if scores is None:
        return Scoring(resolve_loss(scoring, estimator, y, metadata=metadata))
    asked = {*other_metadata, name} if metadata else set(other_metadata)
    losses = {
        each: resolve_loss(one, estimator, y, metadata=each in asked)
        for each, one in scores.items()
    }
    loss = losses.pop(name)
    chosen_by = refit if isinstance(refit, str) else ""
    return Scoring(loss, name, losses, several=True, chosen_by=chosen_by)


def named_scores(scoring: Any) -> dict[str, Any] | None:
    """Return several scores by name, None if there is only one.

    Examples
    --------
    >>> named_scores(("accuracy", "roc_auc"))
    {'accuracy': 'accuracy', 'roc_auc': 'roc_auc'}
    """
    if isinstance(scoring, Mapping):
        scores = dict(scoring)
    elif isinstance(scoring, list | tuple | set):
        # The order of a set of texts changes from process to process.
        names = sorted(scoring) if isinstance(scoring, set) else list(scoring)
        if not all(isinstance(one, str) for one in names):
            raise InvalidInputError(
                f"scoring={scoring!r} holds something else than names of scores. Give "
                "scorers and functions names: scoring={'my score': scorer}."
            )
        if len(set(names)) < len(names):
            raise InvalidInputError(
                f"scoring={scoring!r} holds a name twice. Name every score once."
            )
        scores = {name: name for name in names}
    else:
        return None
    if not scores or not all(isinstance(name, str) for name in scores):
        raise InvalidInputError(
            f"scoring={scoring!r} does not name its scores. Give at least one, with a "
            "text as its name."
        )
    return scores


def raced_name(scoring: Any, refit: Any, race_by: str | None) -> str:
    """Return the name of the score to race on."""
    scores = None if _is_opaque(scoring) else named_scores(scoring)
    if refit == ONE_STANDARD_ERROR and ONE_STANDARD_ERROR not in (scores or ()):
        raise InvalidInputError(
            f"refit={refit!r} does not say what is simple. Pass refit="
            "SimplestNotWorse('alpha:-') if the larger your alpha, the simpler."
        )
    if _is_opaque(scoring):
        chosen = refit if race_by is None else race_by
        return chosen if isinstance(chosen, str) else SINGLE
    if scores is None:
        if isinstance(refit, str) and refit not in _names_of(scoring):
            raise InvalidInputError(
                f"refit={refit!r} is not the name of the score. Pass True, or "
                "SimplestNotWorse('alpha:-') for the simplest configuration that is "
                "not worse than the best."
            )
        if race_by not in (None, SINGLE, scoring):
            raise InvalidInputError(
                f"race_by={race_by!r} chooses among several scores, but scoring is "
                "only one. Leave it out, or pass several."
            )
        return SINGLE
    return _named_among(scores, refit, race_by)


def _named_among(scores: Mapping[str, Any], refit: Any, race_by: str | None) -> str:
    """Return the one of several scores to race on; refuse names of none of them."""
    known = ", ".join(map(repr, scores))
    for what, named in (("race_by", race_by), ("refit", refit)):
        if isinstance(named, str) and named not in scores:
            raise InvalidInputError(
                f"{what}={named!r} is none of the scores, which are {known}. Name one "
                "of them."
            )
    chosen = refit if race_by is None else race_by
    if isinstance(chosen, str):
        return chosen
    raise InvalidInputError(
        f"refit={refit!r} does not say which of the scores {known} to race on. Name "
        "one as refit, or as race_by if nothing is to be refitted or a function "
        "chooses."
    )


def _names_of(scoring: Any) -> set[Any]:
    """Return what a single score may be called."""
    parts = None if isinstance(scoring, str) else scorer_parts(scoring)
    function = None if parts is None else getattr(parts.function, "__name__", None)
    return {SINGLE, function, getattr(scoring, "name", None)} | (
        {scoring} if isinstance(scoring, str) else set()
    )


def _is_opaque(scoring: Any) -> bool:
    """Return whether a scorer can only be called."""
    known = isinstance(scoring, PointwiseLoss) or scorer_parts(scoring) is not None
    # A metric of scikit-learn is refused where a single score is resolved.
    return callable(scoring) and not known and not is_metric(scoring)
