"""The settings of a user, from a file and then the environment, and the folders of the program."""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import platformdirs

from kiwiresearch.ask import AskSettings
from kiwiresearch.crawl import LinkFilters, ScoringWeights, Strategy
from kiwiresearch.errors import BadSettings
from kiwiresearch.kin.loop import CaseScope
from kiwiresearch.workspace.setting_values import LimitSettings, checked_value, value_from_text
from kiwiresearch.zim import SERVE_TIMEOUT_S, Policy


@dataclass(frozen=True, slots=True)
class KinSettings(CaseScope):
    """How far the cases go that are begun from now on, and where the user's own plugins are."""

    plugins: str = ""
    """The folder of your own plugins; empty is 'plugins' beside the settings."""


ENVIRONMENT_PREFIX = "KIWIRESEARCH_"
HOME_VARIABLE = f"{ENVIRONMENT_PREFIX}HOME"


@dataclass(frozen=True, slots=True)
class Folders:
    """`config` for settings and shelf, `cache` for what can be rebuilt, `state` for data of the program itself."""

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
class ServeSettings:
    """What a user can set about the server, below [serve] in the settings."""

    host: str = "127.0.0.1"
    """The address to listen on; any other than loopback needs a token."""

    port: int = 8321
    """The port to listen on."""

    token: str = ""
    """What clients must show as 'Authorization: Bearer …'; needed on any address but loopback."""

    hosts: tuple[str, ...] = ()
    """Names under which the server may be reached besides its own address, such as 'desk.school.lan'."""

    public_url: str = ""
    """Where readers reach the server when something stands in front of it, such as 'https://desk.school.lan'."""

    name: str = ""
    """What this host is called among those that share a store; empty takes the machine's own name."""

    proxies: tuple[str, ...] = ("127.0.0.1", "::1")
    """Addresses or networks of proxies that may say for whom they ask, such as '172.18.0.0/16'."""

    requests_a_minute: int = 600
    """How many requests one client may make in a minute."""

    max_body_kb: int = 256
    """How large a request may be."""

    at_once: int = 64
    """How many requests are worked on at once; more are asked to come again."""

    request_timeout_s: float = 600.0
    """How long one request may take, streams included."""

    runs: str = ""
    """The folder that holds the runs made through the server; empty keeps them with the program's own data."""

    bulk: str = ""
    """The folder for tables that jobs make of whole books; hosts that share such jobs share it. Empty: our own."""

    cases: str = ""
    """The folder that holds the families of the server; empty keeps them with the program's own data."""

    family_owner: bool = False
    """Show people who may be living, and let cases be changed: to who has the token, else on this machine alone."""

    scripts: bool = False
    """Let pages of books run their scripts in the reader, shut off from everything else."""

    remember_questions: bool = True
    """Show the latest questions on the first page; a server with a token has several readers and keeps none."""

    users: bool = False
    """Answer only to users with tokens of their own, each with a role: 'kiwiresearch users add NAME' makes one."""

    audit: bool = False
    """Write down who did what also where there are no users; where there are, it always is."""

    audit_words: bool = False
    """Let the audit keep what people asked and researched, and not only that they did."""


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

    model_pages: int = 8
    """How many pages of a run, from the first on, the model reads for claims; the rules read all."""

    critic_model: str = ""
    """Which of its models looks at the brief a second time with --critic; empty takes the same."""

    embedder: str = ""
    """Compare meanings with vectors: 'static' (comes with the program), a folder with an ONNX model, or an address."""

    embedder_model: str = ""
    """Which model to ask for, where the embedder is a server."""

    embedder_key: str = ""
    """The key that server wants; the model's is never sent to it."""

    routing_ttl_s: float = 3_600.0
    """How long what a model said about an ambiguous word is kept."""

    max_pages: int = 80
    """How many pages a crawl takes at most."""

    max_depth: int = 2
    """How many links away from the first pages it goes."""

    max_links_per_page: int = 30
    """How many new pages one page may bring into the crawl."""

    crawl_strategy: Strategy = "priority"
    """'priority' takes the best page next, wherever it is; 'bfs' goes depth by depth and takes the best of each."""

    max_seeds: int = 3
    """How many pages a crawl begins with at most."""

    first_sections: int = 40
    """Links are taken from the lead and so many sections; of later ones only infobox and 'See also'."""

    branch_share: float = 0.25
    """Of all pages, so many may be of one category or group before others go first."""

    kiwix_url: str = ""
    """Where your kiwix-serve answers: links in reports lead there; without it they name book and path."""

    store: str = ""
    """Where runs, jobs, families and notes live: empty keeps them on this machine; 'postgresql://…' shares them."""

    atlas: tuple[str, ...] = ()
    """Folders that 'kiwiresearch bulk' has written: the desk shows the atlas of those whose book is on the shelf."""

    link_filters: LinkFilters = field(default_factory=LinkFilters)
    """Which links a crawl does not follow."""

    scoring_weights: ScoringWeights = field(default_factory=ScoringWeights)
    """What the parts of a page's score are multiplied with."""

    ask: AskSettings = field(default_factory=AskSettings)
    """How far an answer looks, and how sure it must be."""

    serve: ServeSettings = field(default_factory=ServeSettings)
    """Where the server listens, and what it allows."""

    kin: KinSettings = field(default_factory=KinSettings)
    """How far a case of family research goes, and where your plugins are."""

    limits: LimitSettings = field(default_factory=LimitSettings)
    """How much a user of each role may do, where there are users."""

    policy: Policy = field(default_factory=Policy)
    """The profile of an institution: which books and pages are there for its readers."""


