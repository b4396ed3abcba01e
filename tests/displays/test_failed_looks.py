"""Pictures of a race in which no fit has succeeded yet."""

import numpy as np
import pytest

import cvst.displays
from cvst.displays import (
    ContourDisplay,
    IncumbentDisplay,
    LearningCurvesDisplay,
    RacePathsDisplay,
    SurvivorsDisplay,
)
from cvst.exceptions import InvalidInputError
from cvst.race import Look, LookLosses, Problem, RaceState, Verdict

PARAMS = [{"a": number, "b": 10.0**number} for number in range(4)]
ALL = [
    one
    for one in map(vars(cvst.displays).get, cvst.displays.__all__)
    if hasattr(one, "from_state")
]
NAMELESS = IncumbentDisplay, RacePathsDisplay, SurvivorsDisplay


@pytest.fixture(params=["subsets", "folds"])
def failed(request):
    """Return a race of four whose two looks failed altogether."""
    state = RaceState(Problem(n_configurations=4, n_samples=100))
    nothing = np.full(4, np.nan)
    for n_train in (40, 60):
        rows = slice(0, n_train), slice(n_train, 100)
        fold = request.param == "folds"
        look = Look(*rows, n_train, np.arange(4), stage="look", is_fold=fold)
        seen = LookLosses(
            losses=nothing[:, None],
            mean_losses=nothing,
            fit_seconds=np.ones(4),
            score_seconds=np.zeros(4),
            standard_errors=nothing,
            failures=dict.fromkeys(range(4), "no luck"),
        )
        state = state.observe(look, seen, Verdict(np.zeros(4, dtype=bool), nothing))
    return state


@pytest.mark.parametrize("display", ALL)
def test_every_picture_can_be_drawn_or_says_why_not(failed, display):
    given = () if display in NAMELESS else (PARAMS,)
    if display is ContourDisplay:
        with pytest.raises(InvalidInputError, match="All fits of this race have fail"):
            display.from_state(failed, *given)
    else:
        display.from_state(failed, *given).plot().figure_.canvas.draw()


def test_curves_say_that_there_are_none(failed):
    display = LearningCurvesDisplay.from_state(failed).plot()
    assert [text.get_text() for text in display.ax_.texts] == [
        "All fits so far have failed."
    ]


def test_curves_need_not_be_told_apart(hand_made):
    """All are grey then, and the axes hold all of them."""
    display = LearningCurvesDisplay.from_state(hand_made, n_survivors=0, n_dropped=0)
    display.plot()
    low, high = display.ax_.get_ylim()
    losses = np.concatenate([curve.losses for curve in display.others])
    assert len(display.others) == 4
    assert low < losses.min() < losses.max() < high
