"""The built-in plugins and those of the user, and whether they read their own fixtures correctly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, TypeVar

import yaml
from pydantic import BaseModel, Field, ValidationError

from kiwiresearch.errors import BadSettings
from kiwiresearch.kin.sources.books import BookSource
from kiwiresearch.kin.sources.familysearch import FamilySearchSource
from kiwiresearch.kin.sources.gate import Gate
from kiwiresearch.kin.sources.plugin import ID, Fixture, Plugin, PluginPart
from kiwiresearch.kin.sources.sign_in import SignIn
from kiwiresearch.kin.sources.site import SiteSource
from kiwiresearch.kin.sources.site_rules import read_site_page, values_of
from kiwiresearch.kin.sources.source import EvidenceSource
from kiwiresearch.kin.sources.wikidata import WikidataSource
from kiwiresearch.search import OpenBook

MAX_YAML_BYTES = 64 * 1024
MAX_DEPTH = 12
MAX_NODES = 5_000


def read_yaml(path: Path) -> Any:
    """The content of a YAML file without aliases, Python tags or duplicate keys."""
    try:
        if path.stat().st_size > MAX_YAML_BYTES:
            raise BadSettings(
                f"The file {str(path)!r} is larger than {MAX_YAML_BYTES // 1024} KiB.",
                remedy="Check that this is a plugin file.",
            )
        text = path.read_text(encoding="utf-8")
    except OSError as problem:
        raise BadSettings(
            f"The file {str(path)!r} cannot be read: {problem.strerror}.",
            remedy="Check that it exists and that you have permission to read it.",
        ) from problem
    except UnicodeDecodeError as problem:
        raise BadSettings(f"The file {str(path)!r} is not a text file.", remedy="Save it as UTF-8.") from problem
    try:
        # Before anything is built: a few aliases of aliases can fill the memory.
        _check_yaml(text)
        return yaml.safe_load(text)
    except _ForbiddenYaml as problem:
        what = f"The file {str(path)!r} cannot be used: {problem}."
        raise BadSettings(what, remedy="Remove aliases, duplicate keys and deep nesting.") from None
    except (yaml.YAMLError, ValueError, RecursionError) as problem:
        what = f"The file {str(path)!r} is not valid YAML: {_yaml_problem(problem)}."
        raise BadSettings(what, remedy="Correct that line.") from problem


class _ForbiddenYaml(Exception):
    """YAML that plugins may not use."""


def _check_yaml(text: str) -> None:
    depth = nodes = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        nodes += isinstance(event, yaml.NodeEvent)
        if isinstance(event, yaml.AliasEvent):
            raise _ForbiddenYaml(f"line {_line_number(event)} repeats another part with the alias '*{event.anchor}'")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH or nodes > MAX_NODES:
            raise _ForbiddenYaml(f"at line {_line_number(event)} it is nested too deeply or too long")
    waiting = [yaml.compose(text, Loader=yaml.SafeLoader)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, yaml.MappingNode):
            names = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
            again = sorted({name for name in names if names.count(name) > 1})
            if again:
                raise _ForbiddenYaml(f"the key {again[0]!r} appears twice, below line {node.start_mark.line + 1}")
            waiting += [value for _, value in node.value]
        elif isinstance(node, yaml.SequenceNode):
            waiting += node.value


def _line_number(event: Any) -> int:
    return int(event.start_mark.line) + 1 if event.start_mark else 1


def _yaml_problem(problem: Exception) -> str:
    if isinstance(problem, yaml.MarkedYAMLError) and problem.problem_mark:
        return f"line {problem.problem_mark.line + 1}: {problem.problem or problem.context}"
    return " ".join(str(problem).split())[:120] or "it is nested too deeply"


MAX_FILES = 200
MAX_PROBLEMS = 5
Shape = TypeVar("Shape", bound=BaseModel)


class RegistryEntry(PluginPart):
    """A line of the registry."""

    id: str = Field(pattern=ID)
    tier: int = Field(ge=0, le=2)
    config: str = Field(min_length=1, max_length=200)
    requires_credentials: bool = False


class Registry(PluginPart):
    """The list of plugins in a folder."""

    sources: Annotated[tuple[RegistryEntry, ...], Field(strict=False, max_length=MAX_FILES)]


@dataclass(frozen=True, slots=True)
class KnownPlugin:
    """A plugin and the file it is described in."""

    plugin: Plugin
    file: Path
    shipped: bool = False


@dataclass(frozen=True, slots=True)
class Plugins:
    """The usable plugins, and what is wrong with the others."""

    known: tuple[KnownPlugin, ...]
    problems: tuple[BadSettings, ...] = ()

    def named(self, plugin_id: str) -> KnownPlugin:
        for plugin in self.known:
            if plugin.plugin.plugin_id == plugin_id:
                return plugin
        names = ", ".join(plugin.plugin.plugin_id for plugin in self.known)
        raise BadSettings(f"The plugin {plugin_id!r} was not found.", remedy=f"Available plugins: {names}.")


def load_plugins(own: Path | None = None) -> Plugins:
    """The built-in plugins and those in the user's folder; a broken one does not affect the others."""
    known = shipped_plugins()
    problems: list[BadSettings] = []
    for file in _files(own, problems) if own is not None else ():
        try:
            plugin = read_plugin(file)
        except BadSettings as problem:
            problems.append(problem)
            continue
        if plugin.plugin_id in {other.plugin.plugin_id for other in known}:
            what = f"The file {str(file)!r}, 'plugin_id': another plugin already has the ID {plugin.plugin_id!r}."
            problems.append(BadSettings(what, remedy="Choose another 'plugin_id'."))
        else:
            known.append(KnownPlugin(plugin, file))
    ordered = sorted(known, key=lambda known_plugin: (known_plugin.plugin.tier, known_plugin.plugin.plugin_id))
    return Plugins(tuple(ordered), tuple(problems))


