"""The schema of a plugin file: all that its YAML may say about a source."""

from __future__ import annotations

import string
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

import regex  # type: ignore[import-untyped]
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from kiwiresearch.kin.sources.site_page import checked_selector
from kiwiresearch.kin.tree import (
    DATE_FIELDS,
    PLACE_FIELDS,
    RELATION_FIELDS,
    EvidenceType,
    FieldName,
    InformationKind,
    SourceForm,
)

# Patterns come from users, and some take exponential time on an unlucky page.
PATTERN_TIMEOUT_S = 0.25
MAX_CHARS = 10_000
GROUP = "value"


def checked_pattern(pattern: str) -> str:
    """The pattern; raises if it is not a regular expression."""
    try:
        regex.compile(pattern)
    except (regex.error, RecursionError, OverflowError) as problem:
        raise ValueError(f"not a valid regular expression: {problem}") from problem
    return pattern


def span_of(pattern: str, text: str) -> tuple[int, int] | None:
    """The span of the pattern's value: the group 'value', else the first group, else the match.

    None if nothing matches in time.
    """
    compiled = regex.compile(pattern)
    try:
        found = compiled.search(text[:MAX_CHARS], timeout=PATTERN_TIMEOUT_S)
    except TimeoutError:
        return None
    if found is None:
        return None
    group: int | str = GROUP if GROUP in compiled.groupindex else min(compiled.groups, 1)
    start, end = found.span(group)
    return (start, end) if 0 <= start < end else None


PLACEHOLDERS = frozenset({"name", "given_name", "surname", "birth_year", "death_year", "place"})
ID = r"^[a-z][a-z0-9_]{1,39}$"
PATH = r"^/[^\s#\\]*$"

RuleType = Literal["text", "date", "place", "name", "relation"]
Kind = Literal["html", "books", "sparql", "familysearch"]
AutomationTerms = Literal["allowed", "forbidden", "unknown"]


class PluginPart(BaseModel):
    """Base of the parts of a plugin: unknown keys and values of another type are errors."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def _https(address: str) -> str:
    parts = urlsplit(address)
    if parts.scheme != "https" or not parts.hostname or parts.username or parts.password:
        raise ValueError("use an address that starts with https:// and a host name")
    return address


def _base(address: str) -> str:
    return address if address == "zim://" else _https(address).rstrip("/")


def _template(text: str) -> str:
    try:
        names = [name for _, name, spec, change in string.Formatter().parse(text) if name is not None]
        plain = all(not spec and not change for _, name, spec, change in string.Formatter().parse(text) if name)
    except ValueError as problem:
        raise ValueError(f"its braces do not match: {problem}") from problem
    # '{name!r}' and '{name:>99999999}' are refused too: a format could fill the memory.
    unknown = sorted({name for name in names if name not in PLACEHOLDERS})
    if unknown or not plain:
        known = ", ".join(f"{{{name}}}" for name in sorted(PLACEHOLDERS))
        raise ValueError(f"unknown placeholder; use {known}")
    return text


Address = Annotated[str, AfterValidator(_https)]
Selector = Annotated[str, Field(min_length=1, max_length=300), AfterValidator(checked_selector)]
Pattern = Annotated[str, Field(min_length=1, max_length=500), AfterValidator(checked_pattern)]
Template = Annotated[str, Field(max_length=200), AfterValidator(_template)]
Words = Annotated[tuple[str, ...], Field(strict=False, max_length=50)]
Selectors = Annotated[tuple[Selector, ...], Field(strict=False, max_length=20)]


class Compliance(PluginPart):
    """How the source wants to be treated; robots.txt cannot be switched off."""

    robots_txt: Literal[True]
    rate_limit_requests_per_minute: int = Field(ge=1, le=60)
    rate_limit_burst: int = Field(ge=1, le=10)
    cache_ttl_seconds: int = Field(ge=3600, le=10 * 365 * 86_400)
    requires_auth: bool
    tos_url: Address
    tos_automation: AutomationTerms = "unknown"
    contact: str = Field(default="", max_length=200, pattern=r"^[\x20-\x7e]*$")
    """Whom the source may contact about these requests; sent with each."""
    crawl_delay_seconds: float = Field(default=0, ge=0, le=3600)
    note: str = Field(default="", max_length=300, pattern=r"^[\x20-\x7e]*$")
    """What a user should know before enabling it."""


class Reliability(PluginPart):
    """The kind of evidence a source gives: one word of the specification, or three axes instead."""

    evidence_type: EvidenceType
    base_weight: float = Field(ge=0, le=1)
    user_contributed: bool
    official: bool = False
    form: SourceForm | None = None
    information: InformationKind | None = None
    origin_group: str = Field(default="", max_length=80)

    def form_of(self) -> SourceForm:
        return self.form or ("original" if self.evidence_type == "primary" else "authored")


class FieldRule(PluginPart):
    """Where a page has a value."""

    selector: Selector
    type: RuleType = "text"
    format: Literal["fuzzy", "exact"] = "fuzzy"
    required: bool = False
    regex: Pattern | None = None
    attribute: str | None = Field(default=None, pattern=r"^[a-zA-Z][a-zA-Z0-9:_-]{0,40}$")
    own_text: bool = False
    exclude: Selectors = ()
    multiple: bool = False
    null_values: Words = ("unknown",)
    relation: Literal["father", "mother", "parent", "spouse", "partner", "child", "sibling"] | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.attribute and (self.own_text or self.exclude):
            raise ValueError("an attribute has no text of its own and nothing to exclude")
        if self.relation and self.type != "relation":
            raise ValueError("'relation' goes with 'type: relation'")
        return self


class ExtractionRules(PluginPart):
    """Rules by field of a person."""

    person: dict[FieldName, FieldRule] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _types(self) -> Self:
        for name, rule in self.person.items():
            wanted: RuleType | None = "date" if name in DATE_FIELDS else "relation" if name in RELATION_FIELDS else None
            if wanted and rule.type != wanted:
                raise ValueError(f"{name!r} needs 'type: {wanted}'")
            if not wanted and rule.type in ("date", "relation"):
                raise ValueError(f"{name!r} is not a {rule.type}")
            if rule.type == "place" and name not in PLACE_FIELDS:
                raise ValueError(f"{name!r} is not a place")
            if rule.relation and rule.relation != name:
                raise ValueError(f"{name!r} says 'relation: {rule.relation}'")
        return self


class SearchRule(PluginPart):
    """How the source is asked for people."""

    endpoint: str = Field(pattern=PATH)
    method: Literal["GET", "POST"] = "GET"
    params: dict[str, Template] = Field(default_factory=dict, max_length=30)
    result_selector: Selector | None = None


class Pagination(PluginPart):
    """How further results are asked for."""

    type: Literal["page_number"]
    param: str = Field(min_length=1, max_length=40)
    max_pages: int = Field(ge=1, le=50)


class SignInRules(PluginPart):
    """How a user signs in: the authorization code flow of OAuth 2, with the user's own key."""

    authorize_url: Address
    token_url: Address
    scope: str = Field(default="", max_length=200)
    redirect_uri: str = Field(default="http://127.0.0.1:5000/callback", max_length=200)


