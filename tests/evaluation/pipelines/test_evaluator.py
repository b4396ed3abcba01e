from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from hypothesis import HealthCheck, given, settings
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.compose import (
    ColumnTransformer,
    TransformedTargetRegressor,
    make_column_selector,
    make_column_transformer,
)
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.experimental import enable_iterative_imputer  # noqa: F401 (its side effect)
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.impute import IterativeImputer, SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import ParameterGrid
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KernelDensity, KNeighborsClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from cvst.evaluation import OneByOne, RaceRows, Scratch, Task, batch_evaluator_for
from cvst.evaluation.pipelines._evaluator import PipelineEvaluator

FITS: list[tuple[str, int]] = []


class Counting(TransformerMixin, BaseEstimator):
    """Shifts its inputs by their mean and keeps count of its fits."""

    def __init__(self, name="counting", shift=0.0, fail=None):
        self.name = name
        self.shift = shift
        self.fail = fail

    def fit(self, X, y=None, sample_weight=None):
        FITS.append((self.name, len(X)))
        if self.fail == "fit":
            raise ZeroDivisionError("on purpose")
        self.mean_ = np.average(X, axis=0, weights=sample_weight) + self.shift
        return self

    def transform(self, X):
        if self.fail == "transform" and len(X) < 30:
            raise KeyError("on purpose")
        return X - self.mean_


@pytest.fixture(autouse=True)
def no_fits_yet():
    """Every test counts from zero."""
    FITS.clear()


@pytest.fixture
def assert_same(assert_same_as_one_by_one):
    """Compare with clone-fit-predict, group by group and all at once."""

    def check(task, **tolerances):
        assert_same_as_one_by_one(task, **tolerances)
        alone = {
            outcome.configuration: outcome for outcome in OneByOne().evaluate(task)
        }
        for outcome in batch_evaluator_for(task.estimator).evaluate(task):
            expected = alone.pop(outcome.configuration)
            assert type(outcome.error) is type(expected.error)
            if expected.error is None:
                numbers = np.asarray(expected.prediction).dtype.kind == "f"
                compare = np.testing.assert_allclose if numbers else assert_equal
                compare(outcome.prediction, expected.prediction, **tolerances)
        assert not alone

    return check


def assert_equal(actual, expected, **tolerances):
    np.testing.assert_array_equal(actual, expected)


def classification(seed=0, n_train=40, n_test=25, n_features=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_train + n_test, n_features))
    X[-3:] = X[:3]  # duplicated rows
    y = (X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=len(X)) > 0.5).astype(int)
    return X, y


def task_of(estimator, configurations, X=None, y=None, n_train=40, **options):
    if X is None:
        X, y = classification()
    train, test = slice(0, n_train), slice(n_train, X.shape[0])
    take = X.iloc if hasattr(X, "iloc") else X
    return Task(
        estimator,
        dict(enumerate(configurations)),
        take[train],
        None if y is None else y[train],
        take[test],
        race_rows=RaceRows(X, train, test, Scratch()),
        **options,
    )


def outcomes(task):
    evaluator = batch_evaluator_for(task.estimator)
    found = {}
    for group in evaluator.groups(task.estimator, task.configurations):
        for outcome in evaluator.evaluate(task.only(group)):
            found[outcome.configuration] = outcome
    return [found[index] for index in range(len(found))]


# --- the property: nothing but speed differs from clone, fit, predict

SCALERS = [
    StandardScaler(),
    StandardScaler(with_mean=False),
    MinMaxScaler(),
    RobustScaler(quantile_range=(10.0, 90.0)),
    "passthrough",
    None,
]
REDUCERS = [
    PCA(2),
    PCA(0.9),
    PCA(3, random_state=0, svd_solver="randomized"),
    SelectKBest(f_classif, k=2),
    TruncatedSVD(2, random_state=1),
    make_pipeline(PolynomialFeatures(), PCA(3)),
    FeatureUnion([("some", SelectKBest(k=1)), ("all", PCA(2))]),
    "passthrough",
]
PREDICTORS = [
    LogisticRegression(max_iter=20),
    SVC(),
    KNeighborsClassifier(),
    GaussianNB(),
    DecisionTreeClassifier(random_state=0),
]
VALUES = {
    "scale": SCALERS,
    "reduce": REDUCERS,
    "predict": PREDICTORS,
    "scale__with_mean": [True, False],
    "reduce__n_components": [1, 2, 3],
    "reduce__k": [1, 3, "all"],
    "reduce__pca__n_components": [1, 2],
    "reduce__polynomialfeatures__degree": [1, 2],
    "reduce__all__n_components": [1, 2],
    "predict__C": [0.1, 1, 1.0, 10],
    "predict__gamma": [0.1, "scale"],
    "predict__n_neighbors": [1, 5],
    "memory": [None],
    "nothing__here": [1],
}


