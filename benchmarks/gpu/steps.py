"""What ``run.py`` measures, step by step."""

from __future__ import annotations

import cProfile
import gzip
import io
import json
import pstats
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import torch
from sklearn.kernel_ridge import KernelRidge
from sklearn.neighbors import KNeighborsClassifier

from cvst import CVST, CrossValidation, RaceGridSearchCV
from cvst.datasets import make_noisy_sinc, make_noisy_sine
from cvst.evaluation.device import _cholesky, arrays_on
from cvst.evaluation.kernels import _device_low_rank
from cvst.learners import KernelLogisticRegression

GOLDEN = Path(__file__).parents[2] / "tests" / "reference" / "runs"
WANTED = {1_000: 0.05, 5_000: 0.15, 10_000: 0.5}


def machine(run):
    import scipy
    import sklearn

    facts = {
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "sklearn": sklearn.__version__,
        "torch": torch.__version__,
        "device": run.device,
    }
    if run.device.startswith("cuda"):
        facts["card"] = torch.cuda.get_device_name()
        free, total = torch.cuda.mem_get_info()
        facts |= {"free_GiB": free / 2**30, "total_GiB": total / 2**30}
    return facts


def on_card(run):
    return run.device.startswith("cuda")


def wait(run):
    if on_card(run):
        torch.cuda.synchronize()


def best_of(run, function, n_times=3):
    """Return the shortest of several runs, the first of which does not count."""
    function()
    seconds = []
    for _ in range(n_times):
        wait(run)
        start = time.perf_counter()
        function()
        wait(run)
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def peak(run):
    n = 512 if run.is_small else 8192
    where = arrays_on(run.device)
    a = where.put(np.random.default_rng(0).standard_normal((n, n)))
    seconds = best_of(run, lambda: a @ a)
    run.peak = 2 * n**3 / seconds
    run.tell("peak", what=f"matmul of {n} x {n} doubles", TFLOPs=run.peak / 1e12)
    n_many = 4 if run.is_small else 256
    b = where.put(np.random.default_rng(0).standard_normal((n_many, 256, 1024)))
    c = where.put(np.random.default_rng(0).standard_normal((n_many, 1024, 128)))
    seconds = best_of(run, lambda: b @ c)
    rate = 2 * n_many * 256 * 1024 * 128 / seconds
    run.tell("peak", what="stack of 256 x 1024 x 128", TFLOPs=rate / 1e12)


# Same races


def golden(kind):
    for path in sorted(GOLDEN.glob(f"{kind}*.json.gz")):
        with gzip.open(path) as file:
            yield path.name.split(".")[0], json.load(file)


def golden_search(stored, estimator, device):
    """Return the search that a run of the R package stands for."""
    setup, grid = stored["setup"], stored["grid"]
    alphas = stored["N"] * np.array(grid["lambda"])
    configurations = [
        {"gamma": [gamma], "alpha": [alpha]}
        for gamma, alpha in zip(grid["gamma"], alphas, strict=True)
    ]
    strategy = CVST(
        max_steps=setup["steps"],
        stopping_window=setup["early_stopping_window"],
        similarity_level=setup["similarity_significance"],
        stopping_level=setup["early_stopping_significance"],
        loser_level=setup["beta"],
        winner_level=setup["alpha"],
        similarity="outliers" if setup["outlier_similarity"] else "auto",
    )
    return RaceGridSearchCV(
        estimator,
        configurations,
        strategy=strategy,
        ordering="given",
        refit=False,
        device=device,
    )


def expected_result(stored):
    """Return what the R package found with exact p-values."""
    kind = "result_mse_order" if stored["setup"]["outlier_similarity"] else "result"
    return stored.get(f"{kind}_exact_permutation", stored[kind])


def rows_of(part):
    X = np.array(part["x"], dtype=float)
    return X.reshape(len(part["y"]), -1), np.array(part["y"])


