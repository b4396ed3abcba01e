"""Work that runs out of memory, at whatever place: one outcome per configuration."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from cvst.evaluation import BatchEvaluator, OneByOne, Task
from cvst.evaluation._faults import outcomes_within_memory


class Forgetful(BatchEvaluator):
    """Runs out of memory after some outcomes of each task; 0 is before the first."""

    prefer = "threads"

    def __init__(self, n_outcomes):
        self.n_outcomes = n_outcomes

    def groups(self, estimator, configurations):
        return [list(configurations)]

    def evaluate(self, task):
        for count, outcome in enumerate(OneByOne().evaluate(task)):
            if count == self.n_outcomes:
                raise MemoryError
            yield outcome
        raise MemoryError


@pytest.mark.parametrize("n_outcomes", range(5))
@pytest.mark.parametrize("n_configurations", range(1, 5))
def test_every_configuration_has_one_outcome(n_outcomes, n_configurations, caplog):
    """Also if the memory ends after the last of them; then there is nothing to say."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), rng.normal(size=20)
    grid = {number: {"alpha": 1.0 + number} for number in range(n_configurations)}
    task = Task(Ridge(), grid, X[:15], y[:15], X[15:])
    outcomes = list(outcomes_within_memory(Forgetful(n_outcomes), task))
    found = Counter(outcome.configuration for outcome in outcomes)
    assert found == dict.fromkeys(grid, 1)
    for outcome in outcomes:
        model = Ridge(**grid[outcome.configuration]).fit(X[:15], y[:15])
        np.testing.assert_array_equal(outcome.prediction, model.predict(X[15:]))
    assert bool(caplog.records) == (n_outcomes < n_configurations)