@st.composite
def pipelines_and_grids(draw):
    steps = [("scale", SCALERS), ("reduce", REDUCERS), ("predict", PREDICTORS)]
    pipeline = Pipeline([(name, draw(st.sampled_from(some))) for name, some in steps])
    known = set(pipeline.get_params()) & set(VALUES)
    # Now and then a name that the template has not: some step of the grid may have it.
    names = draw(st.sets(st.sampled_from(sorted(known)), min_size=1, max_size=3))
    names |= draw(st.sets(st.sampled_from(sorted(VALUES)), max_size=1))
    grid = {
        name: draw(st.lists(st.sampled_from(VALUES[name]), min_size=2, max_size=3))
        for name in names
    }
    configurations = list(ParameterGrid(grid))
    return pipeline, draw(st.permutations(configurations))[:10]


@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    case=pipelines_and_grids(),
    seed=st.integers(0, 3),
    response=st.sampled_from(["predict", "predict_proba", "decision_function"]),
)
def test_any_grid_on_any_pipeline(assert_same, case, seed, response):
    """Replaced steps, nested names, parameters that fit no step: all as one by one."""
    X, y = classification(seed)
    task = task_of(*case, X, y, response=response)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_same(task, rtol=1e-6, atol=1e-7)


def mixed_frame(seed, n_rows=70):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "size": rng.normal(size=n_rows),
            "weight": rng.normal(size=n_rows) * 10,
            "colour": rng.choice(["red", "green", "blue"], size=n_rows),
            "shape": rng.choice(["round", "square"], size=n_rows),
        },
        index=rng.permutation(n_rows),
    )
    X.loc[X.index[::7], "size"] = np.nan
    y = np.where(X["weight"] + 8 * (X["colour"] == "red") > 2, "yes", "no")
    return X, y


def column_pipeline():
    numbers = Pipeline([("fill", SimpleImputer()), ("scale", StandardScaler())])
    columns = ColumnTransformer(
        [
            ("numbers", numbers, ["size", "weight"]),
            ("words", OneHotEncoder(handle_unknown="ignore"), ["colour", "shape"]),
        ]
    )
    return Pipeline([("columns", columns), ("model", LogisticRegression(max_iter=99))])


@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    grid=st.fixed_dictionaries(
        {"model__C": st.just([0.1, 10.0])},
        optional={
            "columns__numbers__fill__strategy": st.just(["mean", "median"]),
            "columns__numbers__scale": st.just([MinMaxScaler(), "passthrough"]),
            "columns__numbers__scale__with_mean": st.just([True, False]),
            "columns__words__drop": st.just([None, "first"]),
            "columns__words": st.just(["drop", OneHotEncoder(min_frequency=0.3)]),
            "columns__remainder": st.just(["drop", "passthrough"]),
            "columns": st.just([SimpleImputer(strategy="most_frequent")]),
        },
    ),
    seed=st.integers(0, 3),
    output=st.sampled_from(["default", "pandas"]),
)
def test_any_grid_on_a_column_transformer(assert_same, grid, seed, output):
    """Numbers and words of a data frame, with and without frames on the way."""
    pipeline = column_pipeline()
    if output == "pandas":
        pipeline.set_params(columns__words__sparse_output=False)
        pipeline.set_output(transform="pandas")
    X, y = mixed_frame(seed)
    configurations = list(ParameterGrid(grid))
    chosen = np.random.default_rng(seed).permutation(configurations)[:8].tolist()
    task = task_of(pipeline, chosen, X, y, n_train=45)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_same(task)


# --- what is shared


def counting_pipeline(final=None):
    return Pipeline(
        [
            ("first", Counting("first")),
            ("second", Counting("second")),
            ("final", final or LogisticRegression(max_iter=99)),
        ]
    )


def test_each_step_is_fitted_once_per_distinct_prefix():
    """A trie over the steps: 1 + 3 fits instead of 12 + 12."""
    grid = {"second__shift": [0.0, 1.0, 2.0], "final__C": [0.1, 1.0, 10.0, 100.0]}
    task = task_of(counting_pipeline(), list(ParameterGrid(grid)))
    assert all(outcome.error is None for outcome in outcomes(task))
    assert FITS.count(("first", 40)) == 1
    assert FITS.count(("second", 40)) == 3
    assert len(FITS) == 4


