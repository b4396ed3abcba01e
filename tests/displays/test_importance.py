import numpy as np
import pytest
from sklearn.base import clone

from cvst.displays import ImportanceDisplay
from cvst.displays._configurations import SeenConfigurations
from cvst.race import Look, LookLosses, Problem, RaceState, Verdict


def state_of(losses, n_train=50, state=None, who=None):
    """Return a race with one more look, in which nothing is dropped."""
    if state is None:
        state = RaceState(Problem(n_configurations=len(losses), n_samples=100))
    who = np.arange(len(losses)) if who is None else np.asarray(who)
    losses = np.asarray(losses, dtype=float)
    seen = LookLosses(losses[:, None], losses, np.zeros(len(who)), np.zeros(len(who)))
    rows = slice(0, n_train), slice(n_train, 100)
    look = Look(*rows, n_train, who, stage=f"on {n_train}")
    return state.observe(look, seen, Verdict(losses < 9, np.full(len(who), np.nan)))


@pytest.fixture(scope="module")
def drawn():
    rng = np.random.default_rng(0)
    return [
        {"a": a, "b": b, "kind": kind, "noise": noise}
        for a, b, noise, kind in zip(
            10 ** rng.uniform(-3, 1, 150),
            rng.uniform(0, 1, 150),
            rng.uniform(0, 1, 150),
            rng.choice(["x", "y", "z"], 150),
            strict=True,
        )
    ]


def test_additive_effects_are_found_in_their_size(drawn):
    """Witness: variances of log a, which is uniform on 4 decades, and of b."""
    losses = [np.log10(one["a"]) + 2 * one["b"] for one in drawn]
    display = ImportanceDisplay.from_state(state_of(losses), drawn)
    assert display.names[:2] == ("a", "b")
    shares = dict(zip(display.names, display.means, strict=True))
    variances = np.array([4**2 / 12, 2**2 / 12])
    expected = variances / variances.sum()
    assert shares["a"] == pytest.approx(expected[0], abs=0.12)
    assert shares["b"] == pytest.approx(expected[1], abs=0.12)
    assert shares["noise"] < 0.05
    assert shares["kind"] < 0.05


def test_parameters_that_act_together_matter_though_not_alone(drawn):
    """The product of two centred parameters has no main effects."""
    losses = [(one["b"] - 0.5) * (one["noise"] - 0.5) for one in drawn]
    display = ImportanceDisplay.from_state(state_of(losses), drawn)
    assert set(display.names[:2]) == {"b", "noise"}
    assert (display.alone.mean(axis=1)[:2] < 0.3).all()
    assert (display.means[:2] > 0.5).all()


def test_categories_count_as_one_parameter(drawn):
    losses = [{"x": 0.0, "y": 1.0, "z": 0.2}[one["kind"]] for one in drawn]
    display = ImportanceDisplay.from_state(state_of(losses), drawn)
    assert display.names[0] == "kind"
    assert display.means[0] > 0.9


def test_more_configurations_make_the_interval_shorter(drawn):
    rng = np.random.default_rng(1)
    losses = [one["b"] + rng.normal(scale=0.3) for one in drawn]
    few = ImportanceDisplay.from_state(state_of(losses[:15]), drawn[:15])
    many = ImportanceDisplay.from_state(state_of(losses), drawn)
    length = {
        name: np.ptp(display.intervals[list(display.names).index("b")])
        for name, display in (("few", few), ("many", many))
    }
    assert length["many"] < length["few"]


def test_one_parameter_explains_all(proposed):
    configurations = [{"C": c} for c in np.logspace(-3, 3, 20)]
    state = state_of(np.linspace(0, 1, 20))
    display = ImportanceDisplay.from_state(state, configurations)
    np.testing.assert_allclose(display.means, 1)


def test_too_few_configurations_are_said_to_be_too_few(drawn):
    display = ImportanceDisplay.from_state(state_of([1.0, 2.0, 3.0]), drawn[:3])
    assert display.too_few
    text = display.plot().ax_.texts[0].get_text()
    assert "Too few to tell: 3 configurations have a loss." in text


def test_losses_on_few_rows_are_made_comparable():
    """Four on few rows; two go on, where losses are 10 lower, one joins there."""
    state = state_of([11.0, 12.0, 13.0, 14.0], n_train=20)
    state = state_of([1.0, 2.0], n_train=80, state=state, who=[0, 1]).admit([{"c": 9}])
    state = state_of([2.5], n_train=80, state=state, who=[4])
    seen = SeenConfigurations.from_state(state, [{"c": n} for n in range(5)], None)
    np.testing.assert_allclose(seen.comparable, [11, 12, 13, 14, 12.5], atol=1e-6)
    np.testing.assert_allclose(seen.losses, [1, 2, 13, 14, 2.5])


def test_searches_of_all_kinds_have_a_picture(fitted, proposed):
    for search in (fitted, proposed):
        display = ImportanceDisplay.from_search(search).plot()
        labels = [text.get_text() for text in display.ax_.get_yticklabels()]
        assert labels == list(display.names)
        assert len(display.ax_.patches) == 2 * len(labels)


def test_an_unfitted_search_is_refused(fitted):
    with pytest.raises(ValueError, match="Fit it first"):
        ImportanceDisplay.from_search(clone(fitted))
