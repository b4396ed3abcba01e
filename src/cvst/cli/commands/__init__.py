"""The commands: a module for the options of each, and one for what it does.

The options are imported whenever the command line is read, so they import nothing
heavy; what a command does is imported when it runs.
"""

from types import ModuleType

from cvst.cli.commands import _datasets, _demo, _plan, _report, _search

__all__ = ["COMMANDS"]

COMMANDS: dict[str, ModuleType] = {
    "search": _search,
    "report": _report,
    "plan": _plan,
    "demo": _demo,
    "datasets": _datasets,
}
