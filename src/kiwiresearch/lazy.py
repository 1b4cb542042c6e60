"""Package surfaces: names that an `__init__` exports are loaded on first use, so importing a package costs nothing."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any


def lazy_exports(package: str) -> Callable[[str], Any]:
    """A module `__getattr__` for the names that the `if TYPE_CHECKING:` block of a package's `__init__` imports.

    Type checkers and editors read that block; this reads it at run time, so that each name is listed only once.
    """

    @cache
    def homes() -> dict[str, str]:
        spec = sys.modules[package].__spec__
        source: str = spec.loader.get_source(package)  # type: ignore[union-attr]
        return exported_names(source)

    def load(name: str) -> Any:
        if name not in homes():
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        # Not stored in the package: a name that a test replaces in its own module is replaced here too.
        return getattr(import_module(homes()[name]), name)

    return load


def exported_names(source: str) -> dict[str, str]:
    """The names that the source of an `__init__` exports, each with the module that defines it."""
    return {
        alias.name: statement.module
        for block in ast.parse(source).body
        if isinstance(block, ast.If)
        for statement in block.body
        if isinstance(statement, ast.ImportFrom) and statement.module
        for alias in statement.names
    }
