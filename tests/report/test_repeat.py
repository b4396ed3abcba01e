import numpy as np
from scipy.stats import loguniform
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cvst import CVST, RaceGridSearchCV, RaceRandomSearchCV
from cvst.report._repeat import search_code


def test_the_code_makes_the_same_search():
    """Witness: running it."""
    search = RaceGridSearchCV(
        make_pipeline(StandardScaler(), KernelRidge(kernel="rbf")),
        [{"kernelridge__alpha": np.logspace(-3, 3, 61)}, {"kernelridge__gamma": [1]}],
        strategy=CVST(max_steps=20),
        scoring="neg_mean_absolute_error",
        random_state=3,
    )
    names = {
        "RaceGridSearchCV": RaceGridSearchCV,
        "Pipeline": type(search.estimator),
        "StandardScaler": StandardScaler,
        "KernelRidge": KernelRidge,
        "CVST": CVST,
    }
    code = search_code(search).removesuffix(".fit(X, y)")
    again = eval(code, names)  # the code under test

    assert list(again._configurations()) == list(search._configurations())
    assert repr(again.strategy) == "CVST(max_steps=20)"
    assert repr(again.estimator) == repr(search.estimator)
    assert (again.scoring, again.random_state) == (search.scoring, 3)


def test_distributions_are_written_as_calls():
    search = RaceRandomSearchCV(Ridge(), {"alpha": loguniform(0.1, 10)}, n_iter=5)
    assert "{'alpha': scipy.stats.loguniform(0.1, 10)}" in search_code(search)
