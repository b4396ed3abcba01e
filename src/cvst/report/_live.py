"""A race as it goes, in a browser on the same machine."""

from __future__ import annotations

import select
import socket
import sys
import threading
from collections.abc import Collection, Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import monotonic
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

import numpy as np

from cvst._searched import FittedSearch
from cvst._typing import Configuration, FloatArray, IntArray
from cvst.race import RaceState, Strategy
from cvst.report._html import TITLE, fragments, page_html, script_json
from cvst.report._summary import race_summary, summary

__all__ = ["LiveReport"]

HOST = "127.0.0.1"

# A page asks, and is answered when there is news or after the longest wait; browsers
# slow down the clocks of pages that nobody looks at, but not an answer. One that was
# silent for the second time is closed, and one that is open will take the end of the
# race within the last.
LONGEST_WAIT, OPEN_FOR, PATIENCE = 20.0, 10.0, 30.0

# Looks may follow each other faster than anybody reads, and drawing takes time from the
# race. Only the end comes sooner after the answer before than this.
PACE = 1.0
WAITING = (
    '<!DOCTYPE html><html lang="en"><meta charset="utf-8">'
    '<meta http-equiv="refresh" content="1"><title>cvst</title>'
    "<p>The race has not begun yet. This page waits for it.</p></html>"
)


class LiveReport:
    """Serves the report of a race that is under way, to this machine only.

    The page asks for news, is answered when a look is done, and redraws itself. Use it
    as a context manager, or call :meth:`close` at the end.

    Parameters
    ----------
    port : int
        Where to listen; 0 takes any free port.
    title : str
        Heading of the page.
    scoring : str, optional
        Name of the score. Without it, losses are shown.

    Attributes
    ----------
    url : str
        Where to point the browser.

    Examples
    --------
    >>> from urllib.request import urlopen
    >>> from cvst.race import Problem, RaceState
    >>> state = RaceState(Problem(n_configurations=2, n_samples=100))
    >>> with LiveReport() as live:
    ...     live.update(state, [{"C": 1}, {"C": 2}], [0, 1])
    ...     urlopen(live.url).status
    200
    """

    def __init__(
        self, port: int = 0, *, title: str = TITLE, scoring: str | None = None
    ) -> None:
        self.title = title
        self.scoring = scoring
        self._page: dict[str, Any] | None = None
        self._lock = threading.Condition()
        self._told = -1
        self._asked = -np.inf
        self._n_waiting = 0
        self._closes = False
        self._server = _Server(
            (HOST, port), type("Handler", (_Handler,), {"live": self})
        )
        self._server.daemon_threads = True
        self.url = f"http://{HOST}:{self._server.server_port}/"
        self._thread = threading.Thread(
            target=self._server.serve_forever,
            # How long close may have to wait for the server.
            kwargs={"poll_interval": 0.1},
            name="cvst-live-report",
            daemon=True,
        )
        self._thread.start()

    def update(
        self,
        state: RaceState,
        configurations: Sequence[Configuration],
        ranking: IntArray | Sequence[int],
        *,
        scores: FloatArray | None = None,
        strategy: Strategy | None = None,
    ) -> None:
        """Show the race as it is now; call it after every look.

        Parameters
        ----------
        state : RaceState
            The race.
        configurations : sequence of dict
            Its configurations.
        ranking : ndarray of int
            Survivors, the leader first.
        scores : ndarray of shape (n_configurations, n_looks), optional
            Scores with scikit-learn's sign.
        strategy : Strategy, optional
            What decides.
        """
        order = np.asarray(ranking, dtype=np.intp)
        self._show(
            race_summary(
                state,
                configurations,
                order,
                scores=scores,
                scoring=self.scoring,
                strategy=strategy,
            )
        )

    def finish(self, search: FittedSearch, *, command: str | None = None) -> None:
        """Show the fitted search; open pages take it and stop asking.

        Parameters
        ----------
        search : RaceGridSearchCV or RaceRandomSearchCV
            The fitted search.
        command : str, optional
            The command line that repeats it, if there was one.
        """
        self._show(summary(search, command=command))

    def close(self, patience: float = PATIENCE) -> None:
        """Stop serving; open pages keep what they show.

        Parameters
        ----------
        patience : float
            Most seconds to wait until a page that is open has taken the end of the
            race.
        """
        with self._lock:
            self._lock.wait_for(self._end_is_told, patience)
            self._closes = True
            self._lock.notify_all()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _end_is_told(self) -> bool:
        """Return whether the end was told, or no page is open to hear of it."""
        page = self._page
        if page is None or not page["finished"] or self._told >= page["revision"]:
            return True
        return not self._n_waiting and monotonic() - self._asked > OPEN_FOR

    def _heard(self, revision: int | None) -> None:
        """Take note that a page has asked, and which revision it was sent."""
        with self._lock:
            self._asked = monotonic()
            self._told = max(self._told, -1 if revision is None else revision)
            self._lock.notify_all()

    def _gone(self) -> None:
        """Take note that a page was closed; any other will ask again."""
        with self._lock:
            self._asked = -np.inf
            self._lock.notify_all()

    def _show(self, page: dict[str, Any]) -> None:
        with self._lock:
            # Counted here: two updates of one race may have equally many looks.
            revision = 0 if self._page is None else self._page["revision"] + 1
            self._page = {**page, "revision": revision}
            self._lock.notify_all()

    def _html(self) -> str:
        with self._lock:
            page = self._page
        if page is None:
            return WAITING
        # Written outside the lock, so that the race need not wait for a reader.
        return page_html(page, title=self.title, live=True)

    def _news(self, after: int, wait: float) -> tuple[int, str] | None:
        """Return a new revision and what has changed, None if nothing has by then."""
        with self._lock:
            self._n_waiting += 1
            if wait > 0:
                pause = self._asked + PACE - monotonic()
                self._lock.wait_for(self._is_over, max(pause, 0))
            self._lock.wait_for(lambda: self._closes or self._is_new(after), wait)
            self._n_waiting -= 1
            page = self._page
        if page is None or page["revision"] <= after:
            return None
        news = {"revision": page["revision"], "data": page, **fragments(page)}
        return page["revision"], script_json(news)

    def _is_over(self) -> bool:
        ended = self._page is not None and self._page["finished"]
        return self._closes or ended

    def _is_new(self, after: int) -> bool:
        return self._page is not None and self._page["revision"] > after


