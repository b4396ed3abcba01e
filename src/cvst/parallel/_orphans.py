"""Workers end with the process that they work for, however that ends.

joblib's workers are told to end by their parent. One that was killed tells nothing, and
workers that wait for it to take a result would wait for ever, and keep the rows.
"""

from __future__ import annotations

import os
import threading
import time
from functools import cache

from cvst.parallel._volunteers import volunteer

__all__ = ["end_with"]

# How often a worker looks whether its parent is still there.
SECONDS = 1.0


def end_with(owner: int) -> None:
    """End this process soon after a process has ended, if that is its parent.

    From then on it is a worker, and should be killed for memory before its parent.
    """
    if hasattr(os, "fork") and os.getppid() == owner:
        _watch(os.getpid(), owner)


@cache
def _watch(own: int, owner: int) -> None:
    # Once for each process: a fork knows of the calls before, but has another number.
    del own
    volunteer()
    threading.Thread(target=_wait, args=(owner,), daemon=True).start()


def _wait(owner: int) -> None:
    # The children of a process that is gone get another parent.
    while os.getppid() == owner:
        time.sleep(SECONDS)
    os._exit(1)