def folders(environment: Mapping[str, str] = os.environ) -> Folders:
    """One folder for everything if KIWIRESEARCH_HOME names it, such as one on a stick, else those of the system."""
    home = environment.get(HOME_VARIABLE)
    if home:
        root = Path(home).expanduser().absolute()
        return Folders(root, root / "cache", root / "state")
    return Folders(
        Path(platformdirs.user_config_dir("kiwiresearch", appauthor=False)),
        Path(platformdirs.user_cache_dir("kiwiresearch", appauthor=False)),
        Path(platformdirs.user_state_dir("kiwiresearch", appauthor=False)),
    )


def defaults() -> dict[str, Any]:
    """Every key with its default; the keys of a table begin with its name and a dot."""
    found: dict[str, Any] = {}
    settings = Settings()
    for key in fields(Settings):
        value = getattr(settings, key.name)
        if is_dataclass(value):
            found |= {f"{key.name}.{inner.name}": getattr(value, inner.name) for inner in fields(value)}
        else:
            found[key.name] = value
    return found


def environment_variable(key: str) -> str:
    return f"{ENVIRONMENT_PREFIX}{key.replace('.', '_').upper()}"


def load(where: Folders, environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings of the file, overridden by those of the environment."""
    settings = _with_file(Settings(), where.settings_file)
    for key, default in defaults().items():
        name = environment_variable(key)
        if name in environment:
            value = value_from_text(name, environment[name], type(default))
            settings = with_values(settings, {key: (name, value)})
    return settings


def with_values(settings: Settings, values: Mapping[str, tuple[str, Any]]) -> Settings:
    """The settings with some keys changed; each value comes with the name by which messages refer to it."""
    known = defaults()
    for key, (name, value) in values.items():
        changed: dict[str, Any] = {key: checked_value(name, key, value, type(known[key]))}
        table, dot, inner = key.partition(".")
        if dot:
            changed = {table: replace(getattr(settings, table), **{inner: changed[key]})}
        settings = replace(settings, **changed)
    return settings


def _with_file(settings: Settings, path: Path) -> Settings:
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return settings
    except NotADirectoryError as problem:
        raise BadSettings(
            f"The settings folder {str(path.parent)!r} is no folder.",
            remedy=f"Set {HOME_VARIABLE} to one, or unset it.",
        ) from problem
    except (OSError, ValueError, RecursionError) as problem:
        raise BadSettings(f"The settings file {str(path)!r} cannot be read: {problem}.", remedy="Mend it.") from problem
    values = {key: (f"{key!r} in {str(path)!r}", value) for key, value in _flat(table, path).items()}
    return with_values(settings, values)


def _flat(table: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """The values of the file, by the same keys as the defaults."""
    known = defaults()
    tables = {key.partition(".")[0] for key in known if "." in key}
    found: dict[str, Any] = {}
    for key, value in table.items():
        if key in tables and isinstance(value, dict):
            found |= {f"{key}.{inner}": setting for inner, setting in value.items()}
        else:
            found[key] = value
    for key in found:
        if key in tables:
            raise BadSettings(f"{key!r} in {str(path)!r} is no table.", remedy=f"Write its keys below [{key}].")
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            hint = f"Did you mean {near[0]!r}? " if near else ""
            first, dot, _ = key.partition(".")
            siblings = sorted(one for one in known if one.startswith(f"{first}.") or (not dot and "." not in one))
            raise BadSettings(
                f"The settings file {str(path)!r} has an unknown key {key!r}.",
                remedy=f"{hint}Known are: {', '.join(siblings)}.",
            )
    return found
