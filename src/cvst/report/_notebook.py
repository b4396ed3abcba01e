"""A fitted search in a notebook: who won, why, and how the race went."""

from __future__ import annotations

from html import escape
from typing import Any

from cvst.report._summary import summary

__all__ = ["notebook_html"]

STYLE = (
    "border:1px solid #8886;border-radius:6px;padding:10px 14px;max-width:60em;"
    "font-size:.95em"
)
COLUMNS = {
    "look": "look",
    "stage": "stage",
    "n_train": "rows",
    "n_tested": "tested",
    "n_top": "top",
    "n_dropped": "dropped",
    "n_active": "left",
}


def notebook_html(search: Any) -> str:
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
    page = summary(search)
    winner = page["winner"]
    chosen = ", ".join(
        f"<b>{escape(name)}</b> = {escape(value)}"
        for name, value in winner["parameters"].items()
    )
    score = "—" if winner["score"] is None else f"{winner['score']:.5g}"
    reasons = "".join(f"<li>{escape(sentence)}</li>" for sentence in winner["why"])
    return (
        f'<div style="{STYLE}">'
        f"<p><b>{escape(page['search'])}</b>: {escape(page['stop_sentence'])} "
        f"{page['n_active']:,} of {page['n_configurations']:,} configurations are left."
        f"</p><p>Winner: {chosen or 'the estimator as it is'}</p>"
        f"<p>{escape(page['scoring'])} {score} at {winner['score_rows']} of "
        f"{page['n_samples']:,} rows (not an estimate for all rows)</p>"
        f"<details><summary>Why it won</summary><ul>{reasons}</ul></details>"
        f"<details><summary>Look by look</summary>{_looks(page)}</details></div>"
    )


def _looks(page: dict[str, Any]) -> str:
    head = "".join(f"<th>{title}</th>" for title in [*COLUMNS.values(), "loss"])
    rows = []
    for look in page["looks"]:
        loss = look["leader_loss"]
        cells = [
            f"{look[name]:,}" if name != "stage" else look[name] for name in COLUMNS
        ]
        cells.append("—" if loss is None else f"{loss:.5g}")
        rows.append("".join(f"<td>{escape(cell)}</td>" for cell in cells))
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
