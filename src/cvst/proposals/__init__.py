"""Where to look next: proposals of points from what was observed so far.

Everything here works on arrays: numbers in [0, 1], codes of choices, mean losses. What
the numbers mean, and how they were observed, is the caller's business.
"""

from cvst.proposals._auto import AutoProposer
from cvst.proposals._cost import Cost
from cvst.proposals._evidence import Evidence, gather_evidence
from cvst.proposals._forest import ForestProposer
from cvst.proposals._gaussian import GaussianProposer
from cvst.proposals._history import History, with_pending
from cvst.proposals._improvement import (
    expected_improvement,
    log_expected_improvement,
)
from cvst.proposals._local import LocalProposer
from cvst.proposals._mixed import MixedProposer
from cvst.proposals._parzen import ParzenProposer
from cvst.proposals._parzen_density import ParzenDensity
from cvst.proposals._protocol import Proposer
from cvst.proposals._random import RandomProposer, SpreadProposer
from cvst.proposals._resolve import resolve_proposer

__all__ = [
    "AutoProposer",
    "Cost",
    "Evidence",
    "ForestProposer",
    "GaussianProposer",
    "History",
    "LocalProposer",
    "MixedProposer",
    "ParzenDensity",
    "ParzenProposer",
    "Proposer",
    "RandomProposer",
    "SpreadProposer",
    "expected_improvement",
    "gather_evidence",
    "log_expected_improvement",
    "resolve_proposer",
    "with_pending",
]