def test_two_pipelines_in_one_race_do_not_mix():
    """As under a TransformedTargetRegressor with two regressors in its grid."""
    X, y = classification()
    whole = RaceRows(X, slice(0, 40), slice(40, 65), Scratch())
    pipelines = [
        make_pipeline(scaler, LogisticRegression(max_iter=99))
        for scaler in (StandardScaler(), MinMaxScaler(), StandardScaler())
    ]
    for pipeline in (*pipelines, pipelines[0]):
        task = Task(
            pipeline, {0: {}}, X[:40], y[:40], X[40:], {}, "decision_function", whole
        )
        (outcome,) = batch_evaluator_for(pipeline).evaluate(task)
        expected = clone(pipeline).fit(X[:40], y[:40]).decision_function(X[40:])
        np.testing.assert_allclose(outcome.prediction, expected)


def test_threads_share_a_step():
    """Whoever comes second waits for the fit of the first."""
    pipeline = counting_pipeline(final=LinearSVC(random_state=0))
    task = task_of(pipeline, [{"final__C": 2.0**k} for k in range(8)])
    evaluator = batch_evaluator_for(task.estimator)
    groups = evaluator.groups(task.estimator, task.configurations)
    with ThreadPoolExecutor(4) as pool:
        results = list(
            pool.map(lambda group: list(evaluator.evaluate(task.only(group))), groups)
        )
    assert [outcome.error for (outcome,) in results] == [None] * 8
    assert sorted(FITS) == [("first", 40), ("second", 40)]


def test_without_a_whole_a_call_still_shares():
    """In a worker process, one call shares what its own configurations share."""
    grid = {"first__shift": [0.0, 1.0], "final__C": [0.1, 1.0, 10.0]}
    task = task_of(counting_pipeline(), list(ParameterGrid(grid)))
    task = Task(
        task.estimator, task.configurations, task.X_train, task.y_train, task.X_test
    )
    assert len(list(batch_evaluator_for(task.estimator).evaluate(task))) == 6
    assert FITS.count(("first", 40)) == 2
    assert FITS.count(("second", 40)) == 2


def test_a_value_that_is_set_already_changes_nothing():
    """Parameters are compared as they are in effect, not as they are written."""
    configurations = [
        {},
        {"first__shift": 0.0},
        {"first": Counting("first")},
        {"first": Counting("first", shift=5.0), "first__shift": 0.0},
        {"first": Counting("other"), "first__name": "first", "second__fail": None},
    ]
    task = task_of(counting_pipeline(), configurations)
    outcomes(task)
    # The last two replace the step and then change it, which is not looked into.
    assert FITS.count(("first", 40)) == 3


@pytest.mark.parametrize("values", [[1, 1.0, True], [0.0, -0.0], [[1, 2], (1, 2)]])
def test_values_that_merely_compare_equal_are_not_shared(values):
    """Neither type nor sign is ignored."""
    configurations = [{"first__name": value} for value in values]
    outcomes(task_of(counting_pipeline(), configurations))
    assert len([name for name, _ in FITS if name != "second"]) == len(values)


def test_nested_pipelines_share_step_by_step():
    """The inner pipeline's first step is fitted once for all values of its second."""
    inner = Pipeline([("a", Counting("a")), ("b", Counting("b"))])
    pipeline = Pipeline([("inner", inner), ("final", LogisticRegression(max_iter=99))])
    grid = {"inner__b__shift": [0.0, 1.0, 2.0], "final__C": [1.0, 2.0]}
    outcomes(task_of(pipeline, list(ParameterGrid(grid))))
    assert FITS.count(("a", 40)) == 1
    assert FITS.count(("b", 40)) == 3


@pytest.mark.parametrize("branched", [False, True])
def test_the_next_look_is_fitted_anew(branched):
    """Rows kept for one look are never handed to another."""
    pipeline, grid = counting_pipeline(), [{"final__C": 1.0}, {"final__C": 2.0}]
    if branched:
        pipeline.set_params(first=column_transformer(), second="passthrough")
    X, y = classification()
    scratch = Scratch()
    for n_train in (20, 40, np.arange(30), np.arange(30) + 5, 20):
        rows = slice(0, n_train) if isinstance(n_train, int) else n_train
        test = slice(40, 65)
        task = Task(
            pipeline,
            dict(enumerate(grid)),
            X[rows],
            y[rows],
            X[test],
            race_rows=RaceRows(X, rows, test, scratch),
        )
        expected = [outcome.prediction for outcome in OneByOne().evaluate(task)]
        FITS.clear()
        actual = outcomes(task)
        assert len(FITS) == 2
        for index, outcome in enumerate(actual):
            np.testing.assert_array_equal(outcome.prediction, expected[index])


