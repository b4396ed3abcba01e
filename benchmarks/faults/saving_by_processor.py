"""What a checkpoint takes, as on a machine that does nothing else.

This is ``saving.py`` with the processor's time for the clock.
Time budgets end by the clock, and how often a race is saved goes by the clock. On a
machine with much other work a race has less of the processor within the same time, and
the share of saving looks larger than it is. Here seconds pass only while the race has
the processor. The columns by the clock tell nothing then, nor do races that sleep or
leave their fits to other processes.

    python benchmarks/faults/saving_by_processor.py --short --only "time budget"
"""

from __future__ import annotations

import runpy
import time
from pathlib import Path

if __name__ == "__main__":
    # Before cvst is imported, which takes the clock by its name.
    time.perf_counter = time.process_time
    runpy.run_path(str(Path(__file__).with_name("saving.py")), run_name="__main__")
