"""Search spaces: what may be tried, as points, and good ones for known estimators."""

from cvst.spaces._dimensions import Dimension
from cvst.spaces._lists import choices
from cvst.spaces._ranges import floats, integers
from cvst.spaces._space import Space
from cvst.spaces._suggest import suggest
from cvst.spaces._suggested import SuggestedSpace

__all__ = [
    "Dimension",
    "Space",
    "SuggestedSpace",
    "choices",
    "floats",
    "integers",
    "suggest",
]
