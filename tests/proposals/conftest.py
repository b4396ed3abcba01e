from __future__ import annotations

import pytest

from cvst.proposals import (
    AutoProposer,
    ForestProposer,
    GaussianProposer,
    LocalProposer,
    MixedProposer,
    ParzenProposer,
    RandomProposer,
    SpreadProposer,
)

MAKERS = {
    "random": RandomProposer,
    "spread": SpreadProposer,
    "parzen": ParzenProposer,
    "forest": ForestProposer,
    "forest per second": lambda: ForestProposer(per_second=True),
    "gaussian": GaussianProposer,
    "local": LocalProposer,
    "mixed": lambda: MixedProposer(ParzenProposer()),
    "auto": AutoProposer,
}


@pytest.fixture(params=MAKERS.values(), ids=MAKERS.keys())
def make_proposer(request):
    """Make a fresh proposer of each kind."""
    return request.param
