"""libsvm's solver, compiled by numba."""
