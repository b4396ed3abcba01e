"""A process beside the race that compiles the solver for it.

Compiling takes about ten seconds, once per machine. Another process does it and stores
what it compiled where numba looks first. The race goes on meanwhile and loads it
afterwards. A process rather than a thread, since compilers hold the lock of Python.
"""

from __future__ import annotations

import logging
import subprocess
import sys
from importlib.util import find_spec

__all__ = ["BackgroundCompiler"]

LOGGER = logging.getLogger("cvst")

# The race comes first where both share a core.
NICENESS = 10

# It finds the modules that this process would find, and stores the solver.
CODE = """
import os, sys
sys.path[:] = {path!r}
if hasattr(os, "nice"):
    os.nice({niceness})
from cvst.evaluation.svm._fits import has_compiled_solver
sys.exit(not has_compiled_solver())
"""


class BackgroundCompiler:
    """Compiles at most once in the life of this process."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._was_asked = False

    def start(self) -> None:
        """Start, unless it was started before or nothing can be compiled."""
        if self._was_asked:
            return
        self._was_asked = True
        # A frozen program is its own interpreter, and would start itself again.
        if (
            getattr(sys, "frozen", False)
            or not sys.executable
            or not find_spec("numba")
        ):
            return
        code = CODE.format(path=sys.path, niceness=NICENESS)
        try:
            # In a session of its own, where Ctrl-C does not reach it: what is stored
            # serves the next race, too.
            self._process = subprocess.Popen(
                [sys.executable, "-c", code],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            LOGGER.info("The solver is not compiled in the background: %s", error)

    @property
    def is_running(self) -> bool:
        """Whether it is worth waiting for."""
        return self._process is not None and self._process.poll() is None

    @property
    def has_succeeded(self) -> bool:
        """Whether the solver is stored by now."""
        return self._process is not None and self._process.poll() == 0
