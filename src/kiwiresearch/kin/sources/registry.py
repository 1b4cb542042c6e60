"""Which plugins there are: those that ship with the program, and the user's own."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, Field, ValidationError

from kiwiresearch.errors import BadSettings
from kiwiresearch.kin.sources.plugin import ID, Part, Plugin
from kiwiresearch.kin.sources.yaml_text import read_yaml

MAX_FILES = 200
MAX_PROBLEMS = 5
Shape = TypeVar("Shape", bound=BaseModel)


class Listed(Part):
    """A line of the registry."""

    id: str = Field(pattern=ID)
    tier: int = Field(ge=0, le=2)
    config: str = Field(min_length=1, max_length=200)
    requires_credentials: bool = False


class Registry(Part):
    """The list of plugins in a folder."""

    sources: Annotated[tuple[Listed, ...], Field(strict=False, max_length=MAX_FILES)]


@dataclass(frozen=True, slots=True)
class Known:
    """A plugin and the file it is described in."""

    plugin: Plugin
    file: Path
    shipped: bool = False


@dataclass(frozen=True, slots=True)
class Plugins:
    """All plugins that can be used, by id, and what is wrong with those that cannot."""

    known: tuple[Known, ...]
    problems: tuple[BadSettings, ...] = ()

    def named(self, plugin_id: str) -> Known:
        for one in self.known:
            if one.plugin.plugin_id == plugin_id:
                return one
        names = ", ".join(one.plugin.plugin_id for one in self.known)
        raise BadSettings(f"There is no plugin {plugin_id!r}.", remedy=f"There are: {names}.")


def plugins(own: Path | None = None) -> Plugins:
    """The plugins that ship, then those of the user's folder; one that is broken leaves the others alone."""
    known = shipped()
    problems: list[BadSettings] = []
    for file in _files(own, problems) if own is not None else ():
        try:
            known.append(_own(file, known))
        except BadSettings as problem:
            problems.append(problem)
    return Plugins(tuple(sorted(known, key=_order)), tuple(problems))


def _own(file: Path, known: list[Known]) -> Known:
    plugin = read_plugin(file)
    if plugin.plugin_id in {other.plugin.plugin_id for other in known}:
        raise BadSettings(
            f"The file {str(file)!r}, 'plugin_id': another plugin is called {plugin.plugin_id!r} already.",
            remedy="Give it another 'plugin_id'.",
        )
    return Known(plugin, file)


def shipped() -> list[Known]:
    folder = Path(str(resources.files("kiwiresearch.kin.sources") / "plugins"))
    return read_registry(folder / "registry.yaml", shipped=True)


def read_registry(file: Path, *, shipped: bool = False) -> list[Known]:
    """The plugins a registry lists; what it says of each has to agree with the plugin's own file."""
    found = []
    for row in _shaped(Registry, read_yaml(file), file).sources:
        target = (file.parent.parent / row.config).resolve()
        if target.parent != file.parent.resolve():
            raise BadSettings(
                f"The file {str(file)!r}, 'config' of {row.id!r}: {row.config!r} is not beside it.",
                remedy=f"Write '{file.parent.name}/NAME.yaml'.",
            )
        plugin = read_plugin(target)
        said = (row.id, row.tier, row.requires_credentials)
        if said != (plugin.plugin_id, plugin.tier, plugin.compliance.requires_auth):
            raise BadSettings(
                f"The file {str(file)!r}, {row.id!r}: id, tier or requires_credentials differ from {target.name!r}.",
                remedy="Make them agree.",
            )
        found.append(Known(plugin, target, shipped))
    return found


def read_plugin(file: Path) -> Plugin:
    """The plugin a file describes; else what is wrong with it, by key."""
    return _shaped(Plugin, read_yaml(file), file)


def _shaped(shape: type[Shape], value: Any, file: Path) -> Shape:
    try:
        return shape.model_validate(value)
    except ValidationError as problem:
        raise BadSettings(
            f"The file {str(file)!r} cannot be used: {_problems(problem)}.", remedy="Mend these keys."
        ) from problem


def _problems(problem: ValidationError) -> str:
    rows = problem.errors(include_url=False, include_context=False, include_input=False)
    told = [f"{'.'.join(map(str, row['loc'])) or 'the file'!r}: {_plain(row)}" for row in rows[:MAX_PROBLEMS]]
    more = len(rows) - len(told)
    return "; ".join(told) + (f"; and {more} more" if more > 0 else "")


def _plain(row: Any) -> str:
    if row["type"] == "extra_forbidden":
        return "there is no such key"
    if row["type"] == "missing":
        return "it is missing"
    return str(row["msg"]).removeprefix("Value error, ").rstrip(".")


def _files(folder: Path, problems: list[BadSettings]) -> list[Path]:
    try:
        found = sorted(path for path in folder.iterdir() if path.suffix in (".yaml", ".yml") and path.is_file())
    except FileNotFoundError:
        return []
    except OSError as problem:
        problems.append(
            BadSettings(
                f"The folder of plugins {str(folder)!r} cannot be read: {problem.strerror}.",
                remedy="Check its place and permissions.",
            )
        )
        return []
    return [path for path in found[:MAX_FILES] if path.name != "registry.yaml"]


def _order(one: Known) -> tuple[int, str]:
    return one.plugin.tier, one.plugin.plugin_id
