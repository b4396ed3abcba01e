"""What all tests share: property tests draw the same examples in every run.

``HYPOTHESIS_PROFILE=random`` draws new ones, to look for cases not thought of.
"""

from __future__ import annotations

import os

from hypothesis import settings

# No deadlines: how long an example takes tells of the machine.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("random", derandomize=False, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))
