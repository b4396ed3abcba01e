"""Keep a number and its unit on one line: ``1 %`` breaks badly, above all in tables."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["joined", "setup"]

UNIT = re.compile(r"(?<=\d) (?=(?:%|s|ms|kB|MB|GB)(?![\w/]))")
CODE = ("literal", "literal_block", "math", "math_block", "raw")


def joined(text: str) -> str:
    r"""Return a text whose numbers stay with their units.

    Examples
    --------
    >>> joined("in 3 % of 20 races, 15 s each, of 2 sets")
    'in 3\xa0% of 20 races, 15\xa0s each, of 2 sets'
    """
    return UNIT.sub("\N{NO-BREAK SPACE}", text)


def _inside_code(node: Any) -> bool:
    while node is not None:
        if type(node).__name__ in CODE:
            return True
        node = node.parent
    return False


def _join(app: Any, doctree: Any, name: str) -> None:
    # The tests import this module, and have no docutils.
    from docutils import nodes

    del app, name
    for text in list(doctree.findall(nodes.Text)):
        new = joined(text.astext())
        if new != text.astext() and not _inside_code(text):
            text.parent.replace(text, nodes.Text(new))


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx when to join."""
    app.connect("doctree-resolved", _join)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
