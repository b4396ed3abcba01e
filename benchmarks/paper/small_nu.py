"""Why one race of the noisy sine chose a support vector machine that is useless.

    python benchmarks/paper/small_nu.py

The third race of SVM on the noisy sine with d = 5 and noise .5 stopped early and chose
a small nu. With scikit-learn's own ``NuSVC`` on the same rows: that nu is almost
as good as larger ones on the rows on which the race stopped, and breaks down on more.
"""

from __future__ import annotations

from problems import Problem
from sklearn.svm import NuSVC

REPETITION, GAMMA, NUS = 2, 0.15848931924611134, (0.25, 0.3, 0.35, 0.4, 0.45)
SIZES = (500, 600, 700, 800, 900, 1000)


def main() -> None:
    X, y, X_test, y_test = Problem("noisy_sine", "SVM", 1000, 5, 0.5).rows(REPETITION)
    print("| rows | " + " | ".join(f"nu = {nu:g}" for nu in NUS) + " |")
    print("|---" * (len(NUS) + 1) + "|")
    for size in SIZES:
        scores = [
            NuSVC(nu=nu, gamma=GAMMA).fit(X[:size], y[:size]).score(X_test, y_test)
            for nu in NUS
        ]
        errors = " | ".join(f"{1 - score:.3f}" for score in scores)
        print(f"| {size:,} | {errors} |", flush=True)


if __name__ == "__main__":
    main()
