"""A race as a page one can send around: summary, self-contained HTML, live view.

The page needs no network. Writing it needs the extra ``cvst[report]``.
"""

from cvst.report._history import history
from cvst.report._html import html_report, page_html, write_report
from cvst.report._live import LiveReport
from cvst.report._notebook import notebook_html
from cvst.report._store import StoredRace, race_bytes, read_race
from cvst.report._summary import race_summary, summary
from cvst.report._ties import Tie

__all__ = [
    "LiveReport",
    "StoredRace",
    "Tie",
    "history",
    "html_report",
    "notebook_html",
    "page_html",
    "race_bytes",
    "race_summary",
    "read_race",
    "summary",
    "write_report",
]
