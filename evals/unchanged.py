"""Which evaluations need no new measurement: all that decides their figures is as it was when they were measured.

An evaluation is a function of its data, of the code it reaches and of the libraries below; nothing in it is left to
chance or to the clock. So its figures stand as long as none of these has changed.
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
PLACES = {"kiwiresearch": ROOT / "src" / "kiwiresearch", "evals": ROOT / "evals"}
MEASURED = Path(__file__).with_name("measured.json")
"""For each evaluation, the fingerprint of the code for which its figures were last seen to reach their floors."""

ANCHORS = ("bm25s", "pystemmer")
"""Libraries of the evaluations alone, which others are measured with."""

NOT_DATA = frozenset({".py", ".pyc"})
FLOORS = frozenset({"floors.json", "measured.json"})
CATALOGUES = PLACES["kiwiresearch"] / "messages" / "languages"
"""Most sentences are those of web pages, so only the English ones that an evaluation can reach are part of its data."""


def is_unchanged(name: str) -> bool:
    """Whether the figures of an evaluation were measured with exactly this code and these libraries."""
    return recorded().get(name) == fingerprint(name)


def recorded() -> dict[str, str]:
    return dict(json.loads(MEASURED.read_text(encoding="utf-8"))) if MEASURED.is_file() else {}


def record(name: str) -> None:
    """Keep that the figures of an evaluation were measured with this code."""
    known = recorded() | {name: fingerprint(name)}
    MEASURED.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def fingerprint(name: str) -> str:
    """One word for all that decides the figures of an evaluation."""
    files = reached(f"evals.{name}")
    data = {file for folder in {file.parent for file in files} for file in _data_below(folder)}
    whole = hashlib.sha256(f"{libraries()}\n{real_data()}".encode())
    for file in sorted({*files, *data}):
        content = _code_of(file.read_text(encoding="utf-8")).encode() if file.suffix == ".py" else file.read_bytes()
        whole.update(str(file.relative_to(ROOT)).encode() + b"\0" + content + b"\0")
    whole.update(json.dumps(reached_sentences(files), sort_keys=True).encode())
    return whole.hexdigest()[:16]


@cache
def _code_of(text: str) -> str:
    """What Python makes of a module. Comments, layout and docstrings are not part of it: they decide no figure."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [one for one in node.body if not _is_text(one)]
    return ast.dump(tree)


def _is_text(node: ast.stmt) -> bool:
    """Whether a statement is a docstring, also one below a field or a constant."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def reached(module: str) -> frozenset[Path]:
    """The files of a module and of all modules it imports, at its head or anywhere within."""
    found: set[Path] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        file = _file_of(name)
        if file is not None and file not in found:
            found.add(file)
            waiting += [name.rpartition(".")[0]]
            # What a package offers is loaded when it is used, so its list of names leads nowhere by itself.
            waiting += _imports(file.read_text(encoding="utf-8")) if not _exports(file) else ()
    return frozenset(found)


def reached_sentences(files: Iterable[Path]) -> dict[str, Entry]:
    """The English sentences whose keys the code names: in full, by a group ("kinds.ended"), or as "ended.{why}"."""
    english = catalogue_in(FALLBACK)
    texts = {text for file in files if file.suffix == ".py" for text in _texts(file.read_text(encoding="utf-8"))}
    starts = tuple(text for text in texts if text.endswith(".") and text != "kinds.")
    found: dict[str, Entry] = {}
    for key in sorted(english.keys()):
        short = key.removeprefix("kinds.")
        named = {key, short, key.rpartition(".")[0], short.rpartition(".")[0]} - {"", "kinds"}
        if not named.isdisjoint(texts) or key.startswith(starts) or short.startswith(starts):
            entry = english.entry(key)
            found[key] = entry if isinstance(entry, str) else dict(entry)
    return found


@cache
def _texts(code: str) -> frozenset[str]:
    """The texts in a module that can be keys of sentences, or begin one."""
    nodes = (node.value for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Constant))
    return frozenset(text for text in nodes if isinstance(text, str) and "." in text)


@cache
def _imports(code: str) -> tuple[str, ...]:
    return tuple(_named(ast.parse(code)))


def _named(tree: ast.AST) -> Iterator[str]:
    """What is imported: 'from a import b' may mean a module b of the package a, or a name within the module a."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            exports = _exports(_file_of(node.module))
            yield node.module
            yield from (exports.get(one.name, f"{node.module}.{one.name}") for one in node.names)


@cache
def _exports(file: Path | None) -> Mapping[str, str]:
    """The names that the `__init__` of a package exports, with the modules that define them."""
    if file is None or file.name != "__init__.py":
        return {}
    return exported_names(file.read_text(encoding="utf-8"))


def _file_of(module: str) -> Path | None:
    top, *below = module.split(".")
    if top not in PLACES:
        return None
    place = PLACES[top].joinpath(*below)
    return next((file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file()), None)


def _data_below(folder: Path) -> Iterator[Path]:
    """Tables, lists and the like that modules of a folder read; they stand beside them, or in folders without code."""
    for one in folder.iterdir():
        if one.is_file() and one.suffix not in NOT_DATA and one.name not in FLOORS:
            yield one
        elif one.is_dir() and one.name != "__pycache__" and one != CATALOGUES and not any(one.glob("*.py")):
            yield from _data_below(one)


@cache
def real_data() -> str:
    """The real data by name and size; nothing where it is missing, so that its absence is told."""
    files = sorted(file for file in SHARED_DATA.rglob("*") if file.is_file())
    return "\n".join(f"{file.relative_to(SHARED_DATA)} {file.stat().st_size}" for file in files)


@cache
def libraries() -> str:
    """The versions of Python and of the libraries that the program and the evaluations stand on."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = [*project["project"]["dependencies"], *ANCHORS]
    names = sorted({one.partition(">")[0].partition("[")[0].partition("=")[0] for one in wanted})
    return "\n".join([".".join(platform.python_version_tuple()[:2]), *(f"{name} {_version(name)}" for name in names)])


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"
