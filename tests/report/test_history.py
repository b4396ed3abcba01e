import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from cvst.exceptions import InvalidInputError
from cvst.race import Problem, RaceState
from cvst.report import history


def test_each_row_is_a_look_at_a_configuration(any_search):
    """Witness: the tables of the state."""
    state = any_search.race_
    table = pd.DataFrame(history(any_search))
    assert len(table) == state.present.sum()
    for row in table.itertuples():
        assert state.present[row.configuration, row.look - 1]
        loss = state.mean_losses[row.configuration, row.look - 1]
        assert row.mean_loss == loss or np.isnan(loss)
        params = any_search.cv_results_["params"][row.configuration]
        for name, value in params.items():
            shown = getattr(row, f"param_{name}")
            # A data frame has no None among numbers.
            assert shown == value or (value is None and np.isnan(shown))
    assert table["look"].is_monotonic_increasing
    assert (table.groupby("look")["elapsed"].nunique() == 1).all()
    np.testing.assert_array_equal(
        table.groupby("look")["n_train"].first(), state.subset_sizes
    )


def test_the_winner_led_last(any_search):
    table = pd.DataFrame(history(any_search))
    led = table[table["is_incumbent"]]
    assert (led.groupby("look").size() == 1).all()
    # The winner need not take part in the last look, but no other led there.
    last = led["configuration"].iloc[-1]
    assert last == any_search.best_index_ or led["look"].iloc[-1] < any_search.n_looks_


def test_a_race_before_its_first_look_has_empty_columns():
    state = RaceState(Problem(n_configurations=2, n_samples=10))
    columns = history(state, [{"C": 1}, {"C": 2}])
    assert set(map(len, columns.values())) == {0}
    assert "param_C" in columns


def test_what_cannot_be_told_is_refused_in_one_sentence(fitted):
    with pytest.raises(InvalidInputError, match="Fit it first"):
        history(clone(fitted))
    with pytest.raises(InvalidInputError, match="1 configurations for a race of 18"):
        history(fitted.race_, [{"C": 1}])
