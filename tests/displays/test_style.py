import subprocess
import sys

import matplotlib.pyplot as plt
import pytest
from matplotlib.colors import to_rgb
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier

from cvst import RaceGridSearchCV
from cvst.displays import ErrorBoundDisplay, TracesDisplay
from cvst.displays._style import COLOURS, MARKERS, colours, ordered_colours


def simulated_deuteranopia(colour):
    """Machado et al. (2009), severity 1: what a green-blind reader sees."""
    red, green, blue = (x**2.2 for x in to_rgb(colour))
    return (
        0.367 * red + 0.861 * green - 0.228 * blue,
        0.280 * red + 0.673 * green + 0.047 * blue,
        -0.012 * red + 0.043 * green + 0.969 * blue,
    )


def test_colours_stay_apart_for_green_blind_readers():
    """Witness: a published model of colour vision, distances in linear RGB."""
    seen = [simulated_deuteranopia(colour) for colour in COLOURS]

    for index, first in enumerate(seen):
        for second in seen[:index]:
            distance = sum((a - b) ** 2 for a, b in zip(first, second, strict=True))
            assert distance**0.5 > 0.1


def test_colours_repeat_and_have_as_many_markers():
    assert colours(9)[7:] == list(COLOURS[:2])
    assert len(MARKERS) == len(COLOURS)


def test_ordered_colours_get_lighter():
    shades = [0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b, _ in ordered_colours(6)]

    assert shades == sorted(shades)
    assert len(ordered_colours(1)) == 1


def test_displays_are_imported_without_matplotlib():
    """A race on a server needs no drawing library."""
    code = "import sys, cvst.displays; sys.exit('matplotlib' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def small_traces():
    """Return the display with panels of its own, of two configurations."""
    search = RaceGridSearchCV(
        KNeighborsClassifier(), {"n_neighbors": [1, 5]}, random_state=0
    )
    return TracesDisplay.from_search(search.fit(*load_iris(return_X_y=True)))


@pytest.mark.parametrize(
    "make", [lambda: ErrorBoundDisplay.from_levels([10]), small_traces]
)
def test_without_matplotlib_the_extra_is_named(make, monkeypatch):
    display = make()
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)

    with pytest.raises(ImportError, match=r"cvst\[plots\]"):
        display.plot()


def test_the_given_axes_are_used_and_new_ones_made_otherwise():
    display = ErrorBoundDisplay.from_levels([10, 11])
    figure, ax = plt.subplots()

    first = display.plot(ax)
    assert first is display
    assert (first.figure_, first.ax_) == (figure, ax)

    second = display.plot()
    assert second.ax_ is not ax
    assert second.figure_ is second.ax_.figure