class Fixture(PluginPart):
    """A page written for the plugin, and what has to be read in it."""

    html: str = Field(min_length=1, max_length=200)
    expect: dict[FieldName, str | list[str] | None]


class Plugin(PluginPart):
    """A source, as its YAML file describes it."""

    schema_version: Literal[1] = 1
    plugin_id: str = Field(pattern=ID)
    display_name: str = Field(min_length=1, max_length=100)
    tier: int = Field(ge=0, le=2)
    base_url: Annotated[str, AfterValidator(_base)]
    kind: Kind = "html"
    enabled: bool = False
    """Whether a case has it from the start; only for the user's own books."""
    search_is_fuzzy: bool = False
    languages: Words = ()
    record_type: str = Field(default="", max_length=80)
    person_path: str = Field(default="", max_length=200)
    """The beginning of the path of a person's page; other links of a result are ignored."""
    compliance: Compliance
    reliability: Reliability
    extraction_rules: ExtractionRules = ExtractionRules()
    search: SearchRule | None = None
    pagination: Pagination | None = None
    auth: SignInRules | None = None
    fixtures: Annotated[tuple[Fixture, ...], Field(strict=False, max_length=50)] = ()

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if (self.kind == "books") != (self.base_url == "zim://"):
            raise ValueError("'base_url: zim://' and 'kind: books' go together")
        if self.enabled and self.kind != "books":
            raise ValueError("'enabled: true' is for books; network sources are turned on for each case")
        if self.tier == 2 and not self.compliance.requires_auth:
            raise ValueError("tier 2 is for sources that need a login: set 'requires_auth: true' in 'compliance'")
        if self.tier < 2 and self.compliance.requires_auth:
            raise ValueError("a source that needs a login must be tier 2")
        if self.kind == "familysearch" and self.auth is None:
            raise ValueError("'kind: familysearch' needs 'auth'")
        if self.kind == "sparql" and self.search is None:
            raise ValueError("'kind: sparql' needs 'search' with an 'endpoint'")
        if self.kind == "html" and "name" not in self.extraction_rules.person:
            raise ValueError("'extraction_rules.person' needs a rule for 'name'")
        return self

    def hosts(self) -> frozenset[str]:
        """The hosts the plugin may be asked at, with their ports."""
        addresses = [self.base_url, *((self.auth.authorize_url, self.auth.token_url) if self.auth else ())]
        return frozenset(urlsplit(address).netloc.lower() for address in addresses)

    def required(self) -> tuple[FieldName, ...]:
        return tuple(name for name, rule in self.extraction_rules.person.items() if rule.required)
