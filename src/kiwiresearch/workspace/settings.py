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
from kiwiresearch.codec import JsonDict
from kiwiresearch.crawl import LinkFilters, ScoringWeights, Strategy
from kiwiresearch.errors import BadSettings
from kiwiresearch.kin.loop import CaseScope
from kiwiresearch.system import expand_user
from kiwiresearch.workspace.setting_values import LimitSettings, checked_value, value_from_text
from kiwiresearch.zim import SERVE_TIMEOUT_S, Policy


@dataclass(frozen=True, slots=True)
class KinSettings(CaseScope):
    """Limits for new cases, and the folder of the user's own plugins."""

    plugins: str = ""
    """The folder of your own plugins; if empty, 'plugins' in the folder of the settings."""


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
    """Settings for the server: the table [serve] of the settings file."""

    host: str = "127.0.0.1"
    """The address to listen on; all but loopback addresses need a token."""

    port: int = 8321
    """The port to listen on."""

    token: str = ""
    """The token that clients send as 'Authorization: Bearer …'; required unless the address is a loopback one."""

    hosts: tuple[str, ...] = ()
    """Further host names of the server, in addition to its own address, such as 'books.school.lan'."""

    public_url: str = ""
    """The URL at which readers reach a server that is behind a proxy, such as 'https://books.school.lan'."""

    name: str = ""
    """The name of this host among those that share a store; if empty, the machine's own name."""

    proxies: tuple[str, ...] = ("127.0.0.1", "::1")
    """Addresses or networks of proxies that are trusted to name the client, such as '172.18.0.0/16'."""

    requests_a_minute: int = 600
    """How many requests one client may make in a minute."""

    max_body_kb: int = 256
    """The maximum size of a request."""

    at_once: int = 64
    """How many requests are processed at once; clients of further ones are asked to retry."""

    request_timeout_s: float = 600.0
    """The time limit of one request, including streams."""

    runs: str = ""
    """The folder for runs made through the server; if empty, one in the program's own data."""

    bulk: str = ""
    """The folder for tables of complete books; hosts that share such jobs share it. If empty, one of our own."""

    cases: str = ""
    """The folder for the families of the server; if empty, one in the program's own data."""

    books: str = ""
    """The folder for books that are uploaded in the browser; if empty, one in the program's own data."""

    max_book_gb: float = 0.0
    """The largest book that can be uploaded in the browser, in GB; 0 allows what fits on the disk."""

    theme: str = "system"
    """The colours of pages until a reader chooses: 'light', 'dark', or 'system' for what the reader's device wants."""

    family_owner: bool = False
    """Show people who may be living, and allow changes to cases: to owners, token holders, or only on this machine.

    On a server with a token and no users, it also lets token holders manage books and settings.
    """

    scripts: bool = False
    """Let pages of books run their scripts in the reader, in a sandbox."""

    remember_questions: bool = True
    """Show the latest questions on the first page; a server with a token has several readers, so it stores none."""

    users: bool = False
    """Let in only users with their own token and role; 'kiwiresearch users add NAME' adds one."""

    audit: bool = False
    """Keep an audit log even without users; with users, it is always recorded."""

    audit_words: bool = False
    """Record in the audit log also what people asked and researched, not only that they did."""


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings, from `settings.toml` or from KIWIRESEARCH_… variables of the environment."""

    cluster_cache_mb: int = 16
    """The size of libzim's cache of decompressed clusters; memory in use is up to five times this."""

    serve_timeout_s: float = SERVE_TIMEOUT_S
    """How long to wait for a reply of a kiwix-serve."""

    allow_damaged: bool = False
    """Read books whose bytes do not match their checksum."""

    search_books: int = 2
    """How many books one query searches in full, after a quick search of all."""

    model_url: str = ""
    """The address of an OpenAI-compatible server with a language model; several are separated by commas."""

    model_name: str = ""
    """The model to use; if empty, the first one on the server."""

    model_key: str = ""
    """The API key of the server, if it needs one."""

    model_timeout_s: float = 600.0
    """The time limit for one reply of the model."""

    model_context_tokens: int = 0
    """The model's context size, if the server does not report it; 0 asks the server."""

    model_pages: int = 8
    """How many of a run's first pages the model reads for claims; the rules read all pages."""

    critic_model: str = ""
    """The model that reviews the brief with --critic; if empty, the same one."""

    embedder: str = ""
    """Compare meanings with vectors: 'static' (comes with the program), a folder with an ONNX model, or an address."""

    embedder_model: str = ""
    """The model to request if the embedder is a server."""

    embedder_key: str = ""
    """The API key of the embedder's server; the language model's key is never sent to it."""

    routing_ttl_s: float = 3_600.0
    """How long a model's phrases for an ambiguous word stay cached (`PhraseCache`)."""

    max_pages: int = 80
    """The maximum number of pages in a crawl."""

    max_depth: int = 2
    """The maximum number of links from the first pages."""

    max_links_per_page: int = 30
    """How many new pages one page may bring into the crawl."""

    crawl_strategy: Strategy = "priority"
    """'priority' takes the best page next, wherever it is; 'bfs' goes depth by depth and takes the best of each."""

    max_seeds: int = 3
    """The maximum number of pages that a crawl starts from."""

    first_sections: int = 40
    """Links are followed from the lead and this many sections; after these, only from infoboxes and 'See also'."""

    branch_share: float = 0.25
    """The share of pages that may be of one category or group before others are preferred."""

    kiwix_url: str = ""
    """The address of your kiwix-serve, to which links in reports lead; without it they name book and path."""

    browser: str = ""
    """The Chromium or Chrome that prints PDF files; if empty, one that is installed."""

    store: str = ""
    """Where runs, jobs, families and notes are stored: on this machine if empty, shared with 'postgresql://…'."""

    atlas: tuple[str, ...] = ()
    """Folders written by 'kiwiresearch bulk', whose atlas the web interface shows if their book is in your library."""

    link_filters: LinkFilters = field(default_factory=LinkFilters)
    """Which links a crawl does not follow."""

    scoring_weights: ScoringWeights = field(default_factory=ScoringWeights)
    """The weights of the parts of a page's score."""

    ask: AskSettings = field(default_factory=AskSettings)
    """How far answers search, and how confident they must be."""

    serve: ServeSettings = field(default_factory=ServeSettings)
    """Where the server listens, and what it allows."""

    kin: KinSettings = field(default_factory=KinSettings)
    """Limits for cases of family research, and where your plugins are."""

    limits: LimitSettings = field(default_factory=LimitSettings)
    """The limits of each role, if there are users."""

    policy: Policy = field(default_factory=Policy)
    """The policy of an institution: which books and pages its readers may see."""

    @property
    def is_shared_store(self) -> bool:
        """Whether they name a store, which hosts can share, in place of the one in the user's own folder."""
        return bool(self.store.strip())


