"""What evaluators that share work have in common."""

from __future__ import annotations

from cvst.evaluation.sharing._alone import (
    NotSharedError,
    failure_of,
    fit_alone,
    in_a_line,
)
from cvst.evaluation.sharing._class_weights import class_weights
from cvst.evaluation.sharing._grouping import (
    Remembered,
    fitted,
    groups_by,
    is_count,
    share_or_fit_alone,
    truncated,
)
from cvst.evaluation.sharing._look_cache import InUse, PerLook, Recent, same_rows
from cvst.evaluation.sharing._prefixes import PrefixEvaluator
from cvst.evaluation.sharing._randomness import draws_at_random
from cvst.evaluation.sharing._rounds import within_rounds
from cvst.evaluation.sharing._tables import in_outcomes, warn_device_full
from cvst.evaluation.sharing._value_keys import value_key

__all__ = [
    "InUse",
    "NotSharedError",
    "PerLook",
    "PrefixEvaluator",
    "Recent",
    "Remembered",
    "class_weights",
    "draws_at_random",
    "failure_of",
    "fit_alone",
    "fitted",
    "groups_by",
    "in_a_line",
    "in_outcomes",
    "is_count",
    "same_rows",
    "share_or_fit_alone",
    "truncated",
    "value_key",
    "warn_device_full",
    "within_rounds",
]