def same(run, kind, estimator):
    for name, stored in golden(kind):
        if run.is_small and stored["N"] > 200:
            continue
        X, y = rows_of(stored["train"])
        extra = {}
        if stored["test"]:
            extra = dict(zip(("X_val", "y_val"), rows_of(stored["test"]), strict=True))
        found = {}
        seconds = {}
        for device in ("cpu", run.device):
            search = golden_search(stored, estimator, device)
            start = time.perf_counter()
            found[device] = search.fit(X, y, **extra)
            seconds[device] = round(time.perf_counter() - start, 3)
        cpu, gpu = found["cpu"], found[run.device]
        means = np.abs(gpu.race_.mean_losses / cpu.race_.mean_losses - 1)
        expected = expected_result(stored)["traces"]
        traces = [
            "".join(str(int(top)) for top in gpu.race_.traces[:, step])
            for step in range(gpu.n_looks_)
        ]
        run.tell(
            f"same {kind}",
            run=name,
            winner=cpu.best_index_ == gpu.best_index_,
            traces=bool(np.array_equal(cpu.race_.traces, gpu.race_.traces)),
            traces_of_R=traces == expected[: gpu.n_looks_],
            largest_relative_change=float(np.nanmax(means)),
            seconds=seconds,
        )


def same_ridge(run):
    same(run, "krr", KernelRidge(kernel="rbf"))


def same_logistic(run):
    same(run, "klr", KernelLogisticRegression())


def same_low_rank(run):
    """Compare a race with features of low rank from the first look on."""
    size = 300 if run.is_small else 3_000
    X, y = make_noisy_sinc(size, random_state=0)
    before = _device_low_rank.FEWEST_OPERATIONS
    found = {}
    for device in ("cpu", run.device):
        _device_low_rank.FEWEST_OPERATIONS = 1e6
        search = ridge_search(run, size, "cvst").set_params(device=device)
        found[device] = search.fit(X, y)
    _device_low_rank.FEWEST_OPERATIONS = before
    cpu, gpu = found.values()
    means = np.abs(gpu.race_.mean_losses / cpu.race_.mean_losses - 1)
    run.tell(
        "same krr",
        run=f"noisy sinc, N={size}, low rank",
        winner=cpu.best_index_ == gpu.best_index_,
        traces=bool(np.array_equal(cpu.race_.traces, gpu.race_.traces)),
        largest_relative_change=float(np.nanmax(means)),
    )


# Times


def grid_of(n_rows, n_widths=61):
    """Return the configurations of the paper, 610 of them."""
    return {
        "gamma": np.logspace(-3, 3, n_widths).tolist(),
        "alpha": (n_rows * np.logspace(-7, 2, 10)).tolist(),
    }


def timed(run, search, X, y):
    """Fit, and return seconds and what there is to say."""
    if on_card(run):
        torch.cuda.reset_peak_memory_stats()
    wait(run)
    start = time.perf_counter()
    search.fit(X, y)
    wait(run)
    seconds = time.perf_counter() - start
    state = search.race_
    facts = {
        "seconds": round(seconds, 4),
        "looks": [
            (seen.look.n_train, len(seen.look.configurations))
            for seen in state.observations
        ],
        "seconds_of_looks": [round(seen.seconds, 4) for seen in state.observations],
        "fit_seconds": round(float(np.nansum(state.fit_seconds)), 4),
        "score_seconds": round(float(np.nansum(state.score_seconds)), 4),
        "best": search.best_params_,
    }
    if on_card(run):
        facts["peak_GiB"] = round(torch.cuda.max_memory_allocated() / 2**30, 2)
    return seconds, facts


def dense_operations(state):
    """Return what Cholesky factorisations of all systems would take."""
    return sum(
        len(seen.look.configurations) * seen.look.n_train**3 / 3
        for seen in state.observations
    )


def counted_operations(search, X, y):
    """Return the operations of the matrix products of a race."""
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        search.fit(X, y)
    return counter.get_total_flops()


def ridge_search(run, size, strategy):
    return RaceGridSearchCV(
        KernelRidge(kernel="rbf"),
        grid_of(size, 5 if run.is_small else 61),
        strategy=strategy,
        random_state=0,
        refit=False,
        device=run.device,
    )


