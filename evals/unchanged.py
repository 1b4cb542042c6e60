"""Which evaluations need not be measured again, because nothing that their figures depend on has changed.

The figures of an evaluation depend on its data, on the code that it imports and on the libraries that this code uses,
but not on chance or the clock. So they stay the same as long as none of these has changed.
"""

from __future__ import annotations

import ast
import hashlib
import json
import platform
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from evals.data import SHARED_DATA
from kiwiresearch.lazy import exported_names
from kiwiresearch.messages.catalogue import FALLBACK, Entry, catalogue_in

ROOT = Path(__file__).parent.parent
PACKAGES = {"kiwiresearch": ROOT / "src" / "kiwiresearch", "evals": ROOT / "evals"}
MEASURED = Path(__file__).with_name("measured.json")
"""For each evaluation, the fingerprint of the code with which its figures last reached their floors."""

BASELINE_LIBRARIES = ("bm25s", "pystemmer")
"""Libraries that only the baselines of evaluations use."""

NOT_DATA = frozenset({".py", ".pyc"})
RECORDS = frozenset({"floors.json", "measured.json"})
CATALOGUES = PACKAGES["kiwiresearch"] / "messages" / "languages"
"""Most sentences are those of web pages, so only English ones that an evaluation can use are part of its data."""


def is_unchanged(name: str) -> bool:
    """Whether the figures of an evaluation were measured with this code, this data and these libraries."""
    return read_record().get(name) == fingerprint(name)


def read_record() -> dict[str, str]:
    return dict(json.loads(MEASURED.read_text(encoding="utf-8"))) if MEASURED.is_file() else {}


def record(name: str) -> None:
    """Record that the figures of an evaluation were measured with this code."""
    known = read_record() | {name: fingerprint(name)}
    MEASURED.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def fingerprint(name: str) -> str:
    """A hash of everything that the figures of an evaluation depend on."""
    files = reachable_files(f"evals.{name}")
    data_files = {file for folder in {file.parent for file in files} for file in _data_files_in(folder)}
    digest = hashlib.sha256(f"{library_versions()}\n{shared_data_listing()}".encode())
    for file in sorted({*files, *data_files}):
        content = _code_of(file.read_text(encoding="utf-8")).encode() if file.suffix == ".py" else file.read_bytes()
        digest.update(str(file.relative_to(ROOT)).encode() + b"\0" + content + b"\0")
    digest.update(json.dumps(reachable_sentences(files), sort_keys=True).encode())
    return digest.hexdigest()[:16]


@cache
def _code_of(text: str) -> str:
    """The syntax tree of a module as text, without comments, layout and docstrings, on which no figure depends."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [statement for statement in node.body if not _is_docstring(statement)]
    return ast.dump(tree)


def _is_docstring(node: ast.stmt) -> bool:
    """Whether a statement is a docstring, including one below a field or a constant."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def reachable_files(module: str) -> frozenset[Path]:
    """The files of a module and of all modules that it imports, directly or not, at its top or anywhere within."""
    found: set[Path] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        file = _file_of(name)
        if file is not None and file not in found:
            found.add(file)
            waiting += [name.rpartition(".")[0]]
            # A package loads what it exports when it is used, so its list of exports imports nothing by itself.
            waiting += _imports(file.read_text(encoding="utf-8")) if not _exports(file) else ()
    return frozenset(found)


def reachable_sentences(files: Iterable[Path]) -> dict[str, Entry]:
    """The English sentences whose keys the code has: in full, as a group ("kinds.ended"), or as "ended.{why}"."""
    english = catalogue_in(FALLBACK)
    strings = {
        string for file in files if file.suffix == ".py" for string in _key_strings(file.read_text(encoding="utf-8"))
    }
    prefixes = tuple(string for string in strings if string.endswith(".") and string != "kinds.")
    found: dict[str, Entry] = {}
    for key in sorted(english.keys()):
        short_key = key.removeprefix("kinds.")
        names = {key, short_key, key.rpartition(".")[0], short_key.rpartition(".")[0]} - {"", "kinds"}
        if not names.isdisjoint(strings) or key.startswith(prefixes) or short_key.startswith(prefixes):
            entry = english.entry(key)
            found[key] = entry if isinstance(entry, str) else dict(entry)
    return found


@cache
def _key_strings(code: str) -> frozenset[str]:
    """The strings in a module that can be keys of sentences, or the start of one."""
    nodes = (node.value for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Constant))
    return frozenset(string for string in nodes if isinstance(string, str) and "." in string)


@cache
def _imports(code: str) -> tuple[str, ...]:
    return tuple(_imported_modules(ast.parse(code)))


def _imported_modules(tree: ast.AST) -> Iterator[str]:
    """The modules that may be imported: in 'from a import b', b may be a module, or a name in the module a."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (imported.name for imported in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            exports = _exports(_file_of(node.module))
            yield node.module
            yield from (exports.get(imported.name, f"{node.module}.{imported.name}") for imported in node.names)


@cache
def _exports(file: Path | None) -> Mapping[str, str]:
    """The names that the `__init__` of a package exports, and the modules that define them."""
    if file is None or file.name != "__init__.py":
        return {}
    return exported_names(file.read_text(encoding="utf-8"))


def _file_of(module: str) -> Path | None:
    package, *submodules = module.split(".")
    if package not in PACKAGES:
        return None
    base = PACKAGES[package].joinpath(*submodules)
    return next((file for file in (base.with_suffix(".py"), base / "__init__.py") if file.is_file()), None)


def _data_files_in(folder: Path) -> Iterator[Path]:
    """The data files that modules of a folder read: next to them, or in folders below that have no code."""
    for path in folder.iterdir():
        if path.is_file() and path.suffix not in NOT_DATA and path.name not in RECORDS:
            yield path
        elif path.is_dir() and path.name != "__pycache__" and path != CATALOGUES and not any(path.glob("*.py")):
            yield from _data_files_in(path)


@cache
def shared_data_listing() -> str:
    """The names and sizes of the shared data; empty if it is missing, so that this too changes the fingerprint."""
    files = sorted(file for file in SHARED_DATA.rglob("*") if file.is_file())
    return "\n".join(f"{file.relative_to(SHARED_DATA)} {file.stat().st_size}" for file in files)


@cache
def library_versions() -> str:
    """The versions of Python and of the libraries that the program and the evaluations use."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    requirements = [*project["project"]["dependencies"], *BASELINE_LIBRARIES]
    names = sorted({requirement.partition(">")[0].partition("[")[0].partition("=")[0] for requirement in requirements})
    return "\n".join([".".join(platform.python_version_tuple()[:2]), *(f"{name} {_version(name)}" for name in names)])


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"
