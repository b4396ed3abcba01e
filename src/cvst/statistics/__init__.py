"""Tests on tables of losses and outcomes, whole and by prefix, and sequential tests."""

from cvst.statistics._cochran_q import cochran_q_prefixes, cochran_q_test
from cvst.statistics._cochran_q_exact import cochran_q_exact_p_value
from cvst.statistics._friedman import friedman_prefixes, friedman_test
from cvst.statistics._prefix import PrefixScan, scan_prefixes
from cvst.statistics._result import Significance
from cvst.statistics._wald import WaldTest, minimal_steps

__all__ = [
    "PrefixScan",
    "Significance",
    "WaldTest",
    "cochran_q_exact_p_value",
    "cochran_q_prefixes",
    "cochran_q_test",
    "friedman_prefixes",
    "friedman_test",
    "minimal_steps",
    "scan_prefixes",
]
