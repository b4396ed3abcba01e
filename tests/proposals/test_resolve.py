from __future__ import annotations

import pytest

from cvst.exceptions import InvalidInputError
from cvst.proposals import (
    AutoProposer,
    ForestProposer,
    GaussianProposer,
    MixedProposer,
    ParzenProposer,
    Proposer,
    RandomProposer,
    resolve_proposer,
)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("auto", AutoProposer),
        ("forest", ForestProposer),
        ("gaussian", GaussianProposer),
        ("parzen", ParzenProposer),
        ("random", RandomProposer),
    ],
)
def test_names_give_proposers(name, kind):
    assert isinstance(resolve_proposer(name), kind)
    assert isinstance(resolve_proposer(name), Proposer)


def test_an_object_that_can_propose_is_taken_as_it_is():
    class Own:
        def propose(self, n_choices, history, count, rng):
            return rng.random((count, len(n_choices)))

    own = Own()
    assert resolve_proposer(own) is own


@pytest.mark.parametrize("wrong", ["tpe", None, 3, RandomProposer, ["auto"]])
def test_anything_else_is_refused(wrong):
    with pytest.raises(InvalidInputError, match=r"is not known\. Pass one of 'auto'"):
        resolve_proposer(wrong)


def test_a_proposer_shows_what_differs_from_its_defaults():
    own = GaussianProposer(thrift=0.5)
    mixed = MixedProposer(own, local_share=0.3)
    assert repr(AutoProposer()) == "AutoProposer()"
    assert repr(AutoProposer(n_gaussian=50, late=mixed)) == (
        "AutoProposer(n_gaussian=50, late=MixedProposer(model="
        "GaussianProposer(thrift=0.5), local_share=0.3))"
    )
    assert eval(repr(mixed)) == mixed  # it is how one would write it
