"""A configured clone is that of scikit-learn, however it is made."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import all_estimators

from cvst._sklearn_compat import plain_parameters, plain_pipeline
from cvst.evaluation.machinery import configured


def plainly(estimator, configuration):
    values = {name: clone(value, safe=False) for name, value in configuration.items()}
    return clone(estimator).set_params(**values)


def assert_alike(one, other):
    assert type(one) is type(other)
    assert vars(one).keys() == vars(other).keys()
    # Nested estimators are other objects with the same text.
    assert repr(one.get_params()) == repr(other.get_params())


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_clones_of_all_estimators_are_those_of_scikit_learn():
    """Whatever their constructors do; nearly all go the short way."""
    n_short = 0
    for _, kind in all_estimators():
        try:
            estimator = kind()
        except TypeError:  # it needs an estimator of its own
            continue
        assert_alike(configured(estimator, {}), clone(estimator))
        n_short += plain_parameters(estimator) is not None
    assert n_short > 100


@pytest.mark.parametrize(
    ("estimator", "configuration"),
    [
        (Lasso(), {"alpha": 0.3, "max_iter": 7}),
        (Lasso(), {"alpha": np.float64(0.3)}),
        (LogisticRegression(class_weight={0: 1.0, 1: 2.0}), {"C": 3.0}),
        (MLPClassifier(), {"hidden_layer_sizes": (3, 4)}),
        (BaggingClassifier(Lasso()), {"estimator": RandomForestClassifier()}),
        (BaggingClassifier(Lasso()), {"estimator__alpha": 4.0}),
        (make_pipeline(StandardScaler(), Lasso()), {"lasso__alpha": 2.0}),
        (make_pipeline(StandardScaler(), Lasso()), {"lasso": LogisticRegression()}),
        (make_pipeline(StandardScaler(), Lasso()), {"lasso": "passthrough"}),
        (
            make_pipeline(StandardScaler(), Lasso(), verbose=True),
            {"verbose": False, "lasso__alpha": 1.0},
        ),
        (
            make_pipeline(
                StandardScaler(), make_pipeline(StandardScaler(), BaggingClassifier())
            ),
            {
                "pipeline__baggingclassifier__estimator": Lasso(),
                "pipeline__baggingclassifier__estimator__alpha": 4.0,
                "standardscaler__with_mean": False,
            },
        ),
    ],
    ids=str,
)
def test_a_configuration_is_set_as_by_set_params(estimator, configuration):
    assert_alike(
        configured(estimator, configuration), plainly(estimator, configuration)
    )


def test_values_that_can_change_are_copied():
    """A fit that writes into them must not reach the next one."""
    weights = {0: 1.0}
    template = LogisticRegression(class_weight=weights)
    assert configured(template, {"C": 2.0}).class_weight is not weights


def test_what_is_set_besides_the_parameters_is_kept():
    with config_context(enable_metadata_routing=True):
        requested = StandardScaler().set_fit_request(sample_weight=True)
        kept = configured(requested, {"with_mean": False})._metadata_request
    assert kept.fit.requests == {"sample_weight": True}
    frames = StandardScaler().set_output(transform="pandas")
    assert configured(frames, {})._sklearn_output_config == {"transform": "pandas"}


def test_pipelines_are_made_step_by_step():
    """And what they carry besides is kept."""
    plain = make_pipeline(StandardScaler(), Lasso())
    assert plain_pipeline(plain) is not None
    made = configured(plain, {"lasso__alpha": 2.0})
    assert made[0] is not plain[0]
    assert plain[1].alpha == 1.0
    frames = make_pipeline(StandardScaler()).set_output(transform="pandas")
    kept = configured(frames, {"standardscaler__with_mean": False})
    assert kept[0]._sklearn_output_config == {"transform": "pandas"}
    with pytest.raises(ValueError, match="Invalid parameter 'beta'"):
        configured(plain, {"lasso__beta": 1.0})
    with pytest.raises(ValueError, match="Invalid parameter 'ridge'"):
        configured(plain, {"ridge__alpha": 1.0})


class Stubborn(Lasso):
    """Not scikit-learn's: its constructor may do anything."""

    def __init__(self, alpha=1.0):
        super().__init__(alpha=alpha)

    def set_params(self, **params):
        return super().set_params(**{name: 2 * params[name] for name in params})


def test_own_ways_to_set_parameters_are_respected():
    assert configured(Stubborn(), {"alpha": 3.0}).alpha == 6.0


def test_an_unknown_parameter_is_refused_as_ever():
    with pytest.raises(ValueError, match="Invalid parameter 'beta'"):
        configured(Lasso(), {"beta": 1.0})
