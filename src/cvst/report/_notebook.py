"""A fitted search in a notebook: what won, why, and how the race went."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from cvst._searched import FittedSearch
from cvst._text import about_seconds, score_text, seconds_text
from cvst.report._summary import summary

__all__ = ["notebook_html"]

STYLE = (
    # A grey that one can see through fits light and dark notebooks.
    "border:1px solid #8886;border-radius:6px;padding:10px 14px;max-width:60em;"
    "font-size:.95em"
)

# More looks than this are summed up by stage.
MOST_LOOKS = 24
COLUMNS = {
    "look": "look",
    "stage": "stage",
    "n_train": "rows",
    "n_tested": "tested",
    "n_top": "top",
    "n_dropped": "dropped",
    "n_active": "left",
}


def notebook_html(search: FittedSearch) -> str:
    """Return a fitted search as a small piece of HTML, without scripts.

    Parameters
    ----------
    search : RaceGridSearchCV or RaceRandomSearchCV
        A fitted search.

    Returns
    -------
    str
        One ``div``; colours follow the notebook.

    Examples
    --------
    >>> from cvst import RaceGridSearchCV
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> search = RaceGridSearchCV(
    ...     KNeighborsClassifier(), {"n_neighbors": [1, 5]}, random_state=0)
    >>> html = notebook_html(search.fit(*load_iris(return_X_y=True)))
    >>> "<b>n_neighbors</b> = 5" in html
    True
    """
    # A cell is shown again and again: no second for forests each time.
    page = summary(search, ahead=False)
    winner = page["winner"]
    chosen = ", ".join(
        f"<b>{escape(name)}</b> = {escape(value)}"
        for name, value in winner["parameters"].items()
    )
    unknown = winner["score"] is None
    name, score = score_text(
        winner.get("score_name") or page["scoring"] or "score",
        float("nan") if unknown else winner["score"],
    )
    reasons = "".join(f"<li>{escape(sentence)}</li>" for sentence in winner["why"])
    n_left, n_all = page["n_active"], page["n_configurations"]
    left = (
        "1 configuration took part."
        if n_all == 1
        else f"{n_left:,} of {n_all:,} configurations {'is' if n_left == 1 else 'are'} "
        f"left{_waiting(page)}."
    )
    plain = page["plain_search"]
    took = sum(look["seconds"] for look in page["looks"])
    work = (
        f"Fits and predictions took {seconds_text(took)}; a plain "
        f"{plain['n_folds']}-fold search would take {about_seconds(plain['seconds'])}."
    )
    many = len(page["looks"]) > MOST_LOOKS
    title = "Stage by stage" if many else "Look by look"
    table = _stages(page) if many else _looks(page)
    return (
        f'<div style="{STYLE}">'
        f"<p><b>{escape(page['search'])}</b>: {escape(page['stop_sentence'])} {left}"
        f"</p><p>Winner: {chosen or 'the estimator as it is'}</p>"
        f"{_expected(page)}<p>{escape(name)} {score} at {winner['score_rows']} of "
        f"{page['n_samples']:,} rows (not an estimate for all rows)</p>"
        f"<p>{work}</p>"
        f"<details><summary>Why it won</summary><ul>{reasons}</ul></details>"
        f"<details><summary>{title}</summary>{table}</details></div>"
    )


def _waiting(page: dict[str, Any]) -> str:
    """Say how many configurations no look has seen, if any."""
    count = page["n_waiting"]
    return f", {count:,} not looked at" if count else ""


def _expected(page: dict[str, Any]) -> str:
    """Write what to expect on new rows, if that is known."""
    estimate = page["winner"]["estimate"]
    if estimate is None:
        return ""
    name, _ = score_text(page["scoring"], estimate["value"])
    return f"<p>{escape(name)} to expect on new rows: <b>{estimate['text']}</b></p>"


def _stages(page: dict[str, Any]) -> str:
    """Write a row per stage: a race that proposes has hundreds of looks."""
    name = page["measures"][0]["name"]
    titles = ("stage", "looks", "rows", "fits", "dropped", f"leader's {name}")
    rows = []
    for stage in page["stages"]:
        least, most = stage["n_train"]
        value = stage["leader"]
        rows.append(
            (
                stage["stage"],
                f"{stage['n_looks']:,}",
                f"{most:,}" if least == most else f"{least:,} to {most:,}",
                f"{stage['n_fits']:,}",
                f"{stage['n_dropped']:,}",
                "—" if value is None else f"{value:.5g}",
            )
        )
    return _table(titles, rows)


def _looks(page: dict[str, Any]) -> str:
    rows, titles = [], [*COLUMNS.values(), "leader's loss"]
    for look in page["looks"]:
        cells = [
            f"{look[name]:,}" if name != "stage" else look[name] for name in COLUMNS
        ]
        score = look["leader_score"]
        loss = look["leader_loss"] if score is None else score
        name, value = score_text(
            "loss" if score is None else page["scoring"],
            float("nan") if loss is None else loss,
        )
        # Only a look tells whether there are scores; all of them agree.
        titles[-1] = f"leader's {name}"
        rows.append((*cells, value))
    return _table(titles, rows)


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(title)}</th>" for title in titles)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