class _Server(ThreadingHTTPServer):
    """Answers in threads, and lets readers leave in the middle of an answer."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Stay silent about a reader that is gone."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def _refusal(headers: Any, own_names: Collection[str]) -> str | None:
    """Return why a question is not answered, None if it is."""
    # Another site may point its own name at this address and ask from the user's
    # browser; it cannot forge the name that it asks under, nor where it comes from.
    if headers.get("Host", "") not in own_names:
        return "Not this host."
    origin = headers.get("Origin")
    if origin is not None and _parts(origin)[0] not in own_names:
        return "Not this origin."
    return None


def _parts(address: str) -> tuple[str | None, str | None, str]:
    """Return host, path and query of an address; None, None and "" if it is not one."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return None, None, ""
    return parts.netloc, parts.path, parts.query


class _Handler(BaseHTTPRequestHandler):
    """Answers the two questions that a page has."""

    live: LiveReport

    # One connection for all questions; each answer must then tell its length.
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        refusal = _refusal(self.headers, _own_names(self.server))
        if refusal is not None:
            self._answer(HTTPStatus.FORBIDDEN, "text/plain", refusal)
            return
        _, path, query = _parts(self.path)
        if path is None:
            self._answer(HTTPStatus.BAD_REQUEST, "text/plain", "No address.")
        elif path == "/":
            self._answer(HTTPStatus.OK, "text/html", self.live._html())
            self.live._heard(None)
        elif path == "/news.json":
            self._tell(query)
        else:
            self._answer(HTTPStatus.NOT_FOUND, "text/plain", "No such page.")

    def _tell(self, query: str) -> None:
        """Answer when there is news, or when the page has waited long enough."""
        wait = min(max(_number_in(query, "wait"), 0), LONGEST_WAIT)
        news = self.live._news(_number_in(query, "after"), wait)
        if _is_gone(self.connection):
            self.close_connection = True
            self.live._gone()
        elif news is None:
            gone = self.live._closes
            status = HTTPStatus.GONE if gone else HTTPStatus.NO_CONTENT
            self._answer(status, "application/json", "")
            self.live._heard(None)
        else:
            self._answer(HTTPStatus.OK, "application/json", news[1])
            # Only now that it is written: close waits for this.
            self.live._heard(news[0])

    def _answer(self, status: HTTPStatus, kind: str, text: str) -> None:
        # Names may hold what no encoding has.
        body = text.encode(errors="backslashreplace")
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        if self.live._closes:
            # This thread outlives the server, and would answer as long as pages ask.
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base's
        """Keep the terminal for the race."""


def _is_gone(connection: socket.socket) -> bool:
    """Return whether the other end was closed while its question waited."""
    readable, _, _ = select.select([connection], [], [], 0)
    try:
        return bool(readable) and not connection.recv(1, socket.MSG_PEEK)
    except ConnectionError:
        return True


def _own_names(server: Any) -> tuple[str, ...]:
    port = server.server_port
    return f"{HOST}:{port}", f"localhost:{port}"


def _number_in(query: str, name: str) -> int:
    """Return a whole number that was asked with, -1 if there is none."""
    try:
        return int(parse_qs(query).get(name, ["-1"])[0])
    except ValueError:
        return -1
