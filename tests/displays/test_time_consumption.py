import numpy as np
import pytest
from sklearn.linear_model import Ridge

from cvst import RaceGridSearchCV
from cvst._text import about_seconds
from cvst.displays import TimeConsumptionDisplay
from cvst.race import Look, LookLosses, Problem, RaceState, Verdict
from cvst.race.machinery import plain_search_seconds
from cvst.report import summary


def race(*looks):
    """1100 rows; a fit takes (n / 1000)^2 s among three and thrice as long alone."""
    state = RaceState(Problem(n_configurations=3, n_samples=1100))
    for n_train, members in looks:
        look = Look(*state.problem.prefix(n_train), n_train, np.array(members))
        n, n_test = len(members), 1100 - n_train
        each = (n_train / 1000) ** 2 * (1 if n == 3 else 3)
        seen = LookLosses(
            losses=np.ones((n, 2)),
            mean_losses=np.ones(n),
            fit_seconds=np.full(n, each),
            score_seconds=np.full(n, 1e-6 * n_test),
        )
        drops = dict.fromkeys(set(range(3)) - set(members), "sequential test")
        verdict = Verdict(np.ones(n, dtype=bool), np.ones(n), drops)
        state = state.observe(look, seen, verdict)
    return state


class Fitted:
    """As much of a fitted search as a display reads."""

    best_index_ = 0
    strategy_ = None
    cv_results_ = {"rank_test_score": [1, 2, 3], "params": [{}, {}, {}]}  # noqa: RUF012 # a stand-in

    def __init__(self, state):
        self.race_ = state


EVERYBODY, ONE = [0, 1, 2], [1]


def test_times_of_a_look_are_added_up():
    """By hand: three fits, three fits, one fit, and as many predictions."""
    state = race((100, EVERYBODY), (200, EVERYBODY), (400, ONE))
    display = TimeConsumptionDisplay.from_search(Fitted(state))
    looks = [3 * (0.01 + 1e-3), 3 * (0.04 + 0.9e-3), 3 * 0.16 + 0.7e-3]
    np.testing.assert_allclose(display.seconds, looks)


@pytest.mark.parametrize(
    "looks",
    [
        [(100, EVERYBODY), (200, EVERYBODY), (400, EVERYBODY)],
        [(100, EVERYBODY), (200, EVERYBODY), (400, EVERYBODY), (500, ONE)],
        [(100, EVERYBODY), (200, ONE), (400, ONE)],
    ],
)
def test_plain_search_is_the_final_fit_times_folds(looks):
    """Three configurations alike, ten folds of 990 of 1100 rows, one at a time."""
    search = Fitted(race(*looks))
    search.refit_time_ = 3 * 1.1**2
    display = TimeConsumptionDisplay.from_search(search)
    # Every row is predicted once; between linear and cubic, the growth is open.
    steep, flat = (3 * 10 * 3 * 1.1**2 * 0.9**power + 3.3e-3 for power in (3.0, 0.5))
    assert steep <= display.cross_validation_seconds <= flat


def test_report_notebook_and_display_agree(regression):
    """One estimator: all say the same of one search. So does the command line."""
    search = RaceGridSearchCV(Ridge(), {"alpha": [0.1, 1.0, 10.0]}).fit(*regression)
    display = TimeConsumptionDisplay.from_search(search, n_folds=5)
    expected = plain_search_seconds(
        search.race_, search.best_index_, 5, alone=search.refit_time_, shared=True
    )
    assert display.cross_validation_seconds == expected
    told = summary(search)["plain_search"]
    assert told == {"n_folds": 5, "seconds": expected}
    sentence = f"a plain 5-fold search would take {about_seconds(expected)}"
    assert sentence in search._repr_html_()


def test_a_plan_is_drawn_as_it_is(regression):
    search = RaceGridSearchCV(Ridge(), {"alpha": [0.1, 1.0, 10.0]}, random_state=0)
    plan = search.plan(*regression, n_folds=5)

    display = TimeConsumptionDisplay.from_plan(plan).plot()

    heights = [bar.get_height() for bar in display.ax_.patches]
    np.testing.assert_allclose(heights, [look.seconds for look in plan.looks])
    line = display.ax_.get_lines()[0].get_ydata()
    assert line[-1] == pytest.approx(plan.race_seconds)
    assert display.ax_.get_yscale() == "log"
    assert any("5-fold" in text.get_text() for text in display.ax_.texts)


@pytest.mark.parametrize(("full", "word"), [(8.0, "faster"), (1.0, "slower")])
def test_the_title_says_who_is_faster(full, word):
    display = TimeConsumptionDisplay(
        seconds=np.array([1.0, 1.0]),
        subset_sizes=np.array([10, 20]),
        stages=["race"] * 2,
        cross_validation_seconds=full,
        n_folds=10,
    )
    title = display.plot().ax_.get_title(loc="left")
    assert f"about {4 if word == 'faster' else 2} times {word}" in title


@pytest.fixture
def regression():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(220, 2))
    return X, X[:, 0] + rng.normal(scale=0.1, size=220)