def ridge(run, size, strategy):
    size = size // 50 if run.is_small else size
    X, y = make_noisy_sinc(size, random_state=0)
    search = ridge_search(run, size, strategy)
    first, facts = timed(run, search, X, y)
    if run.left() < 3 * first:
        run.tell("KRR", N=size, strategy=strategy, only_once=True, **facts)
        return
    n_times = 5 if first < 0.5 else 2 if first < 3 else 0
    for _ in range(n_times):
        seconds, again = timed(run, search, X, y)
        if seconds < facts["seconds"]:
            facts = again
    seconds = facts["seconds"]
    # Once per size: counting takes longer than the race.
    counts = strategy == "cvst"
    operations = counted_operations(search, X, y) if counts else float("nan")
    dense = dense_operations(search.race_)
    run.tell(
        "KRR",
        N=size,
        strategy=strategy,
        first_seconds=round(first, 4),
        wanted=WANTED.get(size),
        **facts,
        product_TFLOP=operations / 1e12,
        share_of_peak=run.peak and operations / seconds / run.peak,
        dense_TFLOP=dense / 1e12,
        dense_share_of_peak=run.peak and dense / seconds / run.peak,
    )


def cross_validation(run, size):
    size = size // 50 if run.is_small else size
    X, y = make_noisy_sinc(size, random_state=0)
    search = ridge_search(run, size, CrossValidation(10))
    # Folds take alike: one tells how long ten would take.
    n_folds = 10 if size <= 10_000 else 1
    seconds, facts = timed(run, search.set_params(max_looks=n_folds), X, y)
    dense = dense_operations(search.race_)
    del facts["looks"], facts["seconds_of_looks"]
    run.tell(
        "CV",
        N=size,
        folds_done=n_folds,
        seconds_of_ten=seconds * 10 / n_folds,
        **facts,
        dense_TFLOP=dense / 1e12,
        dense_share_of_peak=run.peak and dense / seconds / run.peak,
    )


def logistic(run, size):
    size = size // 50 if run.is_small else size
    X, y = make_noisy_sine(size, random_state=0)
    for strategy in ("cvst", "track_and_confirm"):
        found = {}
        devices = ("cpu", run.device) if size <= 1_000 else (run.device,)
        for device in devices:
            search = RaceGridSearchCV(
                KernelLogisticRegression(),
                grid_of(size, 5 if run.is_small else 61),
                strategy=strategy,
                random_state=0,
                refit=False,
                device=device,
            )
            _, facts = timed(run, search, X, y)
            if device != "cpu" and facts["seconds"] < 10:
                _, facts = timed(run, search, X, y)
            found[device] = search
            run.tell("KLR", N=size, strategy=strategy, on=device, **facts)
        if len(found) == 2:
            one, other = found.values()
            traces = np.array_equal(one.race_.traces, other.race_.traces)
            run.tell(
                "KLR same",
                N=size,
                winner=one.best_index_ == other.best_index_,
                traces=traces,
            )


def neighbours(run, size):
    size = size // 50 if run.is_small else size
    rng = np.random.default_rng(0)
    X = rng.standard_normal((size, 20))
    y = (X[:, :3].sum(axis=1) + rng.standard_normal(size) > 0).astype(int)
    grid = {"n_neighbors": list(range(1, 101)), "weights": ["uniform", "distance"]}
    found = {}
    for device in ("cpu", run.device) if size <= 10_000 else (run.device,):
        search = RaceGridSearchCV(
            KNeighborsClassifier(), grid, random_state=0, refit=False, device=device
        )
        _, facts = timed(run, search, X, y)
        found[device] = search
        run.tell("k-NN", N=size, on=device, **facts)
    if len(found) == 2:
        one, other = found.values()
        run.tell(
            "k-NN same",
            N=size,
            winner=one.best_index_ == other.best_index_,
            traces=bool(np.array_equal(one.race_.traces, other.race_.traces)),
        )


# Where time goes


def factorisations(run):
    """Compare blocks of our own with the library's factorisation."""
    sizes = ((610, 272), (610, 909), (200, 2_727))
    for n_many, n in ((20, 100),) if run.is_small else sizes:
        run.tell("factorisations", unit="TFLOPs", **rates(run, n_many, n))


FEW_SIZES = ((2, 900), (2, 4_500), (5, 800), (5, 4_000), (8, 2_000), (15, 4_000))


