"""Fits of support vector machines on one kernel matrix."""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from time import perf_counter
from types import FrameType, ModuleType
from typing import Any, Self

import numpy as np

from cvst._sklearn_compat import libsvm_fit
from cvst._typing import FloatArray
from cvst.evaluation._telling import say
from cvst.evaluation.svm._background import BackgroundCompiler
from cvst.evaluation.svm._solutions import SvmSolution

__all__ = ["KernelBuffers", "SvmFits", "has_compiled_solver", "load_compiled_solver"]


# What it takes to load the compiled solver, and to compile it if it never was. Races
# that libsvm runs in less time do not wait for that.
LOAD_SECONDS = 0.7
COMPILE_SECONDS = 10.0

# After this time it is compiled in the background. Most races are over by then; one
# that is not has used a core that may have been idle.
BACKGROUND_SECONDS = 2.0


@cache
def has_compiled_solver() -> bool:
    """Return whether libsvm's solver can be compiled, and rounds as libsvm does.

    The first call loads it, or compiles it if that was never done.
    """
    level, reason = logging.INFO, None
    try:
        compiled = _door()
        with _patient_interrupts():
            # The first question about rounding loads or compiles the whole solver.
            works = compiled.rounding_for(1) is not None
        if compiled.is_switched_off():
            reason = "NUMBA_DISABLE_JIT is set"
        elif not works:
            reason = "the libsvm of this machine rounds in a way that is not known"
    except ModuleNotFoundError as error:
        reason = str(error)
    except Exception as error:
        # No place to store what is compiled, a damaged store, or a broken numba.
        level, reason = logging.WARNING, f"{type(error).__name__}: {error}"
    if reason is not None:
        line = " ".join(reason.split())
        say("libsvm fits", f"libsvm fits, not the compiled solver: {line}", level)
    return reason is None


def _door() -> ModuleType:
    """Return the compiled solver; this is the only import of it."""
    from cvst.evaluation.svm import compiled

    return compiled


@contextmanager
def _patient_interrupts() -> Iterator[None]:
    """Let Ctrl-C wait until a compiler is done, which may swallow it."""
    handler = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()
    if not (is_main and callable(handler)):
        yield
        return
    seen: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda *event: seen.append(event))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if seen:
            handler(*seen[-1])


@cache
def _is_stored() -> bool:
    """Return whether the solver was compiled before."""
    try:
        return bool(_door().is_stored())
    except Exception:
        # The reason is logged when the solver itself is asked for.
        return False


class _BreakEven:
    """When the compiled solver pays: libsvm took as long as loading it would.

    One that was never compiled is compiled in the background while libsvm goes on. Only
    where that fails does a race wait for it, once libsvm took as long as compiling.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self.compiler = BackgroundCompiler()

    def is_reached(self) -> bool:
        """Return whether a faster solver is worth the wait for it."""
        if self.seconds < LOAD_SECONDS:
            return False
        if _is_stored() or self.compiler.has_succeeded:
            return True
        if self.seconds >= BACKGROUND_SECONDS:
            self.compiler.start()
        return self.seconds >= COMPILE_SECONDS and not self.compiler.is_running


_break_even = _BreakEven()


def load_compiled_solver() -> None:
    """Load the compiled solver now, and use it from the first fit on."""
    has_compiled_solver()
    # The answer may be from before the call above compiled the solver.
    _is_stored.cache_clear()
    _break_even.seconds = COMPILE_SECONDS


class KernelBuffers:
    """Memory for kernel matrices, handed from one kernel of a race to the next.

    Memory that was used before costs less than new memory from the system.
    """

    def __init__(self) -> None:
        self._free: list[tuple[Any, Any]] = []
        self._lock = threading.Lock()

    def take(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return a buffer that is free; those of another look are given up."""
        with self._lock:
            self._free = [one for one in self._free if one[0] == key]
            if self._free:
                return self._free.pop()[1]
        return make()

    def give_back(self, key: Any, buffer: Any) -> None:
        """Leave a buffer to the next kernel."""
        with self._lock:
            self._free.append((key, buffer))


class SvmFits:
    """Fits machines one after the other, by the compiled solver where it pays.

    Parameters
    ----------
    matrix : ndarray of shape (n_train, at least n_train)
        Kernel matrix in C order; columns of other rows may follow.
    targets : ndarray of shape (n_train,)
        Targets; for a classification the place of each label among all.
    weights : ndarray of shape (n_train,)
        Weights of the rows.
    is_classifier : bool
        Whether the targets are labels.
    buffers : KernelBuffers or None, default=None
        Where memory for the compiled solver comes from, and goes to at the end.
    """

    def __init__(
        self,
        matrix: FloatArray,
        targets: FloatArray,
        weights: FloatArray,
        is_classifier: bool,
        buffers: KernelBuffers | None = None,
    ) -> None:
        self.matrix = matrix
        self.targets = targets
        self.weights = weights
        self.labels = targets.astype(np.intp) if is_classifier else None
        self.buffers = KernelBuffers() if buffers is None else buffers
        self._kernel: Any = None
        self._prepared: Callable[..., SvmSolution | None] | None = None
        self._is_left_to_libsvm = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._kernel is not None:
            self.buffers.give_back(self._buffer_key, self._kernel)
            self._kernel = self._prepared = None

    def fit(self, **settings: Any) -> SvmSolution:
        """Fit a machine with the settings of libsvm."""
        solution = None
        if not self._is_left_to_libsvm and _break_even.is_reached():
            solution = self._compiled_fit(settings)
        if solution is None:
            start = perf_counter()
            # libsvm wants a square; it is cut out once.
            n_train = len(self.targets)
            self.matrix = np.ascontiguousarray(self.matrix[:, :n_train])
            model = libsvm_fit(
                self.matrix, self.targets, sample_weight=self.weights, **settings
            )
            _break_even.seconds += perf_counter() - start
            n_classes = 2 if self.labels is None else int(self.labels.max()) + 1
            solution = SvmSolution.of(model, n_train, n_classes)
        return solution

    def _compiled_fit(self, settings: dict[str, Any]) -> SvmSolution | None:
        if self._prepared is None:
            self._prepared = self._prepare() if has_compiled_solver() else None
            self._is_left_to_libsvm = self._prepared is None
        if self._prepared is None:
            return None
        return self._prepared(sample_weight=self.weights, **settings)

    def _prepare(self) -> Callable[..., SvmSolution | None] | None:
        compiled = _door()
        n_train = len(self.targets)
        rounding = compiled.rounding_for(n_train)
        is_moderate = compiled.is_moderate(self.weights)
        if not is_moderate or np.abs(self.targets).max() > compiled.LARGEST:
            return None
        self._kernel = self.buffers.take(
            self._buffer_key,
            lambda: compiled.PreparedKernel(n_train, self.labels),
        )
        if rounding is None or not self._kernel.load(self.matrix):
            return None
        return partial(compiled.fit, self._kernel, self.targets, rounding)

    @property
    def _buffer_key(self) -> tuple[int, bytes | None]:
        """What a buffer depends on."""
        labels = None if self.labels is None else self.labels.tobytes()
        return len(self.targets), labels
