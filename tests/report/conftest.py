from pathlib import Path
from shutil import which

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.datasets import make_regression
from sklearn.kernel_ridge import KernelRidge

from cvst import RaceGridSearchCV, RaceSearchCV
from cvst.race import TrackAndConfirm

SWITCHES = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1280,900",
)


def race(strategy="cvst", **options):
    X, y = make_regression(160, 3, noise=20.0, random_state=0)
    search = RaceGridSearchCV(
        KernelRidge(kernel="rbf"),
        {"alpha": np.logspace(-3, 3, 6), "gamma": [0.001, 0.1, 10.0]},
        strategy=strategy,
        random_state=0,
        **options,
    )
    return search.fit(X, y)


@pytest.fixture(scope="session")
def fitted():
    """Return a race of the paper's strategy, with drops."""
    return race()


@pytest.fixture(
    scope="session",
    params=[
        "cvst",
        "cross_validation",
        TrackAndConfirm(direct_below=5, min_rows=30, n_folds=3),
    ],
    ids=["cvst", "cross_validation", "track"],
)
def any_strategy(request):
    """Return a fitted search of every strategy."""
    return race(request.param)


@pytest.fixture(scope="session")
def proposed():
    """Return a search whose configurations were proposed while it ran."""
    X, y = make_regression(240, 3, noise=20.0, random_state=0)
    space = {"alpha": loguniform(1e-3, 1e3), "gamma": loguniform(1e-3, 10)}
    model = KernelRidge(kernel="rbf")
    return RaceSearchCV(model, space, n_iter=24, random_state=0).fit(X, y)


@pytest.fixture(params=["listed", "proposed"])
def any_search(request, fitted, proposed):
    """Return a search over a list, and one that proposes."""
    return {"listed": fitted, "proposed": proposed}[request.param]


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """Return a headless Chromium that logs its console and its requests."""
    chromium, driver = which("chromium"), which("chromedriver")
    if not chromium or not driver:
        pytest.skip(
            "NO BROWSER: chromium and chromedriver are not installed, so no test opens "
            "a report. Install the packages chromium and chromium-driver."
        )
    selenium = pytest.importorskip("selenium.webdriver")
    options = selenium.ChromeOptions()
    options.binary_location = chromium
    profile = tmp_path_factory.mktemp("profile")
    for switch in (*SWITCHES, f"--user-data-dir={profile}"):
        options.add_argument(switch)
    options.set_capability(
        "goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"}
    )
    log = Path(profile) / "driver.log"
    service = selenium.ChromeService(driver, log_output=str(log))
    window = selenium.Chrome(options=options, service=service)
    yield window
    window.quit()