def shipped_plugins() -> list[KnownPlugin]:
    folder = Path(str(resources.files("kiwiresearch.kin.sources") / "plugins"))
    return read_registry(folder / "registry.yaml", shipped=True)


def read_registry(file: Path, *, shipped: bool = False) -> list[KnownPlugin]:
    """The plugins of a registry, which has to agree with the file of each plugin."""
    found = []
    for row in _shaped(Registry, read_yaml(file), file).sources:
        target = (file.parent.parent / row.config).resolve()
        # After links were followed, so that a registry cannot read files elsewhere.
        if target.parent != file.parent.resolve():
            raise BadSettings(
                f"The file {str(file)!r}, 'config' of {row.id!r}: {row.config!r} is not in the same folder.",
                remedy=f"Set 'config' to '{file.parent.name}/NAME.yaml'.",
            )
        plugin = read_plugin(target)
        said = (row.id, row.tier, row.requires_credentials)
        if said != (plugin.plugin_id, plugin.tier, plugin.compliance.requires_auth):
            raise BadSettings(
                f"The file {str(file)!r}, {row.id!r}: "
                f"'id', 'tier' or 'requires_credentials' does not match {target.name!r}.",
                remedy="Use the same values in both files.",
            )
        found.append(KnownPlugin(plugin, target, shipped))
    return found


def read_plugin(file: Path) -> Plugin:
    """The plugin of a file; raises with what is wrong, by key."""
    return _shaped(Plugin, read_yaml(file), file)


def _shaped(shape: type[Shape], value: Any, file: Path) -> Shape:
    try:
        return shape.model_validate(value)
    except ValidationError as problem:
        raise BadSettings(
            f"The file {str(file)!r} cannot be used: {_problems(problem)}.", remedy="Correct these keys."
        ) from problem


