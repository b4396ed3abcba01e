"""The study of the default: what was fixed beforehand, and how it is judged."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

ROOT = Path(__file__).parents[2] / "benchmarks"


def module(name):
    """Load a file of the study by its path: other benchmarks have the same names."""
    found = importlib.util.spec_from_file_location(
        f"default_{name}", ROOT / "default" / f"{name}.py"
    )
    loaded = importlib.util.module_from_spec(found)
    sys.modules[found.name] = loaded
    found.loader.exec_module(loaded)
    return loaded


random_effect = module("random_effect")
data_sets = module("data_sets")


def anova(groups):
    """Return mean, standard error and both deviations of balanced groups."""
    table = np.array(groups)
    k, n = table.shape
    within = table.var(axis=1, ddof=1).mean()
    means = table.mean(axis=1)
    between = max(0.0, means.var(ddof=1) - within / n)
    error = np.sqrt(means.var(ddof=1) / k)
    return table.mean(), error, np.sqrt(between), np.sqrt(within)


@pytest.mark.parametrize("spread", [0.5, 1.0, 3.0])
def test_balanced_groups_agree_with_the_analysis_of_variance(spread):
    """Restricted likelihood has this closed form where it is not at its border."""
    rng = np.random.default_rng(0)
    groups = [rng.normal(0.2 + spread * rng.normal(), 1.0, 10) for _ in range(30)]
    found = random_effect.mean_of_groups(groups)
    actual = found.value, found.error, found.between, found.within
    np.testing.assert_allclose(actual, anova(groups), rtol=1e-3)


def test_equal_groups_are_one_sample():
    """Without any effect of the group it is the mean of all values."""
    groups = [np.array([1.0, 2.0, 3.0]) for _ in range(6)]
    found = random_effect.mean_of_groups(groups)
    values = np.concatenate(groups)
    assert found.between == 0
    assert found.value == pytest.approx(2.0)
    assert found.error == pytest.approx(stats.sem(values))


def test_groups_of_other_sizes_are_weighted_by_what_they_know():
    """Witness: statsmodels 0.15 on these numbers (MixedLM, restricted likelihood)."""
    rng = np.random.default_rng(0)
    groups = [
        rng.normal(2.0 * rng.normal(), 1, rng.integers(3, 11)) + 0.2 for _ in range(25)
    ]
    found = random_effect.mean_of_groups(groups)
    actual = found.value, found.error, found.between, found.within
    np.testing.assert_allclose(actual, [-0.035786, 0.359865, 1.750539, 0.973318], 1e-4)


def test_interval_uses_student_over_groups():
    """A degree of freedom less than there are groups."""
    mean = random_effect.Mean(1.0, 0.5, 0.1, 0.1, 11)
    low, high = mean.interval(0.9)
    assert high - 1.0 == pytest.approx(0.5 * stats.t.ppf(0.95, 10))
    assert low + high == pytest.approx(2.0)


def test_no_set_had_a_part_in_the_design():
    """Names of the study are not among those of the studies of rules."""
    text = (ROOT / "rules" / "real_data.py").read_text()
    text += (ROOT / "rules" / "problems.py").read_text()
    used = set(re.findall(r'"([a-z_0-9]+)"', text))
    ours = {*data_sets.EVERYDAY, *data_sets.PACKAGED, *data_sets.GENERATORS}
    # The wages of ISLR were used before; these are those of the General Social Survey.
    assert ours & used == {"wages"}
    items = {item for _, item, _, _ in data_sets.PACKAGED.values()}
    assert not items & set(re.findall(r'"([A-Za-z_0-9]+)"', text))


def test_there_are_as_many_sets_as_the_protocol_says():
    """Thirty real sets and six generators."""
    real = {*data_sets.SMALL, *data_sets.EVERYDAY, *data_sets.PACKAGED}
    assert (len(real), len(data_sets.GENERATORS)) == (30, 6)
    protocol = (ROOT / "default" / "PROTOCOL.md").read_text()
    assert "30 real sets and 6 generators" in protocol


@pytest.mark.parametrize("name", sorted(data_sets.GENERATORS))
def test_splits_are_drawn_by_seed_and_share_no_row(name):
    """The same seed gives the same rows, another seed others."""
    X, y, X_fresh, y_fresh = data_sets.load(name, 100, 3, most_fresh=50)
    again = data_sets.load(name, 100, 3, most_fresh=50)
    other = data_sets.load(name, 100, 4, most_fresh=50)
    assert (len(X), len(y), len(X_fresh), len(y_fresh)) == (100, 100, 50, 50)
    np.testing.assert_array_equal(X, again[0])
    assert not np.array_equal(X, other[0])
    both = np.vstack([X, X_fresh])
    assert len(np.unique(both, axis=0)) == 150
    if name not in data_sets.CLASSES:
        assert (y.mean(), y.std()) == (pytest.approx(0), pytest.approx(1))


def test_page_of_variants_has_the_numbers_of_the_files():
    """The table of docs/developer/variants.md is what the script prints."""
    path = ROOT / "rules" / "variants.py"
    found = importlib.util.spec_from_file_location("rules_variants", path)
    variants = importlib.util.module_from_spec(found)
    found.loader.exec_module(variants)
    page = (ROOT.parent / "docs" / "developer" / "variants.md").read_text()
    assert variants.table() in page