def test_the_final_estimator_gets_its_own_evaluator():
    """Stages of boosting behind a scaler come from one fit of each."""
    pipeline = make_pipeline(Counting(), GradientBoostingRegressor(random_state=0))
    grid = [{"gradientboostingregressor__n_estimators": n} for n in (1, 5, 10)]
    evaluator = batch_evaluator_for(pipeline)
    inner = batch_evaluator_for(pipeline[-1])
    assert isinstance(evaluator, PipelineEvaluator)
    assert evaluator.prefer == inner.prefer
    stripped = [{"n_estimators": n} for n in (1, 5, 10)]
    assert evaluator.groups(pipeline, dict(enumerate(grid))) == inner.groups(
        pipeline[-1], dict(enumerate(stripped))
    )


def test_steps_left_out_leave_the_race_rows_as_they_are():
    """Without a transformer the final estimator sees the whole race, as on its own."""
    pipeline = Pipeline([("scale", "passthrough"), ("final", SVC())])
    task = task_of(pipeline, [{"final__C": 1.0}])
    seen = []

    class Watching(OneByOne):
        def evaluate(self, task):
            seen.append(task.race_rows)
            assert list(task.configurations) == [8]
            yield from OneByOne().evaluate(task)

    class WatchedSVC(SVC):
        pass

    batch_evaluator_for.register(WatchedSVC, lambda estimator: Watching())
    grid = {4: {"final": SVC()}, 8: {"final__C": 1.0}}
    for scale in ("passthrough", Counting()):
        pipeline.set_params(scale=scale, final=WatchedSVC())
        both = replace(task_of(pipeline, []), configurations=grid)
        assert len(list(batch_evaluator_for(pipeline).evaluate(both))) == 2
    untouched, scaled = seen
    np.testing.assert_array_equal(untouched.X, task.race_rows.X)
    assert (scaled.train, scaled.test) == (slice(0, 40), slice(40, 65))
    np.testing.assert_allclose(scaled.X, task.race_rows.X - task.X_train.mean(axis=0))


def column_transformer(**options):
    return ColumnTransformer(
        [
            ("left", Counting("left"), [0, 1]),
            ("right", Counting("right"), slice(2, 4)),
            ("rest", "drop", []),
        ],
        **options,
    )


def test_branches_are_fitted_once_per_value():
    """A column transformer shares the branches that its parameters do not touch."""
    pipeline = make_pipeline(column_transformer(), LogisticRegression(max_iter=99))
    grid = {
        "columntransformer__right__shift": [0.0, 1.0, 2.0],
        "logisticregression__C": [1.0, 2.0],
    }
    outcomes(task_of(pipeline, list(ParameterGrid(grid))))
    assert FITS.count(("left", 40)) == 1
    assert FITS.count(("right", 40)) == 3


def test_branches_of_a_union_are_fitted_once_per_value():
    """So does a union, whatever the weights of its branches."""
    union = FeatureUnion([("left", Counting("left")), ("right", Counting("right"))])
    pipeline = make_pipeline(union, LogisticRegression(max_iter=99))
    grid = {
        "featureunion__right__shift": [0.0, 1.0],
        "featureunion__transformer_weights": [None, {"left": 2.0}],
    }
    outcomes(task_of(pipeline, list(ParameterGrid(grid))))
    assert FITS.count(("left", 40)) == 1
    assert FITS.count(("right", 40)) == 2


def test_the_same_branch_of_other_columns_or_rows_is_another(assert_same):
    """Columns, the steps before and the look are part of what is the same."""
    two = ColumnTransformer([("a", Counting("a"), [0]), ("b", Counting("a"), [1])])
    pipeline = Pipeline(
        [
            ("first", "passthrough"),
            ("columns", two),
            ("final", LogisticRegression(max_iter=99)),
        ]
    )
    grid = [
        {},
        {"first": StandardScaler()},
        {"columns__b": Counting("b")},
        {"columns__a": "passthrough"},
        {"columns__remainder": StandardScaler()},
        {"columns__transformer_weights": {"a": 5.0}},
    ]
    assert_same(task_of(pipeline, grid, response="decision_function"))
    FITS.clear()
    outcomes(task_of(pipeline, [{}]))
    assert FITS == [("a", 40), ("a", 40)]


