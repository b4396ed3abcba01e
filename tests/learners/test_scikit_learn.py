"""The other learners of the paper are scikit-learn's; they must be the same ones."""

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import NuSVC, NuSVR


def test_kernel_ridge_is_that_of_the_r_package(r_fits):
    """Witness: its predictions, with alpha = n lambda."""
    for fit in r_fits("krr"):
        alpha = len(fit.y) * fit.settings["lambda"]
        model = KernelRidge(alpha=alpha, kernel="rbf", gamma=fit.settings["gamma"])

        prediction = model.fit(fit.x, fit.y).predict(fit.x_test)

        # A wide kernel with hardly any penalty is badly conditioned.
        hard = fit.settings["gamma"] < 0.1 and fit.settings["lambda"] < 1e-6
        np.testing.assert_allclose(
            prediction, fit.settings["prediction"], atol=1e-7 if hard else 1e-10
        )


def test_nu_svr_is_that_of_the_r_package(r_fits):
    """Witness: its predictions, with C the bound of each row (R's C over n).

    Both stop at a violation of 1e-3, mostly at the same point.
    """
    errors = []
    for fit in r_fits("nusvr"):
        model = NuSVR(
            nu=fit.settings["nu"], C=fit.settings["box"], gamma=fit.settings["gamma"]
        )
        prediction = model.fit(fit.x, fit.y).predict(fit.x_test)
        errors.append(np.max(np.abs(prediction - fit.settings["prediction"])))

    assert max(errors) < 1e-3
    assert np.mean(np.array(errors) < 1e-8) > 0.8


def test_nu_svc_is_that_of_the_r_package(r_fits):
    """Witness: its labels; gamma = 0.01 is degenerate, there they are the solver's."""
    fits = [fit for fit in r_fits("nusvc") if fit.settings["gamma"] >= 1]
    assert len(fits) == 9
    for fit in fits:
        model = NuSVC(nu=fit.settings["nu"], gamma=fit.settings["gamma"])

        labels = model.fit(fit.x, fit.y).predict(fit.x_test)

        np.testing.assert_array_equal(labels, fit.settings["label"])
