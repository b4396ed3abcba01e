"""Import this before cvst: its clock then counts seconds of the processor."""

from __future__ import annotations

import time

__all__ = ["clock"]

clock = time.process_time
# Modules take the name when they are imported, so this must come first.
time.perf_counter = clock
