"""What searches and reports need of a race besides what users do; not public.

Readings of a state that results, reports and pictures share, what budgets ask, and the
parts of a race that searches put together: the strategy that proposes too, which is
made by a search and not by hand.
"""

from __future__ import annotations

from cvst.race._axes import levels_of, space_of
from cvst.race._bits import BitTable, compact
from cvst.race._comparable import comparable_means
from cvst.race._deciding import (
    deciding_looks,
    deciding_losses,
    deciding_mean,
    shared_deciding_looks,
)
from cvst.race._evidence import as_much_as, evidence
from cvst.race._families import FamilyKeys, count_screened, most_rounds
from cvst.race._fitting_variant import fitting_variant
from cvst.race._leader_tests import BY_TEST, excess_p_values
from cvst.race._limits import Alone, Limit
from cvst.race._look import checked_look
from cvst.race._plain_time import plain_search_seconds
from cvst.race._problem import LOSS_BYTES
from cvst.race._proposal_parts import Trial
from cvst.race._propose_and_confirm import ProposeAndConfirm
from cvst.race._ranking import (
    failed_last,
    rank_by_means,
    within_equal_looks,
)
from cvst.race._same_rows import Meeting, meetings, rows_key

__all__ = [
    "BY_TEST",
    "LOSS_BYTES",
    "Alone",
    "BitTable",
    "FamilyKeys",
    "Limit",
    "Meeting",
    "ProposeAndConfirm",
    "Trial",
    "as_much_as",
    "checked_look",
    "compact",
    "comparable_means",
    "count_screened",
    "deciding_looks",
    "deciding_losses",
    "deciding_mean",
    "evidence",
    "excess_p_values",
    "failed_last",
    "fitting_variant",
    "levels_of",
    "meetings",
    "most_rounds",
    "plain_search_seconds",
    "rank_by_means",
    "rows_key",
    "shared_deciding_looks",
    "space_of",
    "within_equal_looks",
]