def few_factorisations(run):
    """Compare the library with blocks where there are few systems."""
    for n_many, n in ((2, 60),) if run.is_small else FEW_SIZES:
        run.tell("few factorisations", unit="ms", **few_rates(run, n_many, n))


def few_rates(run, n_many, n):
    """Return the milliseconds of both for a stack of systems."""
    where = arrays_on(run.device)
    rng = np.random.default_rng(0)
    one = rng.standard_normal((n, n)) / n**0.5
    stack = where.put(one @ one.T + np.eye(n))[None] + where.zeros(n_many, 1, 1)
    right = where.put(rng.standard_normal((n_many, n, 1)))
    facts = {"n_matrices": n_many, "n": n}
    before = _cholesky.FEW
    for name, few in (("library", 10**9), ("blocks", 0)):
        _cholesky.FEW = few

        def solved():
            return _cholesky.factorised(where, stack + 0.0).solve(right + 0.0)

        facts[name] = round(1e3 * best_of(run, solved), 3)
    _cholesky.FEW = before
    return facts


def rates(run, n_many, n):
    """Return how fast a stack of matrices is factorised, and milliseconds besides."""
    where = arrays_on(run.device)
    rng = np.random.default_rng(0)
    one = rng.standard_normal((n, n)) / n**0.5
    one = where.put(one @ one.T + np.eye(n))
    right = where.put(rng.standard_normal((n, 1)))
    work = where.empty(n_many, n, n)

    def fill():
        work[:] = one

    def ours(block):
        fill()
        _cholesky.factorised(where, work, block)

    def library():
        fill()
        where.cholesky(work)

    filling = best_of(run, fill)

    def rate(function, n_times):
        seconds = best_of(run, function, n_times) - filling
        return round(n_many * n**3 / 3 / seconds / 1e12, 3)

    facts = {"n_matrices": n_many, "n": n, "fill_ms": 1e3 * filling}
    for block in [one for one in (64, 128, 256) if one <= max(n, 128)]:
        facts[f"block {block}"] = rate(partial(ours, block), 2)
    if n_many * n**3 < 3e12:
        facts["library"] = rate(library, 1)
    fill()
    solve = _cholesky.factorised(where, work).solve
    rights = right[None] + where.zeros(n_many, 1, 1)
    facts["solve_ms"] = 1e3 * best_of(run, partial(solve, rights), 2)
    return facts


def low_rank(run):
    """Compare races with and without low-rank features."""
    before = _device_low_rank.FEWEST_OPERATIONS
    for size in (400,) if run.is_small else (10_000, 20_000):
        X, y = make_noisy_sinc(size, random_state=0)
        for least in (1e12, 1e99):
            _device_low_rank.FEWEST_OPERATIONS = least
            search = ridge_search(run, size, "cvst")
            seconds, facts = timed(run, search, X, y)
            if seconds < 3:
                seconds, facts = timed(run, search, X, y)
            run.tell("low rank", N=size, from_operations=least, **facts)
    _device_low_rank.FEWEST_OPERATIONS = before


def profile(run):
    races = ((300, "cvst"),)
    if not run.is_small:
        races = ((1_000, "cvst"), (10_000, "cvst"), (1_000, "track_and_confirm"))
    for size, strategy in races:
        X, y = make_noisy_sinc(size, random_state=0)
        search = ridge_search(run, size, strategy).fit(X, y)
        watch = cProfile.Profile()
        watch.enable()
        search.fit(X, y)
        watch.disable()
        text = io.StringIO()
        stats = pstats.Stats(watch, stream=text)
        stats.sort_stats("tottime").print_stats(30)
        stats.sort_stats("cumtime").print_stats(50)
        (run.out / f"host_{size}_{strategy}.txt").write_text(text.getvalue())
        kinds = [torch.profiler.ProfilerActivity.CPU]
        if on_card(run):
            kinds.append(torch.profiler.ProfilerActivity.CUDA)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with torch.profiler.profile(activities=kinds) as watched:
                search.fit(X, y)
                wait(run)
        order = "self_cuda_time_total" if on_card(run) else "self_cpu_time_total"
        table = watched.key_averages().table(sort_by=order, row_limit=30)
        (run.out / f"card_{size}_{strategy}.txt").write_text(table)
        run.tell("profile", N=size, strategy=strategy)
