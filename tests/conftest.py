"""What all tests share: property tests draw the same examples in every run.

``HYPOTHESIS_PROFILE=random`` draws new ones, to look for cases not thought of.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from threadpoolctl import threadpool_limits

# Tests import what they share from ``helpers`` by its plain name.
sys.path.insert(0, str(Path(__file__).parent / "helpers"))

# No deadlines: how long an example takes tells of the machine.
TIMELESS = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}

settings.register_profile("repeatable", derandomize=True, **TIMELESS)
settings.register_profile("random", derandomize=False, **TIMELESS)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "repeatable")
settings.load_profile(PROFILE)

# Some draws are constants found in the modules of this package that are imported by
# then. Which those are depends on the tests that the same worker has run before, and so
# would the examples; there is no setting for it.
if PROFILE == "repeatable" and hasattr(providers, "_get_local_constants"):
    _NO_CONSTANTS = providers._local_constants
    providers._get_local_constants = lambda: _NO_CONSTANTS

# A shell lets jobs in the background ignore Ctrl-C, and with them all that they start:
# tests that press it would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@cache
def _group_of(path: Path) -> str | None:
    """Return the group that a file of tests names for all of them."""
    if not path.is_file():
        return None
    named = r'^(?:pytestmark = |    )pytest\.mark\.xdist_group\("([^"]+)"\)'
    found = re.search(named, path.read_text(encoding="utf-8"), re.MULTILINE)
    return found and found[1]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Keep groups together: pytest-xdist 3.8 cannot tell them from pytest 9.2."""
    if config.getvalue("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadGroupScheduling

    class ByFile(LoadGroupScheduling):
        def _split_scope(self, nodeid: str) -> str:
            path = config.rootpath / nodeid.partition("::")[0]
            return _group_of(path) or super()._split_scope(nodeid)

    return ByFile(config, log)


@pytest.fixture
def two_blas_threads():
    """Let BLAS have two threads, so that a test sees whether they are given back."""
    with threadpool_limits(limits=2, user_api="blas"):
        yield