@pytest.mark.parametrize("output", ["default", "pandas", "polars"])
def test_selectors_names_and_containers_of_branches(assert_same, output):
    """Selectors are compared by what they select; no column keeps a foreign name."""
    X, y = mixed_frame(0)
    columns = make_column_transformer(
        (OneHotEncoder(sparse_output=False), make_column_selector(dtype_exclude=float)),
        (SimpleImputer(), make_column_selector(dtype_include=float)),
        (Nameless(), ["weight"]),
    )
    pipeline = make_pipeline(columns, Named())
    pipeline.set_output(transform=output)
    grid = {
        "columntransformer__simpleimputer__strategy": ["mean", "median"],
        "columntransformer__verbose_feature_names_out": [True, False],
    }
    task = task_of(pipeline, list(ParameterGrid(grid)), X, y, n_train=45)
    assert_same(task)
    for outcome in outcomes(task):
        assert outcome.error is None
        assert "tmp" not in outcome.prediction[0]
        assert ("double" in outcome.prediction[0]) == (output != "default")


class Nameless(BaseEstimator):
    """Names its columns in what it returns, and nowhere else."""

    def fit(self, X, y=None):
        return self

    def set_output(self, *, transform=None):
        self._sklearn_output_config = {"transform": transform}  # what clone copies
        return self

    def transform(self, X):
        container = self._sklearn_output_config["transform"]
        if container == "default":
            return np.asarray(X)
        double = {"double": 2 * np.asarray(X)[:, 0]}
        if container == "pandas":
            return pd.DataFrame(double, index=X.index)
        return pl.DataFrame(double)


class Named(ClassifierMixin, BaseEstimator):
    """Predicts the names of its columns, at fit and at prediction."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.names_ = str(list(getattr(X, "columns", [])))
        return self

    def predict(self, X):
        return np.full(len(X), self.names_ + str(list(getattr(X, "columns", []))))


def test_branches_that_draw_with_a_seed(assert_same):
    """Imputations drawn at random: each fit transforms its test rows once."""
    X, y = mixed_frame(0)
    imputer = IterativeImputer(sample_posterior=True, random_state=0, max_iter=2)
    columns = make_column_transformer(
        (imputer, ["size", "weight"]), (OneHotEncoder(), ["colour"])
    )
    pipeline = make_pipeline(columns, LogisticRegression(max_iter=99))
    grid = {"columntransformer__onehotencoder__drop": [None, "first"]}
    task = task_of(
        pipeline,
        list(ParameterGrid(grid)),
        X,
        y,
        n_train=45,
        response="decision_function",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_same(task)


@pytest.mark.parametrize("options", [{"n_jobs": 2}, {"memory": True}], ids=str)
def test_branches_that_would_have_to_travel(assert_same, options, tmp_path):
    """Parallel branches and cached steps are left to scikit-learn."""
    columns = column_transformer(n_jobs=options.get("n_jobs"))
    memory = str(tmp_path) if "memory" in options else None
    pipeline = make_pipeline(columns, LogisticRegression(max_iter=99), memory=memory)
    grid = {"columntransformer__right__shift": [0.0, 1.0]}
    assert_same(task_of(pipeline, list(ParameterGrid(grid))))


class Stateless(TransformerMixin, BaseEstimator):
    """Learns nothing, and has nothing to show for it."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return np.sqrt(np.abs(X))


def test_transformers_without_state(assert_same):
    """Nobody asks them whether they are fitted."""
    pipeline = make_pipeline(Stateless(), FeatureUnion([("a", Stateless())]), SVC())
    grid = [{"svc__C": 1.0}, {"svc__C": 2.0}]
    assert_same(task_of(pipeline, grid, response="decision_function"))


# --- failures


@pytest.mark.parametrize("when", ["fit", "transform"])
def test_a_failing_step_fails_all_that_share_it_and_no_other(assert_same, when):
    """The error is the one that a fit on its own would have raised."""
    grid = {"second__fail": [None, when], "final__C": [1.0, 2.0]}
    task = task_of(counting_pipeline(), list(ParameterGrid(grid)))
    assert_same(task)
    errors = {type(outcome.error) for outcome in outcomes(task)}
    assert errors == {type(None), ZeroDivisionError if when == "fit" else KeyError}


