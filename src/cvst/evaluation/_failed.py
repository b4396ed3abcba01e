"""What to say of configurations whose fits failed."""

from __future__ import annotations

from collections.abc import Sequence

from sklearn.exceptions import FitFailedWarning

from cvst._text import configuration_text
from cvst._typing import Configuration
from cvst.race import Look

__all__ = ["failure_warning", "shown"]


LONGEST_CONFIGURATION = 300


def shown(configuration: Configuration) -> str:
    """Return a configuration as text, whatever its values do and hold."""
    try:
        text = str(configuration)
    except Exception:  # whatever the repr of a foreign value raises
        return configuration_text(configuration, LONGEST_CONFIGURATION)
    if len(text) <= LONGEST_CONFIGURATION:
        return text
    # Cut value by value, so that a long one does not hide the others.
    return configuration_text(configuration, LONGEST_CONFIGURATION)


def failure_warning(
    look: Look, failures: dict[int, str], params: Sequence[Configuration]
) -> FitFailedWarning:
    """Say once which configurations failed, and why the first one did."""
    index, reason = next(iter(failures.items()))
    return FitFailedWarning(
        f"{len(failures)} of {len(look.configurations)} configurations failed on "
        f"{look.n_train} rows and count as flops there. The first one, "
        f"{shown(params[index])}, failed with {reason.removesuffix('.')}. Later "
        "failures of the same configurations are recorded but not repeated here."
    )
