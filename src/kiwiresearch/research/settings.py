"""Where things are kept, and the few things that can be set: a file, then the environment."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import platformdirs

from kiwiresearch.errors import BadSettings
from kiwiresearch.zim.sources import SERVE_TIMEOUT_S

PREFIX = "KIWIRESEARCH_"
HOME = f"{PREFIX}HOME"


@dataclass(frozen=True, slots=True)
class Folders:
    """Settings and shelf; what can be built again; what belongs to running processes."""

    config: Path
    cache: Path
    state: Path

    @property
    def settings_file(self) -> Path:
        return self.config / "settings.toml"

    @property
    def shelf_file(self) -> Path:
        return self.config / "shelf.json"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a user can set, in `settings.toml` or as KIWIRESEARCH_… in the environment."""

    cluster_cache_mb: int = 64
    """How much of a book libzim may keep decompressed; memory in use is up to five times this."""

    serve_timeout_s: float = SERVE_TIMEOUT_S
    """How long to wait for an answer of a kiwix-serve."""

    allow_damaged: bool = False
    """Read books whose bytes do not match their checksum."""

    search_books: int = 2
    """How many books of the shelf one query searches in full; all are asked quickly first."""

    model_url: str = ""
    """Where a language model answers: the address of any OpenAI-compatible server, several with commas between."""

    model_name: str = ""
    """Which of its models to ask; empty takes the first."""

    model_key: str = ""
    """The key the server wants, if it wants one."""

    model_timeout_s: float = 600.0
    """How long one answer of the model may take."""

    model_context_tokens: int = 0
    """How much the model reads at once, where the server does not tell; 0 asks the server."""

    embedder: str = ""
    """Compare meanings with vectors: 'static' (comes with the program), a folder with an ONNX model, or an address."""

    embedder_model: str = ""
    """Which model to ask for, where the embedder is a server."""

    embedder_key: str = ""
    """The key that server wants; the model's is never sent to it."""

    routing_ttl_s: float = 3_600.0
    """How long what a model said about an ambiguous word is kept."""


LIMITS: dict[str, tuple[float, float]] = {
    "cluster_cache_mb": (1, 65_536),
    "serve_timeout_s": (0.1, 3_600),
    "search_books": (1, 1_000),
    "model_timeout_s": (1, 86_400),
    "model_context_tokens": (0, 10_000_000),
    "routing_ttl_s": (0, 31_536_000),
}


def folders(environment: Mapping[str, str] = os.environ) -> Folders:
    """One folder for all if KIWIRESEARCH_HOME names it (on a stick, say), else where the system keeps such things."""
    home = environment.get(HOME)
    if home:
        root = Path(home).expanduser().absolute()
        return Folders(root, root / "cache", root / "state")
    return Folders(
        Path(platformdirs.user_config_dir("kiwiresearch", appauthor=False)),
        Path(platformdirs.user_cache_dir("kiwiresearch", appauthor=False)),
        Path(platformdirs.user_state_dir("kiwiresearch", appauthor=False)),
    )


def load(where: Folders, environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings in force."""
    settings = _with_file(Settings(), where.settings_file)
    for field in fields(Settings):
        value = environment.get(f"{PREFIX}{field.name.upper()}")
        if value is not None:
            name = f"{PREFIX}{field.name.upper()}"
            settings = replace(settings, **{field.name: _from_text(name, field.name, value)})
    return settings


def _with_file(settings: Settings, path: Path) -> Settings:
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return settings
    except NotADirectoryError as problem:
        raise BadSettings(
            f"The settings folder {str(path.parent)!r} is no folder.", remedy=f"Set {HOME} to one, or unset it."
        ) from problem
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise BadSettings(f"The settings file {str(path)!r} cannot be read: {problem}.", remedy="Mend it.") from problem
    known = {field.name for field in fields(Settings)}
    for key, value in table.items():
        if key not in known:
            raise BadSettings(
                f"The settings file {str(path)!r} has an unknown key {key!r}.",
                remedy=f"Known are: {', '.join(sorted(known))}.",
            )
        settings = replace(settings, **{key: _checked(f"{key!r} in {str(path)!r}", key, value)})
    return settings


def _from_text(name: str, key: str, text: str) -> Any:
    kind = type(getattr(Settings(), key))
    try:
        if kind is bool:
            return {
                "1": True,
                "true": True,
                "yes": True,
                "0": False,
                "false": False,
                "no": False,
                "": False,
            }[text.strip().lower()]
        return _checked(name, key, kind(text))
    except (ValueError, KeyError) as problem:
        raise BadSettings(f"{name} is {text!r}, which is no {_WORDS[kind]}.", remedy="Set it right.") from problem


def _checked(name: str, key: str, value: Any) -> Any:
    kind = type(getattr(Settings(), key))
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if type(value) is not kind:
        raise BadSettings(f"{name} is {value!r}, which is no {_WORDS[kind]}.", remedy="Set it right.")
    if key in LIMITS and isinstance(value, int | float):
        low, high = LIMITS[key]
        if not low <= value <= high:
            raise BadSettings(f"{name} is {value!r}.", remedy=f"It must be between {low:g} and {high:g}.")
    return value


_WORDS: dict[type, str] = {bool: "yes or no", int: "whole number", float: "number", str: "text"}