def _problems(problem: ValidationError) -> str:
    rows = problem.errors(include_url=False, include_context=False, include_input=False)
    named = [f"{'.'.join(map(str, row['loc'])) or 'the file'!r}: {_words(row)}" for row in rows[:MAX_PROBLEMS]]
    more = len(rows) - len(named)
    return "; ".join(named) + (f"; and {more} more" if more > 0 else "")


def _words(row: Any) -> str:
    if row["type"] == "extra_forbidden":
        return "unknown key"
    if row["type"] == "missing":
        return "missing"
    return str(row["msg"]).removeprefix("Value error, ").rstrip(".")


def _files(folder: Path, problems: list[BadSettings]) -> list[Path]:
    try:
        found = sorted(path for path in folder.iterdir() if path.suffix in (".yaml", ".yml") and path.is_file())
    except FileNotFoundError:
        return []
    except OSError as problem:
        problems.append(
            BadSettings(
                f"The plugin folder {str(folder)!r} cannot be read: {problem.strerror}.",
                remedy="Check that it exists and that you have permission to read it.",
            )
        )
        return []
    return [path for path in found[:MAX_FILES] if path.name != "registry.yaml"]


MAX_FIXTURE_BYTES = 5 * 2**20


@dataclass(frozen=True, slots=True)
class FixtureCheck:
    """The result for one fixture: the values that differ from what was expected."""

    fixture: str
    problems: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        return not self.problems


def check_plugin(known: KnownPlugin) -> tuple[FixtureCheck, ...]:
    """Run the fixtures of a plugin, in their order."""
    return tuple(
        FixtureCheck(fixture.html, tuple(_fixture_problems(known, fixture))) for fixture in known.plugin.fixtures
    )


def _fixture_problems(known: KnownPlugin, fixture: Fixture) -> list[str]:
    folder = known.file.parent.resolve()
    file = (folder / fixture.html).resolve()
    if not file.is_relative_to(folder):
        return [f"{fixture.html!r} is not in the folder of the plugin"]
    try:
        content = file.read_bytes()[:MAX_FIXTURE_BYTES]
    except OSError as problem:
        return [f"{fixture.html!r} cannot be read: {problem.strerror}"]
    read = values_of(read_site_page(content, known.plugin, known.plugin.base_url).person)
    problems = []
    for field, expected in fixture.expect.items():
        wanted = [] if expected is None else [expected] if isinstance(expected, str) else list(expected)
        got = read.get(field, [])
        if got != wanted:
            problems.append(f"{field!r} is {_shown(got)}, not {_shown(wanted)}")
    return problems


def _shown(values: list[str]) -> str:
    return ", ".join(map(repr, values)) or "nothing"


def open_sources(
    books: Sequence[OpenBook],
    known: Plugins,
    gate: Gate,
    *,
    sign_ins: Mapping[str, SignIn] | None = None,
    endpoints: Mapping[str, str] | None = None,
) -> tuple[EvidenceSource, ...]:
    """All sources of a case, Tier 0 first; raises for an unknown plugin. Nothing is requested yet.

    `endpoints` replace a plugin's own address; the permissions must allow them.
    """
    plugins = [known.named(name).plugin for name in gate.permissions.enabled]
    ordered = sorted(plugins, key=lambda plugin: (plugin.tier, plugin.plugin_id))
    return (
        BookSource(books),
        *(_open_source(plugin, gate, sign_ins or {}, endpoints or {}) for plugin in ordered if plugin.kind != "books"),
    )


def _open_source(
    plugin: Plugin, gate: Gate, sign_ins: Mapping[str, SignIn], endpoints: Mapping[str, str]
) -> EvidenceSource:
    if plugin.kind == "sparql":
        return WikidataSource(plugin, gate, endpoint=endpoints.get(plugin.plugin_id, ""))
    if plugin.kind == "familysearch":
        return FamilySearchSource(plugin, gate, sign_ins.get(plugin.plugin_id) or SignIn(plugin, gate))
    return SiteSource(plugin, gate)
