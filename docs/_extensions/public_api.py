"""Write the pages of the API from the ``__all__`` of the packages, before each build.

Every public name gets a page. After the build each must be in the inventory, or the
build fails: a name cannot be public and undocumented.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from pathlib import Path
from typing import Any

import cvst

__all__ = ["NOT_PUBLIC", "documented_names", "homes", "page_of", "setup", "write_pages"]

# In the order of the menu: what users need first comes first.
FIRST = ["cvst", "cvst.search", "cvst.race", "cvst.spaces", "cvst.displays"]

# The command line has pages of its own and no names to import; workers are for the
# library alone.
NOT_PUBLIC = ("cvst.cli", "cvst.parallel")


def packages() -> list[str]:
    """Return the public packages and modules, the most useful first."""
    found = [
        module.name
        for module in pkgutil.iter_modules(cvst.__path__, prefix="cvst.")
        if not module.name.rsplit(".", 1)[-1].startswith("_")
    ]
    return [*FIRST, *sorted({"cvst", *found} - {*FIRST, *NOT_PUBLIC})]


def documented_names() -> dict[str, list[str]]:
    """Return the public names of each package."""
    return {
        name: sorted(importlib.import_module(name).__all__, key=str.lower)
        for name in packages()
    }


def homes() -> dict[tuple[str, str], str]:
    """Return under which full name each public name is documented.

    What ``cvst`` itself exports is documented there; what two packages export, in the
    first of them.
    """
    seen: dict[int, str] = {}
    found = {}
    for package, names in documented_names().items():
        for name in names:
            value = getattr(importlib.import_module(package), name)
            own = f"{package}.{name}"
            # Equal numbers and words are not one object.
            shared = _is_class(value) or inspect.isfunction(value)
            found[package, name] = seen.setdefault(id(value), own) if shared else own
    return found


def _members(value: type) -> list[tuple[str, str]]:
    """Return methods and properties that the library itself defines."""
    members = []
    for name in sorted(dir(value)):
        # scikit-learn writes the requests of its routing into every estimator.
        if name.startswith("_") or name.endswith("_request"):
            continue
        owner = next((one for one in value.__mro__ if name in vars(one)), None)
        if owner is None or not owner.__module__.startswith("cvst"):
            continue
        member = inspect.getattr_static(value, name)
        if isinstance(member, property):
            members.append(("autoproperty", name))
        elif callable(getattr(value, name)) and not inspect.isclass(member):
            members.append(("automethod", name))
    return [(kind, name) for kind, name in members if _has_text(value, name)]


def _has_text(value: type, name: str) -> bool:
    return bool(inspect.getdoc(getattr(value, name, None)))


def page_of(full_name: str) -> str:
    """Return the page of one public name."""
    package, name = full_name.rsplit(".", 1)
    value = getattr(importlib.import_module(package), name)
    title = f"{name}\n{'=' * len(name)}\n\n.. currentmodule:: {package}\n\n"
    if _is_class(value):
        kind = "autoexception" if issubclass(value, BaseException) else "autoclass"
        body = f".. {kind}:: {name}\n"
        members = _members(value)
        if members:
            body += "\n" + "\n".join(
                f".. {kind}:: {name}.{member}\n" for kind, member in members
            )
    elif inspect.isroutine(value) or hasattr(value, "registry"):
        body = f".. autofunction:: {name}\n"
    elif hasattr(value, "__origin__"):  # an alias such as tuple[int, ...]
        text = re.sub(r"(\w+\.)+", "", str(value))
        body = f".. py:data:: {name}\n   :value: {text}\n\n   A name for this type.\n"
    else:
        body = f".. autodata:: {name}\n"
    return title + body


def _package_page(package: str, names: list[str], where: dict[Any, str]) -> str:
    """Return the page that lists a package."""
    lines = [package, "=" * len(package), "", f".. automodule:: {package}", ""]
    lines += [".. list-table::", "   :widths: 35 65", ""]
    for name in names:
        lines += [f"   * - :obj:`{name} <{where[package, name]}>`"]
        lines += [f"     - {_first_line(package, name)}"]
    own = [name for name in names if where[package, name] == f"{package}.{name}"]
    lines += ["", ".. toctree::", "   :hidden:", "   :maxdepth: 1", ""]
    # Titles of their own: without them a name would carry the page's long form.
    lines += [f"   {name} <{_file_name(f'{package}.{name}')}>" for name in own]
    return "\n".join([*lines, ""])


def _first_line(package: str, name: str) -> str:
    """Return what a name is, in a line."""
    value = getattr(importlib.import_module(package), name)
    if not (_is_class(value) or callable(value)):
        return f"``{value!r}``" if len(repr(value)) < 60 else ""
    return (inspect.getdoc(value) or "").split("\n\n", 1)[0].replace("\n", " ")


def _is_class(value: Any) -> bool:
    """Return whether a value is a class; an alias such as ``tuple[int]`` is not one."""
    return isinstance(value, type) and not hasattr(value, "__origin__")


def _file_name(full_name: str) -> str:
    # CVST and cvst are two names, on some disks one file.
    return f"name.{full_name}"


def write_pages(folder: Path) -> None:
    """Write all pages, and leave alone what did not change."""
    folder.mkdir(exist_ok=True)
    where = homes()
    pages = {"index": _index_page()}
    for package, names in documented_names().items():
        pages[package] = _package_page(package, names, where)
    pages |= {_file_name(name): page_of(name) for name in set(where.values())}
    for old in folder.glob("*.rst"):
        if old.stem not in pages:
            old.unlink()
    for name, text in pages.items():
        path = folder / f"{name}.rst"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def _index_page() -> str:
    lines = ["API", "===", "", "Every public name, by package.", ""]
    lines += [".. list-table::", "   :widths: 30 70", ""]
    for package in packages():
        text = (importlib.import_module(package).__doc__ or "").split("\n", 1)[0]
        lines += [f"   * - :doc:`{package} <{package}>`", f"     - {text}"]
    lines += ["", ".. toctree::", "   :hidden:", ""]
    lines += [f"   {package}" for package in packages()]
    return "\n".join([*lines, ""])


def _write(app: Any) -> None:
    write_pages(Path(app.srcdir) / "api")


def _compare(app: Any, exception: BaseException | None) -> None:
    """Fail if a public name has no entry."""
    if exception is not None or app.builder.name != "html":
        return
    known = set(app.env.domaindata["py"]["objects"])
    missing = sorted(set(homes().values()) - known)
    if missing:
        raise RuntimeError(f"public names without an entry: {', '.join(missing)}")


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx when to write and when to compare."""
    app.connect("builder-inited", _write)
    app.connect("build-finished", _compare)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
