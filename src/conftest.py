"""Which modules of the library cannot be collected, for what they need is absent."""

from __future__ import annotations

from importlib.util import find_spec


def _is_there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ValueError:
        # A test has put None in its place, as if it were not installed.
        return False


# Examples in docstrings are found by importing, and the compiled solver needs numba.
collect_ignore_glob = [] if _is_there("numba") else ["*/svm/compiled/*"]
