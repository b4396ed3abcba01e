"""Say what a release still lacks before it may be published.

``make release`` prints it. The workflow of the release runs it, and does not publish
while anything is missing: what is on a package index cannot be changed any more.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]

# What a user looks for on a package index, by the names that indexes know.
ADDRESSES = ("Homepage", "Repository", "Documentation", "Issues", "Changelog")


def missing(root: Path) -> list[str]:
    """Return what a checkout lacks, one sentence each."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    urls = project.get("urls", {})
    found = [
        f"[project.urls] of pyproject.toml has no {name}."
        for name in ADDRESSES
        if not str(urls.get(name, "")).startswith("https://")
    ]
    readme = (root / "README.md").read_text("utf-8")
    relative = re.findall(r"\]\((?!https://|#)([^)\s]+)\)", readme)
    if relative:
        found.append(
            f"README.md has {len(relative)} relative links, which lead nowhere on a "
            f"package index; the first is {relative[0]}."
        )
    if "\nrepository-code: https://" not in (root / "CITATION.cff").read_text("utf-8"):
        found.append("CITATION.cff has no repository-code.")
    if ".dev" in project["version"]:
        found.append(f"The version {project['version']} is one of development.")
    return found


def report(found: list[str]) -> str:
    """Return the text that says what is missing, or that nothing is."""
    if not found:
        return "Nothing is missing: the release may be published.\n"
    lines = "".join(f"  - {one}\n" for one in found)
    where = "docs/developer/release.md has the lines to add.\n"
    return f"NOT READY TO PUBLISH\n{lines}{where}"


def main() -> int:
    """Print what is missing, and return 1 if anything is."""
    found = missing(ROOT)
    sys.stdout.write(report(found))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
