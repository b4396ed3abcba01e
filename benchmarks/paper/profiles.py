"""How much is run: ``smoke`` in a minute, ``laptop`` in days, ``full`` as printed."""

from __future__ import annotations

from dataclasses import dataclass, field

from grids import Shape

__all__ = ["PROFILES", "Profile"]


@dataclass(frozen=True)
class Profile:
    """Sizes of all experiments.

    Attributes
    ----------
    repetitions : int
        Of every problem.
    toy_repetitions : int or None
        Those of the artificial sets, if other.
    caps : dict
        Learner to the largest number of rows of a benchmark set to learn from.
    small_rows : int
        Benchmark sets with at most so many rows to learn from have no cap.
    small_repetitions : int or None
        Repetitions of these, if other.
    toy_rows : int
        Rows of an artificial set to learn from.
    more_rows : tuple of int
        Those of "more data".
    more_repetitions : tuple of int
        Repetitions of each of these.
    n_test : int or None
        At most so many rows to test on; None for the paper's.
    shape : (int, int)
        Widths and penalties of the grids.
    plain_share : float
        Part of the grid on which plain GridSearchCV is timed.
    data : tuple of str
        Only these benchmark sets; empty for all.
    settings : int or None
        Only so many settings of d and noise of each artificial set; None for all.
    generated : bool
        Draw rows of sets that have a generator, so that no file is needed.
    theory_repetitions : int
        Resamples of the simulations (200 in the paper).
    """

    name: str
    repetitions: int
    toy_repetitions: int | None = None
    caps: dict[str, int] = field(default_factory=dict)
    small_rows: int = 0
    small_repetitions: int | None = None
    toy_rows: int = 1000
    more_rows: tuple[int, ...] = (2000, 5000)
    more_repetitions: tuple[int, ...] = (50, 50)
    n_test: int | None = None
    shape: Shape = (61, 10)
    plain_share: float = 0.05
    data: tuple[str, ...] = ()
    settings: int | None = None
    generated: bool = False
    theory_repetitions: int = 200

    def size_of(self, n_train: int, learner: str) -> tuple[int, int]:
        """Return the rows to learn from and the repetitions of a benchmark set.

        Parameters
        ----------
        n_train : int
            Rows that the paper learns from.
        learner : str
            Name of the learner.
        """
        if n_train <= self.small_rows:
            return n_train, self.small_repetitions or self.repetitions
        return min(n_train, self.caps.get(learner, n_train)), self.repetitions


# Processor seconds of one search over 610 configurations with 1,000 rows on a two-core
# ARM machine, CVST and ten-fold cross-validation:
#     KRR 1 to 2 and 15 to 78, KLR 4 to 8 and 130, SVM 3 to 15 and 95, SVR 11 and 155;
# plain GridSearchCV on a part of the grid 3 to 10, halving search 20 to 50. By
# these, one repetition of all of ``laptop`` takes a few hours of processor time, most
# of it for full cross-validation and plain GridSearchCV.
PROFILES = {
    profile.name: profile
    for profile in (
        Profile(
            "smoke",
            repetitions=2,
            caps=dict.fromkeys(("KLR", "SVM", "KRR", "SVR"), 120),
            toy_rows=120,
            more_rows=(150, 200),
            more_repetitions=(1, 1),
            n_test=500,
            shape=(5, 3),
            plain_share=0.07,
            data=("twonorm", "blocks"),
            settings=1,
            generated=True,
            theory_repetitions=20,
        ),
        Profile(
            "laptop",
            repetitions=15,
            toy_repetitions=25,
            caps=dict.fromkeys(("KLR", "SVM", "KRR", "SVR"), 1000),
            small_rows=1587,
            small_repetitions=50,
            more_rows=(2000, 5000),
            more_repetitions=(3, 1),
            theory_repetitions=200,
        ),
        Profile("full", repetitions=50),
    )
}