@pytest.mark.parametrize(
    "configuration",
    [
        {"first": "passthroug"},
        {"first": LogisticRegression(max_iter=99)},
        {"first": StandardScaler},
        {"first": "passthrough", "first__shift": 1.0},
        {"final": "passthrough"},
        {"final": None},
        {"final__nonsense": 1},
        {"first__nonsense": 1},
        {"nobody__home": 1},
        {"steps": [("only", LogisticRegression(max_iter=99))]},
        {"steps": []},
        {"transform_input": ["X_val"]},
        {"final": 3},
        {"first": object()},
    ],
)
def test_what_does_not_fit_together_fails_as_the_pipeline_does(
    assert_same, configuration
):
    """An odd configuration does not disturb the others."""
    task = task_of(counting_pipeline(), [configuration, {"final__C": 2.0}])
    assert_same(task)


@pytest.mark.parametrize(
    "pipeline",
    [
        Pipeline([("a", StandardScaler()), ("a", SVC())]),
        Pipeline([("memory", StandardScaler()), ("b", SVC())]),
        Pipeline([("a__b", StandardScaler()), ("b", SVC())]),
        Pipeline([("a", SVC()), ("b", SVC())]),
        Pipeline([("a", StandardScaler()), ("b", Pipeline([]))]),
    ],
    ids=["names", "reserved", "underscores", "no transformer", "empty"],
)
def test_broken_pipelines_fail_as_before(assert_same, pipeline):
    """The pipeline itself explains what is wrong with it."""
    assert_same(task_of(pipeline, [{"b__C": 1.0}, {"b__C": 2.0}]))


def test_an_empty_pipeline_is_not_served():
    """There is nothing to share."""
    assert type(batch_evaluator_for(Pipeline([]))) is OneByOne


def test_subclasses_are_not_served():
    """A pipeline with samplers walks through its steps in another way."""

    class Resampling(Pipeline):
        pass

    pipeline = Resampling([("final", SVC())])
    assert type(batch_evaluator_for(pipeline)) is OneByOne


# --- everything else that a pipeline can do


def test_sample_weights_reach_their_steps(assert_same):
    """By prefixed names, down into nested pipelines."""
    inner = Pipeline([("a", Counting("a")), ("b", StandardScaler())])
    pipeline = Pipeline([("inner", inner), ("final", LogisticRegression(max_iter=99))])
    weights = np.random.default_rng(1).uniform(0.1, 5.0, size=40)
    grid = {"inner__b__with_mean": [True, False], "final__C": [0.1, 1.0]}
    for names in (
        ["final__sample_weight"],
        ["inner__a__sample_weight", "inner__b__sample_weight"],
        ["inner__a__sample_weight", "final__sample_weight"],
        ["sample_weight"],
        ["nobody__sample_weight"],
    ):
        fit_params = dict.fromkeys(names, weights)
        task = task_of(pipeline, list(ParameterGrid(grid)), fit_params=fit_params)
        assert_same(task)


def test_weights_of_one_step_are_not_lent_to_another(assert_same):
    """Two steps that do the same to their rows differ in the weights they get."""
    pipeline = counting_pipeline()
    weights = np.random.default_rng(1).uniform(0.1, 5.0, size=40)
    grid = [
        {"first": Counting(), "second": Counting(), "final__C": 0.001},
        {"first": Counting(), "second": Counting(shift=1.0), "final__C": 0.001},
    ]
    fit_params = {"second__sample_weight": weights}
    assert_same(task_of(pipeline, grid, fit_params=fit_params))


def test_weights_belong_to_a_name(assert_same):
    """The same step under another name gets other weights, here none it can use."""
    inner = Pipeline([("a", Counting("a"))])
    pipeline = Pipeline([("first", inner), ("final", LogisticRegression(max_iter=99))])
    weights = np.random.default_rng(1).uniform(0.1, 5.0, size=40)
    fit_params = {"first__a__sample_weight": weights}
    grid = [{"final__C": 1.0}, {"first": Counting("a")}]
    assert_same(task_of(pipeline, grid, fit_params=fit_params))


def test_a_replaced_part_forgets_the_values_of_the_old_one(assert_same):
    """Two components are set on the new part, though the old one had them already."""
    union = FeatureUnion([("few", PCA(2)), ("scaled", StandardScaler())])
    pipeline = Pipeline([("union", union), ("final", LogisticRegression(max_iter=99))])
    grid = [
        {"union__few": PCA(1)},
        {"union__few": PCA(1), "union__few__n_components": 2},
        {"union__few__n_components": 2},
    ]
    assert_same(task_of(pipeline, grid, response="decision_function"))


