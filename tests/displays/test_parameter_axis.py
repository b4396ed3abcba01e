import numpy as np
import pytest

from cvst.displays._parameter_axis import NOT_SET, parameter_axis


def axis_of(values):
    return parameter_axis("p", [{} if v is NOT_SET else {"p": v} for v in values])


def test_numbers_over_decades_are_placed_by_their_logarithms():
    axis = axis_of([0.001, 0.01, 0.1, 1.0, 10.0])
    assert axis.scale == "log"
    np.testing.assert_allclose(axis.positions, [0, 0.25, 0.5, 0.75, 1])


def test_even_numbers_stay_linear_even_over_decades():
    """A uniform draw over (0, 1] spans decades, yet most of it lies near 1."""
    axis = axis_of(np.linspace(0.01, 1, 50))
    assert axis.scale == "linear"
    np.testing.assert_allclose(axis.positions, np.linspace(0, 1, 50))


def test_what_is_no_number_has_a_place_beside():
    axis = axis_of([0.001, 0.1, 10.0, 0.0, None, NOT_SET, True])
    assert axis.scale == "log"
    assert (axis.positions[:3] >= 0).all()
    assert len(set(axis.positions[3:])) == 4
    assert (axis.positions[3:] < 0).all()
    texts = {text: place for place, text in axis.ticks}
    assert texts["0"] == axis.positions[3]
    assert texts["None"] == axis.positions[4]
    assert texts[NOT_SET] == axis.positions[5]


def test_numbers_that_no_float_holds_have_a_place_beside():
    """The largest float is about 1.8e308; scikit-learn takes any whole number."""
    axis = axis_of([1, 10, 100, 10**400, complex(1, 2), np.complex64(3)])
    assert (axis.positions[:3] >= 0).all()
    assert (axis.positions[3:] < 0).all()


@pytest.mark.parametrize("values", [[-1.7e308, 0.0, 1.7e308], [1e-308, 1.0, 1e308]])
def test_ends_whose_distance_no_float_holds_are_placed(values):
    axis = axis_of(values)
    np.testing.assert_allclose(axis.positions, [0, 0.5, 1], atol=1e-3)
    np.testing.assert_allclose(axis.number_at(0.5), values[1], atol=1e-3)


def test_categories_are_evenly_spread_in_order_of_appearance():
    axis = axis_of(["rbf", "poly", "rbf", "linear"])
    assert axis.scale == "categories"
    assert axis.positions.tolist() == [0.0, 0.5, 0.0, 1.0]
    assert [text for _, text in axis.ticks] == ["rbf", "poly", "linear"]


def test_one_value_stands_in_the_middle():
    assert axis_of([3, 3]).positions.tolist() == [0.5, 0.5]
    assert axis_of(["a"]).positions.tolist() == [0.5]


@pytest.mark.parametrize(
    "values",
    [
        np.logspace(-8, 8, 100),
        np.linspace(-3, 900, 200),
        np.geomspace(3, 70, 40),
        np.linspace(0.91, 0.92, 30),
        np.arange(2, 300),
    ],
)
def test_ticks_are_few_round_and_where_their_number_is(values):
    """Witness: the inverse of the placing."""
    axis = axis_of(values)
    assert 2 <= len(axis.ticks) <= 8
    for position, text in axis.ticks:
        assert -1e-9 <= position <= 1 + 1e-9
        assert axis.number_at(position) == pytest.approx(float(text), rel=1e-2)
        assert len(text) <= 7
