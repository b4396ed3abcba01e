"""From ``--grid`` to what a search takes: grammar, ranges and files."""

from cvst.cli.grid._grid import SUGGESTED, Grid, parameter_grids, read_grid

__all__ = ["SUGGESTED", "Grid", "parameter_grids", "read_grid"]