def test_metadata_routing(assert_same):
    """Who asked for the weights is for the pipeline to decide."""
    weights = np.random.default_rng(1).uniform(0.1, 5.0, size=40)
    with sklearn.config_context(enable_metadata_routing=True):
        final = LogisticRegression(max_iter=99).set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = Pipeline([("scale", scaler), ("final", final)])
        grid = [{"final__C": 0.1}, {"final__C": 10.0}]
        for fit_params in ({}, {"sample_weight": weights}):
            assert_same(task_of(pipeline, grid, fit_params=fit_params))


def test_transform_input(assert_same):
    """It needs metadata routing, and then does nothing without metadata."""
    pipeline = counting_pipeline().set_params(transform_input=["X_val"])
    grid = [{"final__C": 0.1}, {"final__C": 10.0}]
    assert_same(task_of(pipeline, grid))
    with sklearn.config_context(enable_metadata_routing=True):
        assert_same(task_of(pipeline, grid))


def test_memory_is_used(assert_same, tmp_path):
    """A fit in the user's cache is not made again, in the same run or in the next."""
    pipeline = counting_pipeline().set_params(memory=str(tmp_path))
    task = task_of(pipeline, [{"final__C": 0.1}, {"final__C": 10.0}, {"memory": None}])
    assert_same(task)
    FITS.clear()
    outcomes(task.only([0, 1]))
    assert FITS == []


def test_verbose_changes_nothing(assert_same):
    """Neither on the pipeline nor in the grid."""
    pipeline = counting_pipeline().set_params(verbose=True)
    assert_same(task_of(pipeline, [{}, {"verbose": False}]))


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_frames_on_the_way(assert_same, output):
    """Steps see the containers that set_output chose, replaced steps their own."""
    pipeline = make_pipeline(StandardScaler(), PCA(2), LogisticRegression(max_iter=99))
    pipeline.set_output(transform=output)
    grid = {"pca__n_components": [1, 2], "standardscaler": [RobustScaler(), None]}
    task = task_of(pipeline, list(ParameterGrid(grid)))
    assert_same(task)


def test_sparse_rows(assert_same):
    """Sparse in, sparse on the way."""
    X, y = classification()
    X = sparse.csr_matrix(np.where(X > 0, X, 0.0))
    pipeline = make_pipeline(
        StandardScaler(with_mean=False), LogisticRegression(max_iter=99)
    )
    grid = {
        "standardscaler__with_std": [True, False],
        "logisticregression__C": [0.1, 1.0],
    }
    assert_same(task_of(pipeline, list(ParameterGrid(grid)), X, y))


@pytest.mark.parametrize("final", [GaussianMixture(random_state=0), KernelDensity()])
def test_score_samples_without_targets(assert_same, final):
    """Densities behind transformers, y being None."""
    X, _ = classification()
    pipeline = Pipeline([("scale", StandardScaler()), ("final", final)])
    grid = [{"scale__with_mean": flag} for flag in (True, False)]
    assert_same(task_of(pipeline, grid, X, response="score_samples"))


def test_many_outputs_and_transformed_targets(assert_same):
    """Two targets, and a target that is fitted on another scale."""
    X, _ = classification()
    y = np.exp(X[:, :2])
    log = TransformedTargetRegressor(Ridge(), func=np.log, inverse_func=np.exp)
    pipeline = Pipeline([("scale", StandardScaler()), ("model", Ridge())])
    grid = {"model": [Ridge(), log, LinearRegression()], "scale__with_mean": [True]}
    assert_same(task_of(pipeline, list(ParameterGrid(grid)), X, y))
    grid = {"model": [log], "model__regressor__alpha": [0.1, 1.0, 10.0]}
    for target in (y, y[:, 0]):
        assert_same(task_of(pipeline, list(ParameterGrid(grid)), X, target))


def test_estimators_in_a_grid_are_never_fitted_in_place():
    """Neither the template's steps nor the grid's values learn anything."""
    template = counting_pipeline()
    values = [Counting("a"), Counting("b")]
    finals = [LogisticRegression(max_iter=99), SVC()]
    grid = list(ParameterGrid({"first": values, "final": finals}))
    outcomes(task_of(template, grid))
    for estimator in (*values, *finals, *dict(template.steps).values()):
        assert not [name for name in vars(estimator) if name.endswith("_")]


def test_random_transformers_are_fitted_for_each_configuration():
    """Without a seed two fits differ, so none is passed on; what precedes them is."""
    pipeline = Pipeline(
        [
            ("first", Counting("first")),
            ("svd", TruncatedSVD(2)),
            ("second", Counting("second")),
            ("final", LogisticRegression(max_iter=99)),
        ]
    )
    grid = [{"final__C": value} for value in (0.1, 1.0, 10.0)]
    found = outcomes(task_of(pipeline, grid))
    assert all(outcome.error is None for outcome in found)
    assert FITS.count(("first", 40)) == 1
    assert FITS.count(("second", 40)) == 3
    FITS.clear()
    outcomes(task_of(clone(pipeline).set_params(svd__random_state=0), grid))
    assert FITS.count(("second", 40)) == 1


