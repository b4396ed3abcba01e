"""Tests on tables of losses and outcomes, whole and by prefix, and sequential tests.

Tables have configurations in rows and data points in columns. A ``..._test`` judges all
rows, the ``..._prefixes`` of the same name the first 2, 3, ..., K of them in one pass.
"""

from cvst.statistics._cochran_q import cochran_q_prefixes, cochran_q_test
from cvst.statistics._cochran_q_exact import cochran_q_exact_p_value
from cvst.statistics._friedman import friedman_prefixes, friedman_test
from cvst.statistics._kruskal_wallis import (
    kruskal_wallis_prefixes,
    kruskal_wallis_test,
)
from cvst.statistics._mcnemar import mcnemar_exact
from cvst.statistics._outliers import outlier_outcomes
from cvst.statistics._paired import paired_excess_test
from cvst.statistics._prefix import PrefixScan, scan_prefixes
from cvst.statistics._result import Significance
from cvst.statistics._selection import (
    CorrectedBest,
    corrected_best,
    mean_interval,
    share_interval,
    standard_error_of_mean,
)
from cvst.statistics._spicer import Ruin, SpicerTest, ruin_probabilities
from cvst.statistics._symmetric import symmetric_excess_test
from cvst.statistics._wald import WaldTest, minimal_steps
from cvst.statistics._wilson import wilson_prefixes, wilson_test

__all__ = [
    "CorrectedBest",
    "PrefixScan",
    "Ruin",
    "Significance",
    "SpicerTest",
    "WaldTest",
    "cochran_q_exact_p_value",
    "cochran_q_prefixes",
    "cochran_q_test",
    "corrected_best",
    "friedman_prefixes",
    "friedman_test",
    "kruskal_wallis_prefixes",
    "kruskal_wallis_test",
    "mcnemar_exact",
    "mean_interval",
    "minimal_steps",
    "outlier_outcomes",
    "paired_excess_test",
    "ruin_probabilities",
    "scan_prefixes",
    "share_interval",
    "standard_error_of_mean",
    "symmetric_excess_test",
    "wilson_prefixes",
    "wilson_test",
]
