"""Gather the fragments of ``changelog.d`` into one page, before each build."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["KINDS", "setup", "unreleased"]

KINDS = {"added": "Added", "changed": "Changed", "fixed": "Fixed"}


def unreleased(folder: Path) -> str:
    """Return what changed since the last release, by kind."""
    parts = []
    for kind, title in KINDS.items():
        texts = [
            path.read_text(encoding="utf-8").strip()
            for path in sorted(folder.glob(f"*.{kind}.md"))
        ]
        if texts:
            # Links of a fragment start where CHANGELOG.md is, above the site.
            texts = [text.replace("](docs/", "](") for text in texts]
            items = [f"- {text.removeprefix('- ')}" for text in texts]
            parts.append("\n".join([f"### {title}", "", *items]))
    return "\n\n".join(parts) + "\n"


def _write(app: Any) -> None:
    root = Path(app.srcdir).parent
    text = unreleased(root / "changelog.d")
    path = Path(app.srcdir) / "_unreleased.md"
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx when to gather."""
    app.connect("builder-inited", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
