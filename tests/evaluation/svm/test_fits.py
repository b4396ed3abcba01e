"""Which solver fits a machine, and that the result does not depend on it."""

from __future__ import annotations

import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

import cvst.evaluation.svm
from cvst._sklearn_compat import libsvm_fit
from cvst.evaluation.svm import _background
from cvst.evaluation.svm import _fits as _svm_fits
from cvst.evaluation.svm._fits import (
    KernelBuffers,
    SvmFits,
    has_compiled_solver,
    load_compiled_solver,
)

SETTINGS = {
    "svm_type": 4,
    "class_weight": np.empty(0),
    "tol": 1e-3,
    "C": 2.0,
    "nu": 0.4,
    "epsilon": 0.0,
    "shrinking": 1,
    "max_iter": -1,
    "cache_size": 100.0,
}


@pytest.fixture
def curve():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2))
    targets = np.sin(3 * X[:, 0]) + 0.1 * rng.normal(size=50)
    return rbf_kernel(X, gamma=1.0), targets, np.ones(50)


@pytest.fixture
def impatient(monkeypatch):
    """Libsvm is not waited for."""
    pytest.importorskip("numba", exc_type=ImportError)
    monkeypatch.setattr(_svm_fits._break_even, "is_reached", lambda: True)


@pytest.fixture
def needs_numba():
    """Skip where numba is missing, and also where it cannot be imported."""
    pytest.importorskip("numba", exc_type=ImportError)


