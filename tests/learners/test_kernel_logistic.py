import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import expit
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import pairwise_kernels, rbf_kernel
from sklearn.multiclass import OneVsRestClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from cvst.datasets import load_example
from cvst.exceptions import InvalidInputError
from cvst.learners import KernelLogisticRegression

NO_KERNEL = "the check passes a matrix that is not a kernel"


def expected_failures(estimator):
    if estimator.kernel != "precomputed":
        return {}
    return {
        "check_classifiers_one_label_sample_weights": NO_KERNEL,
        "check_decision_proba_consistency": "the check passes features, not a kernel",
        "check_positive_only_tag_during_fit": NO_KERNEL,
    }


@parametrize_with_checks(
    [
        KernelLogisticRegression(),
        KernelLogisticRegression(1e-3, kernel="linear"),
        KernelLogisticRegression(kernel="precomputed"),
    ],
    expected_failed_checks=expected_failures,
)
def test_it_keeps_the_contract_of_scikit_learn(estimator, check):
    """Witness: scikit-learn's own checks."""
    check(estimator)


@pytest.fixture
def sine():
    return load_example("classification")


@pytest.fixture
def iris():
    return load_iris(return_X_y=True)


def test_it_is_the_learner_of_the_r_package(r_fits):
    """Witness: the objective at R's coefficients; neither can be improved further.

    Both stop when a Newton step moves no coefficient by more than ``tol``, R before
    that step. The step solves (W K + alpha I) step = violation, and W is at most 1/4:
    that bounds the violation and, to first order, what is left to gain.
    """
    for fit in r_fits("klr"):
        kernel, y = fit.kernel(fit.x), fit.y == 1
        alpha, tol = len(y) * fit.settings["lambda"], fit.settings["tol"]
        model = KernelLogisticRegression(alpha, gamma=fit.settings["gamma"], tol=tol)
        ours = model.fit(fit.x, fit.y).dual_coef_.ravel()
        theirs = np.array(fit.settings["alpha"])

        widest = np.max(np.sum(kernel, axis=1))
        limit = tol * (alpha + widest / 4)
        for coefficients in (ours, theirs):
            residuals = y - expit(kernel @ coefficients)
            assert np.max(np.abs(residuals - alpha * coefficients)) < limit
        objectives = [
            np.sum(np.logaddexp(0, np.where(y, -1, 1) * (kernel @ coefficients)))
            + alpha / 2 * coefficients @ kernel @ coefficients
            for coefficients in (ours, theirs)
        ]
        to_gain = len(y) * widest * tol * limit
        assert objectives[0] == pytest.approx(objectives[1], rel=0, abs=to_gain)


@pytest.mark.parametrize("alpha", [0.01, 1.0, 100.0])
def test_a_linear_kernel_gives_plain_logistic_regression(iris, alpha):
    """Witness: scikit-learn's, without intercept and with C = 1 / alpha."""
    X, y = iris[0][:100], iris[1][:100]
    plain = LogisticRegression(C=1 / alpha, fit_intercept=False, tol=1e-10)

    model = KernelLogisticRegression(alpha, kernel="linear").fit(X, y)

    np.testing.assert_allclose(
        model.decision_function(X), plain.fit(X, y).decision_function(X), atol=1e-4
    )


@pytest.mark.parametrize("alpha", [0.1, 1.0, 10.0])
def test_it_is_the_mode_of_a_gaussian_process(sine, alpha):
    """Witness: scikit-learn's Laplace approximation with the kernel over alpha."""
    X, y = sine
    kernel = ConstantKernel(1 / alpha) * RBF(length_scale=1.0)
    process = GaussianProcessClassifier(kernel, optimizer=None, max_iter_predict=500)

    model = KernelLogisticRegression(alpha, gamma=0.5).fit(X, y)

    np.testing.assert_allclose(
        model.predict_proba(X)[:, 1], process.fit(X, y).base_estimator_.pi_, atol=1e-6
    )


def test_several_classes_are_fitted_one_against_the_rest(iris):
    """Witness: scikit-learn's wrapper around the learner of two classes."""
    X, y = iris
    model = KernelLogisticRegression(0.1).fit(X, y)
    wrapped = OneVsRestClassifier(KernelLogisticRegression(0.1)).fit(X, y)

    np.testing.assert_allclose(
        model.decision_function(X), wrapped.decision_function(X), atol=1e-10
    )
    np.testing.assert_allclose(model.predict_proba(X), wrapped.predict_proba(X))
    np.testing.assert_array_equal(model.predict(X), wrapped.predict(X))
    assert model.n_iter_.shape == (3,)
    assert model.dual_coef_.shape == (150, 3)


def test_probabilities_stay_finite_where_every_class_is_denied(iris):
    """All logistic functions underflow, their shares must not become 0 / 0."""
    X, y = iris
    model = KernelLogisticRegression().fit(X, y)
    model.dual_coef_ = -1e6 * np.abs(model.dual_coef_)

    probabilities = model.predict_proba(X)

    assert np.all(np.isfinite(probabilities))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)


def test_classes_may_have_any_names(sine):
    """The second in sorted order has the positive decision values."""
    X, y = sine
    names = np.array(["no", "yes"])[y]

    model = KernelLogisticRegression(0.1, gamma=1.0).fit(X, names)

    assert list(model.classes_) == ["no", "yes"]
    np.testing.assert_array_equal(
        model.predict(X) == "yes", model.decision_function(X) > 0
    )


