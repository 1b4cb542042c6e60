"""The surface of a package: its names can be loaded, others use nothing else of it, and what it returns has types."""

from __future__ import annotations

import ast
import functools
import re
from importlib import import_module
from pathlib import Path

import pytest

import kiwiresearch

ROOT = Path(kiwiresearch.__file__).parent
IMPORT = re.compile(r"^[ \t]*from (kiwiresearch[\w.]+) import (\([^)]*\)|.*)", re.MULTILINE)
"""An import from a package of ours; parsing all sources for them would take seconds."""
PACKAGES = {
    ".".join(("kiwiresearch", *file.parent.relative_to(ROOT).parts)): file
    for file in sorted(ROOT.rglob("__init__.py"))
    if "lazy_exports" in file.read_text(encoding="utf-8")
}


def exported(file: Path) -> dict[str, str]:
    blocks = [node for node in ast.parse(file.read_text(encoding="utf-8")).body if isinstance(node, ast.If)]
    imports = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in imports for alias in node.names}


@functools.cache
def names_for_type_checkers(module: str) -> set[str]:
    """Types that a module defines only below `if TYPE_CHECKING:`; there is nothing to load."""
    source = Path(str(import_module(module).__file__)).read_text(encoding="utf-8")
    blocks = [node for node in ast.parse(source).body if isinstance(node, ast.If)]
    assigned = [node for block in blocks for node in block.body if isinstance(node, ast.Assign)]
    return {target.id for node in assigned for target in node.targets if isinstance(target, ast.Name)}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_exported_name_is_the_one_of_its_module(package: str) -> None:
    """A name that was moved or renamed is noticed here, not by the first user of it."""
    names = exported(PACKAGES[package])
    assert names
    for name, home in names.items():
        if name in names_for_type_checkers(home):
            continue
        assert getattr(import_module(package), name) is getattr(import_module(home), name), f"{home}.{name}"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"module 'kiwiresearch\.runs' has no attribute 'Rum'"):
        import_module("kiwiresearch.runs").__getattr__("Rum")


def test_other_packages_import_from_the_surface() -> None:
    """Only names that are also modules of the package, such as `kin.timeline`, are imported from the module."""
    wrong = []
    for file in ROOT.rglob("*.py"):
        here = ".".join(("kiwiresearch", *file.relative_to(ROOT).with_suffix("").parts))
        for module, imported in IMPORT.findall(file.read_text(encoding="utf-8")):
            package, _, name_of_module = module.rpartition(".")
            if package not in PACKAGES or package == "kiwiresearch" or here.startswith(f"{package}."):
                continue
            folder = PACKAGES[package].parent
            if (folder / f"{name_of_module}.py").is_file():
                names = [part.split(" as ")[0].strip() for part in imported.split("#")[0].strip("()").split(",")]
                wrong += [
                    f"{here} imports {name} from {module}"
                    for name in names
                    if name and not (folder / f"{name}.py").is_file()
                ]
    assert wrong == []


ANYTHING = re.compile(r"\b(?:[Dd]ict|(?:Mutable)?Mapping)\[str, Any\]")


def untyped_aliases(source: ast.Module) -> set[str]:
    """Names that a module gives to a dict of anything."""
    assigned = [
        node for node in source.body if isinstance(node, ast.Assign) and ANYTHING.search(ast.unparse(node.value))
    ]
    return {target.id for node in assigned for target in node.targets if isinstance(target, ast.Name)}


def test_only_the_codec_returns_dicts_of_anything() -> None:
    """Other functions return values whose fields have types, so that a misspelled one is found by the type checker."""
    texts = {file: file.read_text(encoding="utf-8") for file in ROOT.rglob("*.py")}
    suspects = {file: ast.parse(text) for file, text in texts.items() if ANYTHING.search(text)}
    aliases = {file: untyped_aliases(source) for file, source in suspects.items()}
    all_aliases = re.compile(rf"\b(?:{'|'.join(sorted(set().union(*aliases.values()))) or '(?!)'})\b")
    suspects |= {file: ast.parse(text) for file, text in texts.items() if all_aliases.search(text)}
    wrong = []
    for file, source in suspects.items():
        known = set(aliases.get(file, ()))
        for node in ast.walk(source):
            if isinstance(node, ast.ImportFrom):
                known |= {alias.name for alias in node.names if all_aliases.fullmatch(alias.name)}
        for node in ast.walk(source):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns is not None:
                returned = ast.unparse(node.returns)
                if ANYTHING.search(returned) or known & set(re.findall(r"\w+", returned)):
                    wrong.append(f"{file.relative_to(ROOT)}:{node.lineno} {node.name} returns {returned}")
    assert [place for place in wrong if not place.startswith("codec.py:")] == []
