"""A race as a page one can send around: summary, self-contained HTML, live view.

The page needs no network. Writing it needs the extra ``cvst[report]``.
"""

__all__: list[str] = []
