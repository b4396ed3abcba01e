import matplotlib as mpl
import pytest

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures():
    """Leave no figure open; matplotlib warns from the twentieth on."""
    yield
    import matplotlib.pyplot as plt

    plt.close("all")