def test_a_random_state_object_counts_as_a_seed(assert_same):
    """Cloning copies it, so every configuration starts at the same point."""
    svd = TruncatedSVD(2, random_state=np.random.RandomState(3))
    pipeline = make_pipeline(svd, LogisticRegression(max_iter=99))
    grid = [{"logisticregression__C": value} for value in (0.1, 1.0)]
    assert_same(task_of(pipeline, grid))


def test_steps_that_write_into_their_inputs_harm_no_other(assert_same):
    """Rows that are shared are protected from functions that work in place."""

    def double(X):
        X *= 2
        return X

    pipeline = Pipeline(
        [
            ("scale", StandardScaler()),
            ("double", "passthrough"),
            ("final", LogisticRegression(solver="liblinear")),
        ]
    )
    grid = [
        {"double": FunctionTransformer(double), "final__C": 0.1},
        {"double": "passthrough"},
        {"double": MinMaxScaler((0, 3), copy=False)},
        {"double": RobustScaler(copy=False)},
        {"double": FunctionTransformer(double)},
        {"double": StandardScaler()},
    ]
    X, y = classification()
    before = X.copy()
    task = task_of(pipeline, grid, X, y, response="decision_function")
    assert_same(task)
    np.testing.assert_array_equal(X, before)


def test_sparse_rows_are_protected_too(assert_same):
    """A scaler told not to copy leaves the rows of the others alone."""
    X, y = classification()
    X = sparse.csr_matrix(np.where(X > 0, X, 0.0))
    scaler = StandardScaler(with_mean=False)
    pipeline = make_pipeline(scaler, "passthrough", LogisticRegression(max_iter=99))
    pipeline.steps[1] = ("again", "passthrough")
    grid = [{"again": MaxAbsScaler(copy=False)}, {"again": "passthrough"}]
    assert_same(task_of(pipeline, grid, X, y, response="decision_function"))


def with_product(frame):
    frame["product"] = frame.iloc[:, 0] * frame.iloc[:, 1]
    return frame


def halved(frame):
    frame.iloc[:, 0] /= 2
    return frame


def without_small_values(X):
    X.data[np.abs(X.data) < 0.5] = 0.0
    return X


@pytest.mark.parametrize(
    ("scaler", "function"),
    [
        (StandardScaler().set_output(transform="pandas"), with_product),
        (StandardScaler().set_output(transform="pandas"), halved),
        (
            make_column_transformer(
                (StandardScaler(), slice(0, 2)), (MinMaxScaler(), slice(2, 4))
            ).set_output(transform="pandas"),
            with_product,
        ),
        (FunctionTransformer(sparse.csr_matrix), without_small_values),
    ],
)
@pytest.mark.parametrize("final", [LogisticRegression(max_iter=99), SVC(gamma=0.1)])
def test_frames_and_sparse_rows_are_not_written_to_either(scaler, function, final):
    """Each pipeline, fitted on rows of its own, is the witness."""
    X, y = classification()
    pipeline = Pipeline([("scale", scaler), ("write", "passthrough"), ("final", final)])
    grid = [
        {"write": step, "final__C": C}
        for step in (FunctionTransformer(function), "passthrough")
        for C in (0.1, 10.0)
    ]
    task = task_of(pipeline, grid, X, y, response="decision_function")
    outcomes = list(batch_evaluator_for(pipeline).evaluate(task))
    assert len(outcomes) == 4
    for outcome in outcomes:
        model = clone(pipeline).set_params(
            **clone(grid[outcome.configuration], safe=False)
        )
        model.fit(task.X_train.copy(), task.y_train)
        np.testing.assert_allclose(
            outcome.prediction, model.decision_function(task.X_test.copy()), rtol=1e-6
        )


class NeedsWritableRows(GaussianNB):
    """Stands for compiled code that asks for a buffer it may write to."""

    def fit(self, X, y):
        X += 0
        return super().fit(X, y)


def test_final_estimators_that_need_writable_rows(assert_same):
    """They get their own copy."""
    pipeline = make_pipeline(StandardScaler(), NeedsWritableRows())
    grid = [{"needswritablerows__var_smoothing": value} for value in (0.1, 0.2)]
    assert_same(task_of(pipeline, grid))
