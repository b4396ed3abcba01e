"""What an interrupt after the race leaves out, and how that is told."""

from __future__ import annotations

import warnings

from cvst._searched import Search
from cvst._users_line import users_line
from cvst.exceptions import CVSTWarning

__all__ = ["warn_of_what_is_missing"]

# What a search was at, in the words of ``interrupted_in_``.
AT_WORK = {
    "estimate": "while it estimated the score on new rows",
    "predictions": "in the fits for out-of-fold predictions",
    "final_fit": "in the final fit",
    "ensemble_fit": "in the fit of the ensemble",
}


def warn_of_what_is_missing(search: Search, place: str | None) -> None:
    """Say what a search lacks that was interrupted after its race.

    ``stop_reason_`` says why the race ended, which an interrupt after it does not
    change.
    """
    when = AT_WORK.get(place or "")
    if when is None:
        return
    settings = search.get_params(deep=False)
    ensemble = settings["ensemble"]
    wanted = {
        "out_of_fold_predictions_": settings["return_predictions"] or ensemble,
        "ensemble_": ensemble,
        "best_estimator_": bool(search.refit),
        "ensemble_estimator_": ensemble,
    }
    missing = [name for name, is_wanted in wanted.items() if is_wanted]
    missing = [name for name in missing if not hasattr(search, name)]
    told = f"there is no {' and no '.join(missing)}"
    if not missing:
        told = (
            "ensemble_estimator_ is best_estimator_"
            if place == "ensemble_fit"
            else "best_score_estimate_ may be None"
        )
    warnings.warn(
        f"The search was interrupted {when}, after its race: {told}.",
        CVSTWarning,
        stacklevel=users_line(),
    )
