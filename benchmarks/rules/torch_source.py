"""Kernel least squares for whole grids on a GPU, as a source of losses for a race."""

from __future__ import annotations

from time import perf_counter

import numpy as np
import torch

from cvst.race import LookLosses

# Matrices factorised in one call; bounds the memory of a look.
LARGEST_BATCH_ENTRIES = 3e8


class TorchKernelSource:
    """Trains and tests Gaussian kernel least squares for every (width, penalty).

    Parameters
    ----------
    X, y : ndarray
        Training rows in race order.
    gammas, alphas : ndarray
        Configuration ``i * len(alphas) + j`` has width ``gammas[i]`` and penalty
        ``alphas[j]``, the value on all rows.
    binary : bool
        0/1 loss on the sign of the prediction; targets are -1 and +1.
    rescale : bool
        Let the penalty follow the number of training rows, as the paper does.
    """

    def __init__(self, X, y, gammas, alphas, *, binary, rescale, device="cuda"):
        self.X = torch.as_tensor(X, dtype=torch.float64, device=device)
        self.y = torch.as_tensor(y, dtype=torch.float64, device=device)
        self.gammas = torch.as_tensor(gammas, dtype=torch.float64, device=device)
        self.alphas = torch.as_tensor(alphas, dtype=torch.float64, device=device)
        self.binary = binary
        self.rescale = rescale
        self.device = device
        self.operations = 0.0

    def observe(self, look):
        """Return the pointwise losses of a look."""
        start = perf_counter()
        n_samples = len(self.X)
        train = np.arange(n_samples)[look.train]
        test = np.arange(n_samples)[look.test]
        factor = len(train) / n_samples if self.rescale else 1.0
        losses = self.losses(
            self.X[train],
            self.y[train],
            self.X[test],
            self.y[test],
            look.configurations,
            factor,
        )
        table = losses.cpu().numpy()
        self.operations += len(look.configurations) * (len(train) / n_samples) ** 3
        seconds = np.full(len(table), (perf_counter() - start) / len(table))
        bad = ~np.isfinite(table).all(axis=1)
        table[bad] = np.nan
        failures = {
            int(look.configurations[i]): "not finite" for i in np.flatnonzero(bad)
        }
        return LookLosses(
            table, table.mean(axis=1), seconds, np.zeros(len(table)), failures=failures
        )

    def losses(self, X, y, X_test, y_test, configurations, factor=1.0):
        """Return (n_configurations, n_test) losses."""
        n_alphas = len(self.alphas)
        configurations = torch.as_tensor(configurations, device=self.device)
        result = torch.empty(
            (len(configurations), len(X_test)), dtype=torch.float64, device=self.device
        )
        squared = torch.cdist(X, X) ** 2
        squared_test = torch.cdist(X_test, X) ** 2
        per_batch = max(1, int(LARGEST_BATCH_ENTRIES // len(X) ** 2))
        eye = torch.eye(len(X), dtype=torch.float64, device=self.device)
        for begin in range(0, len(configurations), per_batch):
            chunk = configurations[begin : begin + per_batch]
            gammas = self.gammas[chunk // n_alphas]
            alphas = self.alphas[chunk % n_alphas] * factor
            kernels = torch.exp(-gammas[:, None, None] * squared)
            kernels += alphas[:, None, None] * eye
            factors, info = torch.linalg.cholesky_ex(kernels)
            targets = y[None, :, None].expand(len(chunk), -1, 1)
            weights = torch.cholesky_solve(targets, factors)[:, :, 0]
            for position in torch.nonzero(info).flatten().tolist():
                weights[position] = (
                    torch.linalg.lstsq(
                        kernels[position].cpu(), y[:, None].cpu(), driver="gelsd"
                    )
                    .solution[:, 0]
                    .to(self.device)
                )
            unique, place = torch.unique(gammas, return_inverse=True)
            for number in range(len(unique)):
                members = torch.nonzero(place == number).flatten()
                test_kernel = torch.exp(-unique[number] * squared_test)
                predictions = (test_kernel @ weights[members].T).T
                result[begin + members] = self._loss(predictions, y_test)
        return result

    def _loss(self, predictions, y_test):
        if self.binary:
            signs = torch.where(predictions >= 0, 1.0, -1.0).double()
            return (signs != y_test).double()
        return (predictions - y_test) ** 2