@pytest.fixture
def interruptible():
    """Undo what a shell does to jobs in the background: they ignore interrupts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def fitted(curve, **changes):
    matrix, targets, weights = curve
    fits = SvmFits(matrix, targets, weights, is_classifier=False)
    return fits.fit(**{**SETTINGS, **changes})


def count_libsvm(monkeypatch):
    """Note the shapes of all matrices that libsvm gets."""
    shapes = []

    def noted(matrix, *rest, **settings):
        shapes.append(matrix.shape)
        return libsvm_fit(matrix, *rest, **settings)

    monkeypatch.setattr(_svm_fits, "libsvm_fit", noted)
    return shapes


def assert_same(solution, expected):
    coefficients = np.zeros(50)
    coefficients[expected.support] = expected.dual_coef[0]
    np.testing.assert_array_equal(solution.coefficients, coefficients[None])
    np.testing.assert_array_equal(solution.intercepts, expected.intercept)


def test_the_compiled_solver_fits_the_same_machine(curve, monkeypatch, impatient):
    """Libsvm is not asked."""
    matrix, targets, weights = curve
    expected = libsvm_fit(matrix, targets, sample_weight=weights, **SETTINGS)
    monkeypatch.setattr(_svm_fits, "libsvm_fit", None)
    assert_same(fitted(curve), expected)


def test_a_wide_matrix_is_cut_for_both_solvers(curve, monkeypatch, impatient):
    """Columns of other rows follow."""
    matrix, targets, weights = curve
    expected = libsvm_fit(matrix, targets, sample_weight=weights, **SETTINGS)
    wide = np.hstack([matrix, np.full((50, 7), np.nan)]), targets, weights
    assert_same(fitted(wide), expected)
    monkeypatch.setattr(_svm_fits, "has_compiled_solver", lambda: False)
    shapes = count_libsvm(monkeypatch)
    assert_same(fitted(wide), expected)
    assert shapes == [(50, 50)]


def test_kernels_share_a_room_one_after_the_other(curve, impatient, monkeypatch):
    """The next one finds nothing of the one before; two at once have two rooms."""
    matrix, targets, weights = curve
    kernels = [matrix, matrix**3, matrix, matrix[:40, :40]]
    expected = [
        libsvm_fit(
            np.ascontiguousarray(kernel),
            targets[: len(kernel)],
            sample_weight=weights[: len(kernel)],
            **SETTINGS,
        )
        for kernel in kernels
    ]
    monkeypatch.setattr(_svm_fits, "libsvm_fit", None)
    rooms, used = KernelBuffers(), []
    for kernel, model in zip(kernels, expected, strict=True):
        n = len(kernel)
        own = kernel, targets[:n], weights[:n], False, rooms
        with SvmFits(*own) as fits, SvmFits(*own) as others:
            solution, same = fits.fit(**SETTINGS), others.fit(**SETTINGS)
            used.append({id(fits._kernel), id(others._kernel)})
        np.testing.assert_array_equal(
            solution.coefficients[0, model.support], model.dual_coef[0]
        )
        np.testing.assert_array_equal(solution.coefficients, same.coefficients)
    assert used[0] == used[1] == used[2]
    assert len(used[0]) == 2
    assert len(rooms._free) == 2  # those of the larger matrix were given up


class Compiler:
    """Stands for the process in the background: it waits to be told how it ended."""

    def __init__(self):
        self.n_starts = 0
        self.is_running = self.has_succeeded = False

    def start(self):
        if not self.n_starts:
            self.is_running = True
        self.n_starts += 1


@pytest.fixture
def patience(monkeypatch):
    """Decide between the solvers anew, with nothing in the background."""
    patience = _svm_fits._BreakEven()
    patience.compiler = Compiler()
    monkeypatch.setattr(_svm_fits, "_break_even", patience)
    monkeypatch.setattr(_svm_fits, "_is_stored", lambda: False)
    return patience


def test_a_short_race_does_not_wait_for_a_compiler(curve, patience, monkeypatch):
    """As long as libsvm was faster than loading, or compiling, the other one."""
    monkeypatch.setattr(patience.compiler, "start", lambda: None)
    asked = []

    def has_compiled_solver():
        asked.append(patience.seconds)
        return False

    monkeypatch.setattr(_svm_fits, "has_compiled_solver", has_compiled_solver)
    for is_stored, enough in ((True, 0.7), (False, 10.0)):
        monkeypatch.setattr(_svm_fits, "_is_stored", lambda known=is_stored: known)
        for seconds in (0.0, 0.99 * enough, enough):
            asked.clear()
            patience.seconds = seconds
            fitted(curve)
            assert asked == ([seconds] if seconds >= enough else [])
            assert patience.seconds > seconds  # libsvm did it, and that counts


def test_libsvm_goes_on_while_the_solver_is_compiled(curve, patience, monkeypatch):
    """However long that takes; then the other one takes over, with the same result."""
    pytest.importorskip("numba", exc_type=ImportError)
    shapes = count_libsvm(monkeypatch)
    patience.seconds = 1.9
    expected = fitted(curve)
    assert patience.compiler.n_starts == 0
    for seconds in (2.0, 9.0, 11.0, 100.0):
        patience.seconds = seconds
        solution = fitted(curve)
        assert patience.compiler.is_running
        np.testing.assert_array_equal(solution.coefficients, expected.coefficients)
    assert len(shapes) == 5
    patience.compiler.is_running, patience.compiler.has_succeeded = False, True
    solution = fitted(curve)
    assert len(shapes) == 5
    np.testing.assert_array_equal(solution.coefficients, expected.coefficients)
    np.testing.assert_array_equal(solution.intercepts, expected.intercepts)


def test_a_compiler_that_failed_leaves_the_old_rule(patience):
    """The race itself compiles, once libsvm took as long; the log will say more."""
    patience.seconds = 5.0
    assert not patience.is_reached()
    patience.compiler.is_running = False
    assert not patience.is_reached()
    patience.seconds = 10.0
    assert patience.is_reached()


def process_that(monkeypatch, code):
    """Run something else in the background, and wait for its end."""
    monkeypatch.setattr(_background, "CODE", code)
    compiler = _background.BackgroundCompiler()
    compiler.start()
    if compiler._process is not None:
        compiler._process.wait(60)
    return compiler


@pytest.mark.usefixtures("needs_numba")
@pytest.mark.parametrize("name", ["has_compiled_solver", "no_such_name"])
def test_the_process_finds_this_library_and_tells_how_it_ended(
    monkeypatch, tmp_path, name
):
    """From another folder, with the paths of this process."""
    monkeypatch.chdir(tmp_path)
    code = "import sys; sys.path[:] = {path!r}; from cvst.evaluation.svm._fits import "
    compiler = process_that(monkeypatch, code + name)
    assert not compiler.is_running
    assert compiler.has_succeeded == (name == "has_compiled_solver")


@pytest.mark.usefixtures("needs_numba")
def test_the_process_is_started_once(monkeypatch):
    compiler = process_that(monkeypatch, "")
    first = compiler._process
    compiler.start()
    assert compiler._process is first


@pytest.mark.parametrize("cause", ["frozen", "no numba", "refused"])
def test_where_nothing_can_be_started_nothing_is(monkeypatch, cause):
    def refuse(*_, **__):
        raise OSError("no room")

    if cause == "frozen":
        monkeypatch.setattr(sys, "frozen", True, raising=False)
    elif cause == "no numba":
        monkeypatch.setattr(_background, "find_spec", lambda _: None)
    else:
        monkeypatch.setattr(_background.subprocess, "Popen", refuse)
    compiler = process_that(monkeypatch, "")
    assert (compiler.is_running, compiler.has_succeeded) == (False, False)


@pytest.mark.usefixtures("needs_numba")
@pytest.mark.parametrize("error", [ImportError, OSError, EOFError, RuntimeError])
def test_whatever_is_wrong_with_numba_libsvm_goes_on(monkeypatch, caplog, error):
    """A broken numba, no place to write to, a damaged store: one line says it."""
    compiled = pytest.importorskip("cvst.evaluation.svm.compiled")

    def fail(n_train):
        raise error("no room\nleft")

    monkeypatch.setattr(compiled, "rounding_for", fail)
    assert not has_compiled_solver.__wrapped__()
    (record,) = caplog.records
    assert (record.name, record.levelname) == ("cvst", "WARNING")
    assert record.getMessage().endswith(f"solver: {error.__name__}: no room left")


def test_without_numba_the_log_says_so(monkeypatch, caplog):
    """At the level INFO: it is a choice, not a mistake."""
    for name in list(sys.modules):
        if name.startswith("cvst.evaluation.svm.compiled"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr(cvst.evaluation.svm, "compiled", raising=False)
    monkeypatch.setitem(sys.modules, "numba", None)
    caplog.set_level("INFO", "cvst")
    assert not has_compiled_solver.__wrapped__()
    (record,) = caplog.records
    assert (record.name, record.levelname) == ("cvst", "INFO")
    assert "numba" in record.getMessage()


@pytest.mark.parametrize("cause", ["NUMBA_DISABLE_JIT", "rounds"])
def test_a_solver_that_is_not_used_says_why(monkeypatch, caplog, cause):
    """Switched off, or on a machine whose libsvm rounds in another way."""
    compiled = pytest.importorskip("cvst.evaluation.svm.compiled")
    if cause == "rounds":
        monkeypatch.setattr(compiled, "rounding_for", lambda n_train: None)
    else:
        monkeypatch.setattr(compiled, "is_switched_off", lambda: True)
    caplog.set_level("INFO", "cvst")
    assert not has_compiled_solver.__wrapped__()
    (record,) = caplog.records
    assert cause in record.getMessage()


def test_a_compiled_solver_is_found_in_its_store():
    """After the first fit it need not be compiled again."""
    compiled = pytest.importorskip("cvst.evaluation.svm.compiled")
    assert has_compiled_solver()
    assert compiled.is_stored()


@pytest.mark.usefixtures("needs_numba", "interruptible")
@pytest.mark.skipif(sys.platform == "win32", reason="os.kill ends the process there")
@pytest.mark.parametrize("fails", [False, True])
def test_an_interrupt_waits_for_the_compiler(monkeypatch, fails):
    """It would be swallowed now and then; afterwards it is as any other."""
    compiled = pytest.importorskip("cvst.evaluation.svm.compiled")
    handler = signal.getsignal(signal.SIGINT)
    done = []

    def compile_slowly(n_train):
        os.kill(os.getpid(), signal.SIGINT)
        while len(done) < 1000:  # somewhere here it arrives
            done.append(n_train)
        if fails:
            raise OSError

    monkeypatch.setattr(compiled, "rounding_for", compile_slowly)
    with pytest.raises(KeyboardInterrupt):
        has_compiled_solver.__wrapped__()
    assert len(done) == 1000
    assert signal.getsignal(signal.SIGINT) is handler


def test_signals_are_left_alone_in_a_thread(monkeypatch):
    """Only the main thread may."""
    pytest.importorskip("numba", exc_type=ImportError)
    monkeypatch.setattr(signal, "signal", None)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(has_compiled_solver.__wrapped__).result()


def test_infeasible_shares_are_refused_by_libsvm(curve, monkeypatch):
    """In its own words."""
    matrix, _, weights = curve
    labels = np.array([0.0] * 45 + [1.0] * 5)
    fits = SvmFits(matrix, labels, weights, is_classifier=True)
    monkeypatch.setattr(_svm_fits._break_even, "is_reached", lambda: True)
    with pytest.raises(ValueError, match="specified nu is infeasible"):
        fits.fit(**{**SETTINGS, "svm_type": 1, "nu": 0.9})


@pytest.mark.parametrize(
    "changes",
    [{"C": 1e31}, {"C": 1e-31}, {"svm_type": 3, "epsilon": 1e31}, {"tol": 1e-31}],
    ids=["large C", "small C", "large epsilon", "small tol"],
)
def test_extreme_settings_are_left_to_libsvm(curve, impatient, changes, monkeypatch):
    """Sums might overflow on the way, or bounds vanish."""
    asked = count_libsvm(monkeypatch)
    fitted(curve, max_iter=10)
    assert not asked
    fitted(curve, max_iter=10, **changes)
    assert len(asked) == 1


@pytest.mark.parametrize("part", ["targets", "weights", "curvatures"])
def test_extreme_rows_are_left_to_libsvm(curve, impatient, monkeypatch, part):
    """The first steps with such curvatures would be other ones."""
    matrix, targets, weights = curve
    if part == "targets":
        targets = targets * 1e31
    elif part == "weights":
        weights = weights * np.linspace(1e-31, 1, 50)
    else:
        matrix = matrix * 1e-36
    asked = count_libsvm(monkeypatch)
    fitted(curve, max_iter=10)
    assert not asked
    fitted((matrix, targets, weights), max_iter=10)
    assert len(asked) == 1


def test_loading_the_solver_ends_all_patience(curve, monkeypatch):
    """For users who know that their race will be long."""
    pytest.importorskip("numba", exc_type=ImportError)
    monkeypatch.setattr(_svm_fits, "_break_even", _svm_fits._BreakEven())
    load_compiled_solver()
    monkeypatch.setattr(_svm_fits, "libsvm_fit", None)
    assert fitted(curve).status == 0


def test_numba_is_found_where_it_is_installed():
    """So that no test above is passed by libsvm alone."""
    pytest.importorskip("numba", exc_type=ImportError)
    assert has_compiled_solver()
