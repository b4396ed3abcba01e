import numpy as np
import pytest

from cvst.exceptions import InvalidInputError
from cvst.race import SimilarTraces
from cvst.statistics import SpicerTest, WaldTest
from cvst.theory import simulate_speed_gain, speedup_ceiling

CERTAIN = {"loser_probabilities": (0.0, 0.0), "winner_probabilities": (1.0, 1.0)}


def one_race(rng, max_steps, n_losers, n_winners):
    """Run Algorithm 1 with the rules of the race, one configuration at a time."""
    chances = np.concatenate(
        [rng.uniform(0, 0.1, n_losers), rng.uniform(0.9, 1, n_winners)]
    )
    test = WaldTest(max_steps)
    rule = SimilarTraces(window=round(0.3 * max_steps), level=0.05)
    traces = np.zeros((n_losers + n_winners, 0), dtype=bool)
    cost = 0.0
    for step in range(1, max_steps + 1):
        cost += len(traces) * (step / (max_steps + 1)) ** 3
        top = rng.random(len(chances)) < chances
        traces = np.column_stack([traces, top])
        stays = ~test.is_loser(traces)
        traces, chances = traces[stays], chances[stays]
        if not len(traces) or rule.should_stop(traces):
            break
    return (n_losers + n_winners) * 10 * 0.9**3 / cost


def test_certain_losers_and_winners_give_the_cost_worked_out_by_hand():
    """All run three steps of ten; the winners a fourth, where the race can stop."""
    result = simulate_speed_gain(max_steps=[10], n_resamples=2, **CERTAIN)

    for gains, share in zip(result.gains, (0.25, 0.5, 0.75), strict=True):
        expected = 7290 / ((1 + 8 + 27 + share * 64) * 1000 / 1331)
        np.testing.assert_allclose(gains, expected)
    assert np.all(result.steps_run == 4)
    assert np.all(result.winners_dropped == 0)


def test_without_early_stopping_the_winners_run_to_the_end():
    result = simulate_speed_gain(
        max_steps=[10], n_resamples=2, stopping_level=1.0, **CERTAIN
    )

    steps = np.arange(1, 11)
    cost = np.sum(np.where(steps <= 3, 1, 0.25) * (steps / 11) ** 3)
    np.testing.assert_allclose(result.gains[0], 7.29 / cost)
    assert np.all(result.steps_run == 10)


def test_the_races_are_those_of_the_rules_one_by_one():
    """Witness: the rules of the race itself, in a loop; means within four errors."""
    rng = np.random.default_rng(1)
    witness = np.array([one_race(rng, 12, 20, 20) for _ in range(400)])

    gains = simulate_speed_gain(
        max_steps=[12], problems={"medium": 0.5}, n_configurations=40, n_resamples=400
    ).gains[0, 0]

    error = np.sqrt((witness.var() + gains.var()) / 400)
    assert abs(gains.mean() - witness.mean()) < 4 * error
    assert gains.std() == pytest.approx(witness.std(), rel=0.25)


def test_no_race_beats_the_ceiling():
    result = simulate_speed_gain(max_steps=[10, 20, 50], n_resamples=50)

    for column, steps in enumerate((10, 20, 50)):
        assert result.gains[:, column].max() < speedup_ceiling(steps, complexity=3)


def test_more_steps_make_races_slower():
    """The paper's finding: a rapid decline from 10 steps on."""
    steps = [10, 20, 40, 80]
    means = simulate_speed_gain(max_steps=steps, n_resamples=50).gains.mean(axis=2)

    assert means.shape == (3, 4)
    assert np.all(np.diff(means, axis=1) < 0)


def test_the_closed_test_is_the_faster_one():
    """The paper's finding, for every problem and number of steps."""
    settings = {"max_steps": [10, 20, 50], "n_resamples": 50}
    closed = simulate_speed_gain(SpicerTest, **settings).gains.mean(axis=2)
    opened = simulate_speed_gain(WaldTest, **settings).gains.mean(axis=2)

    assert np.all(closed > 1.2 * opened)


def test_dropped_winners_are_counted():
    """Winners that always flop are dropped with the losers."""
    never = (0.0, 0.0)
    result = simulate_speed_gain(
        max_steps=[10],
        n_resamples=3,
        loser_probabilities=never,
        winner_probabilities=never,
    )

    assert np.all(result.winners_dropped == 1)
    assert np.all(result.steps_run == 3)


def test_a_seed_fixes_the_simulation():
    first, again, other = (
        simulate_speed_gain(max_steps=[10], n_resamples=9, seed=seed).gains
        for seed in (1, 1, 2)
    )

    np.testing.assert_array_equal(first, again)
    assert np.any(first != other)


def test_bad_input_is_refused():
    with pytest.raises(InvalidInputError, match=r"problems\['odd'\]=2"):
        simulate_speed_gain(problems={"odd": 2})
    with pytest.raises(InvalidInputError, match="n_configurations=1"):
        simulate_speed_gain(n_configurations=1)
    with pytest.raises(InvalidInputError, match=r"win probability=1\.5"):
        simulate_speed_gain(winner_probabilities=(0.9, 1.5))