def test_probabilities_are_the_logistic_function_of_the_decision(sine):
    """Both columns, each to full relative precision."""
    X, y = sine
    model = KernelLogisticRegression(1e-3, gamma=1.0).fit(X, y)
    decision = model.decision_function(X)

    np.testing.assert_allclose(
        model.predict_proba(X), np.column_stack([expit(-decision), expit(decision)])
    )


def test_far_from_all_rows_the_second_class_is_predicted(sine):
    """As in the R package: the probability is 1/2 there, which counts as enough."""
    X, y = sine
    model = KernelLogisticRegression(0.1, gamma=1.0).fit(X, y)
    just_negative = X.max() + np.linspace(6.0, 9.0, 50)[:, np.newaxis]
    decision = model.decision_function(just_negative)

    rounded_away = np.abs(decision) < 1e-17
    assert np.any(rounded_away & (decision != 0))
    assert np.all(model.predict(just_negative[rounded_away]) == 1)
    assert model.predict([[1e6]]) == [1]


def test_a_precomputed_kernel_gives_the_same_model(sine):
    """Witness: the Gaussian kernel, computed outside."""
    X, y = sine
    train, test = slice(0, 200), slice(200, 300)
    direct = KernelLogisticRegression(0.1, gamma=2.0).fit(X[train], y[train])
    outside = KernelLogisticRegression(0.1, kernel="precomputed").fit(
        rbf_kernel(X[train], gamma=2.0), y[train]
    )

    np.testing.assert_allclose(
        outside.decision_function(rbf_kernel(X[test], X[train], gamma=2.0)),
        direct.decision_function(X[test]),
    )


def test_sparse_data_give_the_same_model(iris):
    """Witness: the dense copy."""
    X, y = iris
    dense = KernelLogisticRegression().fit(X, y)
    sparse = KernelLogisticRegression().fit(csr_array(X), y)

    np.testing.assert_allclose(
        sparse.decision_function(csr_array(X)), dense.decision_function(X), atol=1e-8
    )


def test_a_kernel_may_be_a_function(sine):
    """Witness: the built-in kernel of the same formula."""
    X, y = sine[0][:60], sine[1][:60]

    def gaussian(a, b, width):
        return np.exp(-np.sum((a - b) ** 2) / width)

    own = KernelLogisticRegression(kernel=gaussian, kernel_params={"width": 0.5})
    built_in = KernelLogisticRegression(gamma=2.0)

    np.testing.assert_allclose(
        own.fit(X, y).decision_function(X), built_in.fit(X, y).decision_function(X)
    )


@pytest.mark.parametrize("kernel", ["poly", "laplacian", "cosine"])
def test_the_parameters_of_the_kernel_reach_it(iris, kernel):
    """Witness: the coefficients times scikit-learn's own kernel."""
    X, y = iris[0][:100], iris[1][:100]
    model = KernelLogisticRegression(kernel=kernel, gamma=0.1, degree=2, coef0=0.5).fit(
        X, y
    )

    matrix = pairwise_kernels(
        X, metric=kernel, filter_params=True, gamma=0.1, degree=2, coef0=0.5
    )
    np.testing.assert_allclose(model.decision_function(X), matrix @ model.dual_coef_)


def test_one_weight_for_all_divides_the_penalty(sine):
    """Witness: the objective, divided by the weight."""
    X, y = sine
    weighted = KernelLogisticRegression(1.0, gamma=1.0).fit(X, y, sample_weight=4.0)
    plain = KernelLogisticRegression(0.25, gamma=1.0).fit(X, y)

    np.testing.assert_allclose(
        weighted.decision_function(X), plain.decision_function(X), atol=1e-8
    )


def test_too_few_iterations_are_reported(sine):
    """The message names the limit and the ways out."""
    model = KernelLogisticRegression(1e-3, gamma=1.0, max_iter=1)

    with pytest.warns(ConvergenceWarning, match="1 of 1 fits .* max_iter=1 "):
        model.fit(*sine)


@pytest.mark.parametrize(
    ("arguments", "data", "weights", "complaint"),
    [
        ({}, ([[0.0], [1.0]], [1, 1]), None, r"one class only, .*1"),
        (
            {"kernel": "precomputed"},
            ([[1.0, 0.5], [0.2, 1.0]], [0, 1]),
            None,
            "symmetric",
        ),
        (
            {"kernel": "precomputed"},
            ([[-5.0, 0.0], [0.0, 1.0]], [0, 1]),
            None,
            "Raise alpha",
        ),
        ({}, ([[0.0], [1.0]], [0, 1]), [1.0, -1.0], "negative"),
        ({}, ([[0.0], [1.0]], [0, 1]), [0.0, 0.0], "not all may be zero"),
        ({}, ([[0.0], [1.0]], [0, 1]), [[1.0], [1.0]], "one dimension"),
    ],
)
def test_data_that_cannot_be_fitted_are_refused(arguments, data, weights, complaint):
    """Each message says what is wrong."""
    with pytest.raises(InvalidInputError, match=complaint):
        KernelLogisticRegression(**arguments).fit(*data, sample_weight=weights)


@pytest.mark.parametrize(
    "arguments", [{"alpha": 0}, {"kernel": "rfb"}, {"max_iter": 0}, {"tol": -1.0}]
)
def test_parameters_are_checked_when_fitting(sine, arguments):
    """Witness: scikit-learn's wording, which names the parameter."""
    name = next(iter(arguments))

    with pytest.raises(ValueError, match=f"The '{name}' parameter"):
        KernelLogisticRegression(**arguments).fit(*sine)
