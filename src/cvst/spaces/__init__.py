"""Search spaces: what may be tried, as points, and good ones for known estimators."""

from cvst.spaces._dimensions import Dimension
from cvst.spaces._lists import choices
from cvst.spaces._ranges import floats, integers
from cvst.spaces._space import Space

__all__ = [
    "Dimension",
    "Space",
    "choices",
    "floats",
    "integers",
]
