"""Print the imports of a checkout in numbers: rooms, floors, arrows.

``python benchmarks/imports_in_numbers.py [SRC]`` counts the package below ``SRC``
(default: ``src``), for each package as the architecture page draws it. A room is a
module, or a package taken as one; an ``__init__`` that only hands names on is not one.
An arrow is one or more imports from a room to another. A room stands on a floor above
all that it imports.
"""

from __future__ import annotations

import sys
from pathlib import Path

import grimp

__all__ = ["count"]

PACKAGES = ("cvst", "cvst.evaluation", "cvst.race", "cvst.search", "cvst.cli")


def count(graph: grimp.ImportGraph, package: str) -> dict[str, int]:
    """Return how many rooms, floors and arrows a package has, and modules below it.

    Parameters
    ----------
    graph : ImportGraph
        All imports.
    package : str
        The package whose rooms are counted.
    """
    rooms = sorted(graph.find_children(package))
    # Imports of a package stand for those of all modules in it.
    inside = {room: {room, *graph.find_descendants(room)} for room in rooms}
    imports = {
        room: {
            other
            for other in rooms
            if other != room
            and any(
                graph.find_modules_directly_imported_by(one) & inside[other]
                for one in inside[room]
            )
        }
        for room in rooms
    }
    return {
        "modules": len(graph.find_descendants(package)),
        "rooms": len(rooms),
        "floors": _floors(imports),
        "arrows": sum(map(len, imports.values())),
    }


def _floors(imports: dict[str, set[str]]) -> int:
    """Return the length of the longest chain; 0 if there is a circle."""
    floors = 0
    left = dict(imports)
    while left:
        ground = {room for room, others in left.items() if not others & left.keys()}
        if not ground:
            return 0
        left = {room: left[room] for room in left.keys() - ground}
        floors += 1
    return floors


def main() -> None:
    """Print a row for each package."""
    source = Path(sys.argv[1] if len(sys.argv) > 1 else "src").resolve()
    sys.path.insert(0, str(source))
    graph = grimp.build_graph("cvst", cache_dir=None)
    print(source)
    for package in PACKAGES:
        numbers = count(graph, package)
        row = ", ".join(f"{number} {name}" for name, number in numbers.items())
        print(f"{package:16} {row}")


if __name__ == "__main__":
    main()
