"""A suggested space: a dictionary that can explain itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from textwrap import wrap
from typing import Any

from cvst._text import shortened
from cvst._typing import Configuration
from cvst.spaces._values import marginal_of

__all__ = ["SuggestedSpace"]

TEXT_WIDTH = 88


class SuggestedSpace(dict[str, Any]):
    """Distributions by parameter, with a reason for each; made by :func:`suggest`.

    A dictionary: pass it wherever ``param_distributions`` go, change or delete items.

    Attributes
    ----------
    reasons : dict
        One sentence per parameter: why it matters, and why in this range.
    start : tuple of dict
        Four to ten settings that are often good, different from each other. All lie in
        the space. The estimator's own parameters are not among them.
    rounds : tuple of (str, int) or None
        Boosting only: the name of the number of rounds and the largest worth fitting.
        One fit of this many rounds tells the losses of all smaller numbers, so that a
        search need not draw it.
    estimator_name : str
        Class of the estimator that the parameters belong to.
    source : str
        What kind of source the ranges come from.
    """

    def __init__(
        self,
        distributions: Mapping[str, Any],
        *,
        reasons: Mapping[str, str],
        start: Sequence[Configuration],
        rounds: tuple[str, int] | None,
        estimator_name: str,
        source: str,
    ) -> None:
        super().__init__(distributions)
        self.reasons = dict(reasons)
        self.start = tuple(start)
        self.rounds = rounds
        self.estimator_name = estimator_name
        self.source = source

    def __repr__(self) -> str:
        lines = [f"Suggested space of {self.estimator_name}"]
        for name, values in self._rows():
            lines.append(shortened(f"  {name}: {values}", TEXT_WIDTH))
            # Items that users add have no reason.
            reason = self.reasons.get(name, "")
            lines += [f"      {line}" for line in wrap(reason, TEXT_WIDTH - 6)]
        return "\n".join([*lines, *wrap(self._footnote(), TEXT_WIDTH)])

    def _repr_html_(self) -> str:
        body = "".join(
            f"<tr><td>{escape(name)}</td><td><code>{escape(values)}</code></td>"
            f"<td>{escape(self.reasons.get(name, ''))}</td></tr>"
            for name, values in self._rows()
        )
        return (
            f"<table><caption>Suggested space of {escape(self.estimator_name)}"
            "</caption><thead><tr><th>parameter</th><th>values</th><th>why</th></tr>"
            f"</thead><tbody>{body}</tbody></table><p>{escape(self._footnote())}</p>"
        )

    def _rows(self) -> list[tuple[str, str]]:
        # Users may put in whatever a search takes, and bad values are the search's.
        rows = []
        for name, values in self.items():
            listed = isinstance(values, list | tuple)
            rows.append((name, repr(values if listed else marginal_of(name, values))))
        return rows

    def _footnote(self) -> str:
        return f"Ranges after {self.source}. {len(self.start)} settings to start with."
