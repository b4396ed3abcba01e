"""A race as a run of MLflow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cvst._searched import FittedSearch
from cvst.integrations._events import RaceListener, best_of, need, numbers_of
from cvst.report import html_report

__all__ = ["MLflowLogger"]

# MLflow refuses longer values.
LONGEST = 500


class MLflowLogger(RaceListener):
    """Logs every look of a race to MLflow, and the winner at the end.

    The active run is used; without one a run is begun, and ended on leaving. Needs
    ``pip install 'cvst[mlflow]'``.

    Parameters
    ----------
    run_name : str or None, default=None
        Name of a run that is begun here.

    Examples
    --------
    ::

        with MLflowLogger("svm on digits") as logger:
            search.fit(X, y)
            logger.log_search(search)
    """

    def __init__(self, run_name: str | None = None) -> None:
        super().__init__()
        self.run_name = run_name
        self._mlflow: Any = need("mlflow", "cvst[mlflow]")
        self._own = False

    def begin(self) -> None:
        """Begin a run if there is none."""
        # A run that the user has begun is also the user's to end.
        self._own = self._mlflow.active_run() is None
        if self._own:
            self._mlflow.start_run(run_name=self.run_name)

    def on_look(self, event: Mapping[str, Any], params: Mapping[str, Any]) -> None:
        """Log the numbers of a look; its number is the step."""
        # Parameters of a run cannot change, and the leader does.
        del params
        self._mlflow.log_metrics(numbers_of(event), step=int(event["look"]))

    def on_end(self, event: Mapping[str, Any]) -> None:
        """Keep the reason of the end as a tag."""
        self._mlflow.set_tag("cvst.stop_reason", event["reason"])

    def log_search(self, search: FittedSearch, *, report: bool = False) -> None:
        """Log what a fitted search found.

        Parameters
        ----------
        search : fitted search
            Its best parameters become parameters of the run, its score a metric.
        report : bool, default=False
            Whether to attach the report, one HTML file (needs ``cvst[report]``).
        """
        found = best_of(search)
        self._mlflow.log_metric("best_score", found["best_score"])
        self._mlflow.log_params(
            {
                f"best_{name}": str(value)[:LONGEST]
                for name, value in found["best_params"].items()
            }
        )
        for name in ("search", "strategy"):
            self._mlflow.set_tag(f"cvst.{name}", found[name])
        if report:
            self._mlflow.log_text(html_report(search), "report.html")

    def finish(self, failed: bool) -> None:
        """End the run that was begun here."""
        if self._own:
            self._mlflow.end_run("FAILED" if failed else "FINISHED")
