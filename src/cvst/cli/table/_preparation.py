"""The default pipeline: fill gaps, scale, encode, and say so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from cvst._text import counted
from cvst.cli.models import Model
from cvst.cli.table._columns import Learning

__all__ = ["Prepared", "prepared_model"]

# Categories beyond this many share one column: the rare ones carry little.
MOST_CATEGORIES = 40

# Trees split numbered categories at no cost per category; histograms have 255 bins.
MOST_NUMBERED = 200

# A column transformer compares the name of each column with those of all others, which
# takes longer than the fits for thousands of them. Beyond this many columns are given
# by their places; fitted, it knows their names all the same. Where there are numbers
# only, it can be left out.
MOST_NAMED = 500


@dataclass(frozen=True, slots=True)
class Prepared:
    """An estimator to race and how to speak of it.

    Attributes
    ----------
    estimator : estimator
        The model, with everything that comes before it.
    prefix : str
        Path of the model's parameters within the estimator.
    sentences : list of str
        What happens to the data on the way.
    """

    estimator: Any
    prefix: str
    sentences: list[str]


def prepared_model(model: Model, learning: Learning, raw: bool) -> Prepared:
    """Put the default pipeline around a model, unless it shall be left alone."""
    estimator = model.estimator(learning.target.task)
    if raw:
        return Prepared(estimator, "", ["Columns go to the model as they are (--raw)."])
    if model.name == "boosting" and learning.categories:
        places = list(range(len(learning.categories)))
        estimator.set_params(categorical_features=places)
    steps, sentences = _steps(model, learning)
    prefix = "model__"
    if model.scale_target and learning.target.task == "regression":
        estimator = TransformedTargetRegressor(estimator, transformer=StandardScaler())
        prefix = "model__regressor__"
        sentences.append("Target: scaled; predictions come back in its own units.")
    preparation: Any = ColumnTransformer(steps, verbose_feature_names_out=False)
    if len(steps) == 1 and len(learning.numbers) > MOST_NAMED:
        preparation = Pipeline([("numbers", steps[0][1])])
    pipeline = Pipeline([("prepare", preparation), ("model", estimator)])
    return Prepared(pipeline, prefix, sentences)


def _steps(
    model: Model, learning: Learning
) -> tuple[list[tuple[str, Any, list[Any]]], list[str]]:
    steps: list[tuple[str, Any, list[Any]]] = []
    sentences = []
    # Categories come first: behind numbers, marks for gaps would shift their places.
    if learning.categories:
        transformer, what = _for_categories(model.inputs)
        steps.append(
            ("categories", transformer, _places(learning, learning.categories))
        )
        sentences.append(f"{_columns(learning.categories, 'category')}: {what}.")
    if learning.numbers:
        transformer, what = _for_numbers(model.inputs)
        steps.append(("numbers", transformer, _places(learning, learning.numbers)))
        sentences.insert(0, f"{_columns(learning.numbers, 'number')}: {what}.")
    return steps, sentences


def _places(learning: Learning, names: list[str]) -> list[Any]:
    """Return the names of a few columns, the places of many."""
    if len(names) <= MOST_NAMED:
        return list(names)
    return [int(place) for place in learning.X.columns.get_indexer(names)]


def _for_numbers(inputs: str) -> tuple[Any, str]:
    # A column can be empty in a small subset although it is not so in the whole, and
    # not even boosting, which knows gaps, can bear that.
    trees = inputs == "trees"
    impute = SimpleImputer(
        strategy="median", keep_empty_features=True, add_indicator=trees
    )
    if trees:
        return impute, "gaps filled with the median and marked"
    steps = [("impute", impute), ("scale", StandardScaler())]
    return Pipeline(steps), "gaps filled with the median, scaled"


def _for_categories(inputs: str) -> tuple[Any, str]:
    if inputs == "scaled":
        encoder = OneHotEncoder(
            handle_unknown="infrequent_if_exist",
            max_categories=MOST_CATEGORIES,
            sparse_output=False,
        )
        return encoder, "one indicator per category"
    encoder = OrdinalEncoder(
        handle_unknown="use_encoded_value",
        unknown_value=-1,
        encoded_missing_value=-1,
        max_categories=MOST_NUMBERED,
    )
    return encoder, "numbered"


def _columns(names: list[str], kind: str) -> str:
    plural = {"number": "Numbers", "category": "Categories"}[kind]
    return f"{plural} ({counted(len(names), 'column')})"