def folders(environment: Mapping[str, str] = os.environ) -> Folders:
    """One folder for everything if KIWIRESEARCH_HOME names it, such as one on a stick, else those of the system."""
    home = environment.get(HOME_VARIABLE)
    if home:
        root = expand_user(home).absolute()
        return Folders(root, root / "cache", root / "state")
    return Folders(
        Path(platformdirs.user_config_dir("kiwiresearch", appauthor=False)),
        Path(platformdirs.user_cache_dir("kiwiresearch", appauthor=False)),
        Path(platformdirs.user_state_dir("kiwiresearch", appauthor=False)),
    )


def defaults() -> JsonDict:
    """Every key with its default; the keys of a table begin with its name and a dot."""
    found: JsonDict = {}
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
            f"The settings folder {str(path.parent)!r} is not a folder.",
            remedy=f"Set {HOME_VARIABLE} to a folder, or unset it.",
        ) from problem
    except (OSError, ValueError, RecursionError) as problem:
        raise BadSettings(
            f"Could not read the settings file {str(path)!r}: {problem}.", remedy="Correct the file."
        ) from problem
    values = {key: (f"{key!r} in {str(path)!r}", value) for key, value in _flat(table, path).items()}
    return with_values(settings, values)


def _flat(table: Mapping[str, object], path: Path) -> JsonDict:
    """The values of the file, by the same keys as the defaults."""
    known = defaults()
    tables = {key.partition(".")[0] for key in known if "." in key}
    found: JsonDict = {}
    for key, value in table.items():
        if key in tables and isinstance(value, dict):
            found |= {f"{key}.{inner}": setting for inner, setting in value.items()}
        else:
            found[key] = value
    for key in found:
        if key in tables:
            raise BadSettings(f"{key!r} in {str(path)!r} is not a table.", remedy=f"Write its keys under [{key}].")
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            hint = f"Did you mean {near[0]!r}? " if near else ""
            first, dot, _ = key.partition(".")
            siblings = sorted(item for item in known if item.startswith(f"{first}.") or (not dot and "." not in item))
            raise BadSettings(
                f"Unknown key {key!r} in the settings file {str(path)!r}.",
                remedy=f"{hint}The keys are: {', '.join(siblings)}.",
            )
    return found
