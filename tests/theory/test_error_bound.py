from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from cvst.exceptions import InvalidInputError, TooFewStepsError
from cvst.statistics import WaldTest
from cvst.theory import (
    drop_error_bound,
    first_drop,
    minimal_steps,
    steady_steps,
    survival_probabilities,
    surviving_paths,
)

LEVELS = [(0.1, 0.01), (0.05, 0.05), (0.3, 0.1)]


def survives(test, trace):
    """Judge every prefix with the test of the race itself."""
    trace = np.array([trace], dtype=bool)
    return not any(
        test.is_loser(trace[:, :step])[0] for step in range(1, len(trace[0]) + 1)
    )


def surviving_traces(test, n_flops, length):
    """Enumerate all traces that begin with the given flops, and filter."""
    head = (0,) * n_flops
    tails = product((0, 1), repeat=length - n_flops)
    return [head + tail for tail in tails if survives(test, head + tail)]


@pytest.mark.parametrize(("loser_level", "winner_level"), LEVELS)
@pytest.mark.parametrize("max_steps", [7, 8, 10, 12])
def test_paths_are_counted_as_by_enumeration(max_steps, loser_level, winner_level):
    """Witness: all traces, each judged step by step with the test of the race."""
    test = WaldTest(max_steps, loser_level, winner_level)
    n_flops = min(first_drop(test) - 1, max_steps)

    paths = surviving_paths(max_steps, loser_level, winner_level)

    for step in {n_flops, (n_flops + max_steps) // 2, max_steps}:
        traces = surviving_traces(test, n_flops, step)
        wins = np.bincount([sum(trace) for trace in traces], minlength=max_steps + 1)
        assert paths[:, step].tolist() == wins.tolist()


def test_paths_obey_the_four_cases_of_the_lemma():
    """The worst case of the paper's figure: 20 steps, a safety zone of 7."""
    test, paths = WaldTest(20), surviving_paths(20)

    assert np.all(paths[0, :8] == 1)
    for step in range(8, 21):
        for wins in range(21):
            if wins == step - 7:
                expected = 1
            elif test.loser_boundary(step) < wins < step - 7:
                expected = paths[wins, step - 1] + paths[wins - 1, step - 1]
            else:
                expected = 0
            assert paths[wins, step] == expected


@pytest.mark.parametrize(("loser_level", "winner_level"), LEVELS)
@pytest.mark.parametrize("max_steps", [8, 12])
def test_the_bound_is_the_weight_of_the_dropped_traces(
    max_steps, loser_level, winner_level
):
    """Witness: the sum over enumerated traces, in fractions, hence equal."""
    test = WaldTest(max_steps, loser_level, winner_level)
    n_flops = min(first_drop(test) - 1, max_steps)
    chance = Fraction(7, 9)
    alive = Fraction(0)
    for trace in surviving_traces(test, n_flops, max_steps):
        wins = sum(trace)
        alive += chance**wins * (1 - chance) ** (max_steps - n_flops - wins)

    actual = drop_error_bound(chance, max_steps, loser_level, winner_level)

    assert actual == 1 - alive


@pytest.mark.parametrize("max_steps", [10, 20, 33, 100, 1000])
@pytest.mark.parametrize("win_probability", [0.51, 0.9, 0.99])
def test_the_bound_agrees_with_the_chain_of_probabilities(max_steps, win_probability):
    """Witness: floating point probabilities instead of counted paths."""
    test = WaldTest(max_steps)
    chances = np.full(max_steps, win_probability)
    chances[: first_drop(test) - 1] = 0

    actual = drop_error_bound(win_probability, max_steps)

    alive = survival_probabilities(test, chances)[-1]
    assert actual == pytest.approx(1 - alive, rel=1e-9, abs=1e-12)


def test_the_bound_dominates_every_other_history_in_the_zone():
    """Flopping all the way is the worst a late winner can do in the safety zone."""
    test = WaldTest(20)
    bound = drop_error_bound(0.9, 20)
    rates = []
    for head in product((0.0, 1.0), repeat=first_drop(test) - 1):
        chances = np.concatenate([head, np.full(20 - len(head), 0.9)])
        rates.append(1 - survival_probabilities(test, chances)[-1])

    assert max(rates) == pytest.approx(bound)
    assert np.sum(np.isclose(rates, bound)) == 1


def test_the_bound_is_the_simulated_rate_of_the_worst_case():
    rng = np.random.default_rng(0)
    test = WaldTest(10)
    traces = rng.random((20_000, 10)) < 0.9
    traces[:, :2] = False
    dropped = np.zeros(len(traces), dtype=bool)
    for step in range(1, 11):
        dropped |= test.is_loser(traces[:, :step])

    bound = drop_error_bound(0.9, 10)

    assert dropped.mean() == pytest.approx(bound, abs=4 * np.sqrt(bound / len(traces)))


def test_the_bound_tends_to_the_ruin_of_a_gambler():
    """The boundary's slope tends to 1/2, so one loss too many comes with (1-p)/p."""
    assert drop_error_bound(0.9, 1000) == pytest.approx(1 / 9)
    assert drop_error_bound(0.95, 1000) == pytest.approx(1 / 19)


def test_certain_chances_give_certain_bounds():
    assert drop_error_bound(1.0, 10) == 0.0
    assert drop_error_bound(Fraction(0), 10) == 1
    assert drop_error_bound(0.0, 10) == 1.0
    # A zone longer than the race: nothing is ever dropped.
    assert drop_error_bound(0.3, 10, loser_level=1e-6) == 0.0


def test_bad_input_is_refused():
    with pytest.raises(InvalidInputError, match="win_probability=-1"):
        drop_error_bound(-1, 10)
    with pytest.raises(TooFewStepsError, match="at least 7 steps"):
        surviving_paths(5)


@pytest.mark.parametrize(("loser_level", "winner_level"), [(0.1, 0.01), (0.5, 0.01)])
def test_steady_steps_leave_out_jumps_and_nothing_else(loser_level, winner_level):
    """A jump adds a whole flop of a winner, 1 - pi, to the bound of its neighbours."""
    levels = loser_level, winner_level
    steady = steady_steps(*levels)
    fewest = minimal_steps(*levels)
    jumps = {*range(fewest, 21)} - {*steady}

    assert steady == sorted(steady)
    assert jumps
    highest = max(drop_error_bound(0.9, steps, *levels) for steps in steady)
    for steps in jumps:
        assert drop_error_bound(0.9, steps, *levels) > highest + 0.3 * (1 - 0.9)


def test_the_jumps_of_the_default_levels_are_known():
    """Those that can be seen in the figure of the bound; 32 lies beyond 20 steps."""
    assert {*range(7, 21)} - {*steady_steps()} == {9, 11, 13}
    assert 32 not in steady_steps(most_steps=40)
    assert steady_steps(winner_level=1e-9) == []
