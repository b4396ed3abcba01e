"""What a guarded worker process does: read work, do it, write what came out."""

from __future__ import annotations

import os
import pickle
import signal
import sys
from typing import Any

from cvst.parallel._orphans import end_with
from cvst.parallel._pickling import cloudpickle, portable
from cvst.parallel._process_state import thread_pools

__all__ = ["START", "serve"]

# The path of imports is that of the search; -P keeps the current folder out of it.
START = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
    "from cvst.parallel._worker import serve; serve()"
)


def serve() -> None:
    """Answer until the pipe is closed."""
    # Ctrl-C reaches all processes of a terminal; the search decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Even in the middle of a fit.
    end_with(os.getppid())
    answers = os.fdopen(os.dup(1), "wb")
    # What a fit prints must not get between the answers.
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    function: Any = None
    while True:
        try:
            kind, content = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        if kind == "function":
            function, answer = _received(content)
        else:
            answer = _called(function, content)
        answers.write(cloudpickle.dumps(answer))
        answers.flush()


def _received(content: bytes) -> tuple[Any, tuple[bool, Any]]:
    try:
        return pickle.loads(content), (True, None)
    except Exception as error:
        return None, (False, portable(error))


def _called(function: Any, chunk: Any) -> tuple[bool, Any]:
    try:
        blas, openmp = thread_pools("blas"), thread_pools("openmp")
        with blas.limit(limits=1), openmp.limit(limits=1):
            return True, function(chunk)
    except Exception as error:
        return False, portable(error)
