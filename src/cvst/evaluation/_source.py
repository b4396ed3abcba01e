"""The losses of one ordered data set: rescale, fit in parallel chunks, score."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np

from cvst._sklearn_compat import num_samples
from cvst._text import counted
from cvst._typing import Configuration, FloatArray, IntArray, count_rows
from cvst._users_line import users_line
from cvst.evaluation._ahead import Ahead, Plan, SeveralLooks
from cvst.evaluation._dispatch import are_independent, carries, divides
from cvst.evaluation._failed import shown
from cvst.evaluation._folds_on_device import FoldsOnDevice
from cvst.evaluation._keeping import Keeper, Listener, paced_chunks
from cvst.evaluation._protocol import BatchEvaluator, Scratch
from cvst.evaluation._rows import RaceData, take
from cvst.evaluation._scored import (
    Scored,
    Scores,
    Tables,
    check_outcomes,
    exact_means,
    lost,
    means_with_errors,
    numbers_of,
    one_by_one,
    other_tables,
    rows_of,
    whole_look,
    without_undefined,
)
from cvst.evaluation._telling import Told
from cvst.evaluation._work import PARTS_OF_LOOK, ROWS_OF_LOOK, Work, reason_of
from cvst.evaluation.device import Arrays
from cvst.evaluation.losses import PointwiseLoss
from cvst.evaluation.rescaling import Rescaling
from cvst.exceptions import AllFitsFailedError, CVSTWarning, InvalidInputError
from cvst.parallel import (
    Cluster,
    Guard,
    OnFile,
    effective_n_jobs,
    in_chunks,
    run_chunks,
    works_here,
)
from cvst.race import Folds, Look, LookCutError, LookLosses

__all__ = ["DataSource", "Gate"]

T = TypeVar("T")


class Gate(Protocol):
    """Hands out the work of one look while there is time."""

    def chunks(self, groups: list[list[int]]) -> Iterator[list[list[int]]]:
        """Yield groups to be done next, asked as late as the workers allow."""
        ...

    def done(self, configurations: list[int]) -> None:
        """Hear which configurations of the look are done."""
        ...

    def heed(self, configuration: int) -> None:
        """Hear of one in the middle of a group; raise ``LookCutError`` to end it."""
        ...


@dataclass
class DataSource:
    """Trains and tests configurations on one ordered data set.

    Parameters
    ----------
    estimator : estimator
        Unfitted template.
    configurations : list of dict
        The grid, by number; :meth:`admit` appends to it.
    data : RaceData
        Rows in race order.
    loss : PointwiseLoss
        What is compared.
    others : mapping of str to PointwiseLoss
        Scores to be recorded besides, by name.
    rescaling : Rescaling
        How hyper-parameters follow the subset size.
    evaluator : BatchEvaluator
        Fits the configurations.
    n_jobs : int or None
        Number of workers.
    with_residuals : bool
        Whether looks report signed residuals too.
    raise_errors : bool
        Whether the first failed fit ends the race.
    watch : callable or None
        Called as ``watch(n_done, n_total)`` before the first and after every chunk of
        configurations; it may raise to end the look.
    keep_losses : bool
        Whether to keep the pointwise losses of all looks in ``kept``.
    stored : OnFile or None
        The same rows, in a file that worker processes read.
    guard : Guard or None
        Processes that fit and can be ended, instead of joblib's workers.
    cluster : Cluster or None
        Workers of a cluster, which know the rows.
    device : Arrays or None
        Where the evaluator works on all configurations of a look together.
    folds : mapping of int to Folds
        The folds of the race, of which idle workers may do some ahead of time.
    all_stay : bool
        Whether every configuration takes every fold, whatever comes out.
    keeper : Keeper or None
        Gets the results of each group of configurations as soon as they are there, and
        knows some of them from an earlier run.
    """

    estimator: Any
    configurations: list[Configuration]
    data: RaceData
    loss: PointwiseLoss
    rescaling: Rescaling
    evaluator: BatchEvaluator
    classes: Any = None
    n_jobs: int | None = None
    with_residuals: bool = False
    raise_errors: bool = False
    watch: Callable[[int, int], None] | None = None
    keep_losses: bool = False
    others: Mapping[str, PointwiseLoss] = field(default_factory=dict)
    stored: OnFile[RaceData] | None = None
    guard: Guard | None = None
    cluster: Cluster | None = None
    device: Arrays | None = None
    keeper: Keeper | None = None
    kept: list[tuple[IntArray, FloatArray]] = field(default_factory=list)
    folds: Mapping[int, Folds] = field(default_factory=dict)
    all_stay: bool = False
    ahead: Ahead = field(init=False)
    together: FoldsOnDevice = field(init=False)
    divides: bool = field(init=False)
    scratch: Scratch = field(default_factory=Scratch)
    warned: set[str] = field(default_factory=set)
    told: Told = field(default_factory=Told)

    def __post_init__(self) -> None:
        # Its own list, so that admitting changes no list of the caller.
        self.configurations = list(self.configurations)
        asked = self.evaluator, self.estimator, self.loss.response
        self.ahead = Ahead(self.folds, are_independent(*asked), self.all_stay)
        self.together = FoldsOnDevice(self.folds)
        self.divides = divides(*asked)

    def admit(self, configurations: Sequence[Configuration]) -> None:
        """Append configurations that join the race, numbered after those known."""
        self.rescaling = self.rescaling.extended(configurations)
        self.configurations.extend(configurations)

    def relive(self, looks: Sequence[Look]) -> bool:
        """Make again what the evaluator carries from look to look, if it does.

        Returns
        -------
        bool
            Whether it carries anything.
        """
        if not carries(self.evaluator):
            return False
        quiet = replace(self, keeper=None, keep_losses=False, watch=None)
        for look in looks:
            quiet.observe(look)
        return True

    def observe(self, look: Look, gate: Gate | None = None) -> LookLosses:
        """Return the pointwise losses of a look; a failed fit is a row of NaN.

        Parameters
        ----------
        look : Look
            Where to look.
        gate : Gate or None
            Hands out the work bit by bit, and may end the look before all is done.

        Raises
        ------
        LookCutError
            If the gate closed before all was done.
        """
        tables = self._tables(look)
        # In this process losses are entered at once, so that each exists only once.
        work = self.work(look, tables.enter if (here := self._is_here()) else None)
        if gate is not None and here:  # what was to be shared may not be, and take long
            work = replace(work, heed=gate.heed)
        try:
            scored = self._run(work, gate, tables)
        finally:
            self.scratch.drop(ROWS_OF_LOOK)
            self.scratch.drop(PARTS_OF_LOOK)
        return self._seen(work, scored, tables)

    def losses_of(self, work: Work, scored: Sequence[Scores]) -> LookLosses:
        """Return the losses of a look that was done elsewhere, as a whole."""
        self._complain(scored)
        check_outcomes(self.evaluator, work.configurations, scored)
        tables = self._tables(work.look)
        return self._seen(work, [tables.entered(one) for one in scored], tables)

    def _tables(self, look: Look) -> Tables:
        weights = take(self.data.score_weights, look.test)
        if weights is not None and not np.any(weights > 0):
            raise InvalidInputError(
                f"sample_weight is 0 for all {len(weights)} rows to be tested on after "
                f"training on {look.n_train}. Drop rows of weight 0."
            )
        return Tables(look, self.n_points(look), self.with_residuals)

    def _seen(self, work: Work, scored: list[Scores], tables: Tables) -> LookLosses:
        look, seen = work.look, None
        # What is kept is kept one by one, and must add up to the same bits later.
        if self.data.score_weights is None and self.keeper is None:
            seen = whole_look(look, scored, self.loss, take(self.data.y, look.test))
        if seen is None:
            rows = one_by_one(work.configurations, scored)
            seen = self._gather(look, [tables.enter(row) for row in rows], tables)
        self.ahead.hear(scored, look.configurations.tolist(), seen.mean_losses)
        if self.keep_losses:
            self.kept.append((look.configurations, seen.losses))
        return seen

    def _is_here(self) -> bool:
        return self.guard is None and self.cluster is None and works_here(self.n_jobs)

    def work(
        self,
        look: Look,
        enter: Callable[[Scored], Scored] | None = None,
        *,
        apart: bool = False,
    ) -> Work:
        """Return a look as workers get it.

        Parameters
        ----------
        look : Look
            Where to look.
        enter : callable or None
            Takes the losses of each result at once; None where they have to travel.
        apart : bool
            Whether it leaves alone what the race keeps and what goes to a checkpoint.
        """
        n_samples = self.data.n_meant
        configurations = {
            number: self.rescaling.configuration(number, look.n_train, n_samples)
            for number in look.configurations.tolist()
        }
        return Work(
            self.evaluator,
            self.estimator,
            self._rows(),
            self.loss,
            self.others,
            look,
            configurations,
            self.classes,
            self.scratch.for_a_look() if apart else self.scratch,
            self.with_residuals,
            self.device,
            Listener() if apart else Listener(self.keep),
            enter,
            told=self.told,
        )

    def _run(self, work: Work, gate: Gate | None, tables: Tables) -> list[Scores]:
        groups = self._groups(work, gate)
        n_total = len(work.configurations)
        known, groups = self._known(work.look, groups, gate)
        scored: list[Scores] = [*known]
        finished = {one.configuration for one in known}
        is_whole, left, plan = self._is_whole(work, gate), groups, Plan()
        early = self.together.take(work.look) if is_whole else []
        left = [] if early else left
        stride = len(self.configurations)
        # Asked once for a look: joblib takes a while to say where the workers are.
        if work.enter is None:
            early, left, groups = self.ahead.split(work.look, groups, self._cut)
            left = self.ahead.longest_first(left) if gate is None else left
            if self._looks_ahead(gate):
                n_workers = effective_n_jobs(self.n_jobs)
                plan = self.ahead.plan(work.look, groups, left, n_workers, stride)
        cut = partial(self._chunks, gate=gate, n_done=finished.__len__)
        chunks = plan.in_order(left, cut, finished, stride)
        if self.watch is not None:
            self.watch(len(finished), n_total)
        batches = self._answers(early, work, plan, chunks, gate)
        # An error in between must not leave workers busy.
        with closing(batches):
            for results in batches:
                self._complain(results)
                self.keep(results)
                scored += [tables.entered(result) for result in results]
                done = [number for result in results for number in numbers_of(result)]
                finished.update(done)
                if self.watch is not None:
                    self.watch(len(finished), n_total)
                if gate is not None:
                    gate.done(done)
        if gate is not None and len(finished) < n_total:
            raise LookCutError
        check_outcomes(self.evaluator, work.configurations, scored)
        return scored

    def _cut(self, groups: list[list[int]], look: Look) -> list[list[int]]:
        """Cut groups where workers get the parts and it changes no result."""
        if self.device is not None or not self.divides:
            return groups
        return self.ahead.cut(groups, effective_n_jobs(self.n_jobs), look)

    def _looks_ahead(self, gate: Gate | None) -> bool:
        """Return whether idle workers may do some of the folds to come."""
        alone = gate is not None or self.device is not None
        return not (alone or self.guard is not None or carries(self.evaluator))

    def _answers(
        self,
        early: list[Scores],
        work: Work,
        plan: Plan,
        chunks: Iterable[list[list[int]]],
        gate: Gate | None,
    ) -> Generator[list[Scores], None, None]:
        """Yield what is known already, then what the workers return of this look."""
        if early:
            yield [*early]
        stride = len(self.configurations)
        looks: Callable[..., list[Scores]] = work
        if not early and self._is_whole(work, gate):
            looks = self.together.with_later(work, partial(self.work, apart=True))
        if plan.groups:
            later = (self.work(look, apart=True) for look in plan.looks)
            looks = SeveralLooks((work, *later), stride)
        # Where the order depends on what is done, chunks are taken late.
        eager = gate is None and not plan.in_the_dark
        with closing(self.batches(looks, chunks, lost, eager=eager)) as batches:
            for results in batches:
                # Those of later folds may never be looked at.
                self.told.repeat(results)
                yield self.ahead.present(plan, stride, results)

    def _complain(self, results: Sequence[Scores]) -> None:
        """Raise what went wrong if the user wants that; else warn of other scores."""
        self.told.repeat(results)
        for result in results:
            errors = [result.error, *result.other_errors.values()]
            first = next((error for error in errors if error is not None), None)
            if self.raise_errors and first is not None:
                raise first
            for name in set(result.other_errors) - self.warned:
                self.warned.add(name)
                warnings.warn(
                    f"The score {name!r} could not be computed and is recorded as "
                    f"error_score: {reason_of(result.other_errors[name])}.",
                    CVSTWarning,
                    stacklevel=users_line(),
                )

    def _is_whole(self, work: Work, gate: Gate | None) -> bool:
        """Return whether a device does the look here, and as a whole."""
        elsewhere = gate is not None or self.keeper is not None or work.enter is None
        return self.device is not None and not elsewhere

    def _groups(self, work: Work, gate: Gate | None) -> list[list[int]]:
        # A device takes the whole look, and to sort it into groups would take longer.
        if self.device is not None and gate is None and self.keeper is None:
            return [list(work.configurations)]
        return self.evaluator.groups(self.estimator, work.configurations)

    def _rows(self) -> RaceData | OnFile[RaceData] | None:
        if self.cluster is not None:
            return None
        return self.data if self.stored is None else self.stored

    def batches(
        self,
        work: Callable[..., list[T]],
        chunks: Iterable[list[list[int]]],
        lost: Callable[[list[list[int]], str], list[T]],
        *,
        eager: bool = True,
    ) -> Generator[list[T], None, None]:
        """Have workers do chunks of groups; ``lost`` stands in where one died."""
        if (engine := self.guard or self.cluster) is not None:
            return engine.run(work, chunks, lost, eager=eager)
        prefer = self.evaluator.prefer
        return run_chunks(work, chunks, self.n_jobs, prefer, eager=eager, lost=lost)

    def _known(
        self, look: Look, groups: list[list[int]], gate: Gate | None
    ) -> tuple[list[Scored], list[list[int]]]:
        """Return what is known of a look, and the groups that are not done yet."""
        if self.keeper is None:
            return [], groups
        known = [Scored(**fields) for fields in self.keeper.known(look, groups)]
        done = {one.configuration for one in known}
        # What is computed together stays together, should a part be lost.
        left = [group for group in groups if not done.issuperset(group)]
        done -= {number for group in left for number in group}
        if gate is not None:
            gate.done(list(done))
        return [one for one in known if one.configuration in done], left

    def keep(self, results: Sequence[Scores], look: Look | None = None) -> None:
        """Keep results, of the look under way or of one that others are beside."""
        if self.keeper is None:
            return
        rows = [row for result in results for row in rows_of(result)]
        # An error that ends the search is to end it the next time too.
        good = [one for one in rows if one.error is None or not self.raise_errors]
        if look is None or len(good) == len(rows):  # else a part is missing
            self.keeper.keep(good, look)

    def _chunks(
        self, groups: list[list[int]], gate: Gate | None, n_done: Callable[[], int]
    ) -> Iterable[list[list[int]]]:
        if gate is not None:
            return gate.chunks(groups)
        if self.device is not None:
            return [groups] if groups else []
        n_workers = effective_n_jobs(self.n_jobs)
        chunks = in_chunks(groups, n_workers)
        heard = n_workers == 1 or self.evaluator.prefer == "threads"
        if self.keeper is None or (heard and self.cluster is None):
            return chunks
        # Other processes tell of a chunk when it is done, so chunks are short.
        largest = max(sum(map(len, chunk)) for chunk in chunks) if chunks else 1
        return paced_chunks(groups, largest, n_done)

    def _gather(self, look: Look, scored: list[Scored], tables: Tables) -> LookLosses:
        scored = without_undefined(scored)
        good = [result for result in scored if result.losses is not None]
        if not good and not look.may_fail:
            first = scored[0]
            raise AllFitsFailedError(
                f"{'All ' * (len(scored) > 1)}{counted(len(scored), 'configuration')} "
                f"failed on {look.n_train} rows. The first one, "
                f"{shown(self.configurations[look.configurations[0]])}, "
                f"failed with:\n{first.details}"
            )
        losses = tables.losses_of(scored)
        failures = {
            result.configuration: result.reason
            for result in scored
            if result.losses is None
        }
        weights = take(self.data.score_weights, look.test)
        means, standard_errors = means_with_errors(losses, weights)
        y_test = take(self.data.y, look.test)
        scores = self._scores(look, y_test, means, scored)
        ranked, slopes = self.loss.ranked(means)
        return LookLosses(
            losses=losses,
            mean_losses=exact_means(ranked, scored, self.loss),
            residuals=tables.known_residuals(good),
            fit_seconds=np.array([result.fit_seconds for result in scored]),
            score_seconds=np.array([result.score_seconds for result in scored]),
            failures=failures,
            standard_errors=standard_errors * slopes,
            scores=scores,
            other_scores=other_tables(scored),
            rankable=self.loss.rankable,
        )

    def _scores(
        self, look: Look, y_test: Any, means: FloatArray, scored: list[Scored]
    ) -> FloatArray:
        """Return the scores: those that came with the losses, or of their means."""
        weights = take(self.data.score_weights, look.test)
        scores = np.array(self.loss.score(means, y_test, weights), dtype=float)
        for place, result in enumerate(scored):
            if result.score is not None:
                scores[place] = result.score
        return scores

    def n_points(self, look: Look) -> int:
        """Return how many rows of a look have a loss: those of weight 0 have none."""
        weights = take(self.data.score_weights, look.test)
        if weights is not None:
            return int(np.sum(weights > 0))
        return count_rows(look.test, num_samples(self.data.X))
