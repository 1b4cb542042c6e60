"""The gate for every request to a source: checks permission, key, terms, address, cache, robots.txt and rate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib.metadata import PackageNotFoundError, version

from kiwiresearch.errors import SourceRateLimited, SourceRefused, SourceUnreachable
from kiwiresearch.kin.sources.plugin import Plugin
from kiwiresearch.kin.sources.request_limits import (
    MAX_WAIT_S,
    Clock,
    FetchedPage,
    Limiter,
    Pace,
    PluginMemory,
    ResponseCache,
    Robots,
    parse_robots,
    robots_from_record,
    robots_url,
)
from kiwiresearch.kin.sources.source import PersonQuery
from kiwiresearch.kin.sources.transport import (
    AllowedHosts,
    HttpAnswer,
    Request,
    Resolve,
    Transport,
    display_url,
    system_addresses,
)

AskUser = Callable[[str], str]
"""Asks the user for the key of a plugin; an empty answer means none."""


class Secret:
    """A key that never appears in messages, logs or tracebacks."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        return self._value

    def __bool__(self) -> bool:
        return bool(self._value)

    def __repr__(self) -> str:
        return "Secret(…)"

    def __reduce__(self) -> str:
        # Pickling would write it.
        raise TypeError("a key is not written anywhere")


class Credentials:
    """The keys of this process, by plugin; never written anywhere."""

    def __init__(self, environment: Mapping[str, str] | None = None, ask: AskUser | None = None) -> None:
        self._environment = dict(environment or {})
        self._ask = ask
        self._secrets: dict[str, Secret] = {}

    def key(self, plugin_id: str) -> Secret:
        """The user's key for a plugin, or an empty one; the user is asked once."""
        if plugin_id not in self._secrets:
            value = self._environment.get(key_variable(plugin_id), "").strip()
            if not value and self._ask is not None:
                value = self._ask(plugin_id).strip()
            self._secrets[plugin_id] = Secret(value)
        return self._secrets[plugin_id]

    def __repr__(self) -> str:
        return f"Credentials({', '.join(sorted(self._secrets))})"


def key_variable(plugin_id: str) -> str:
    """The environment variable that holds a plugin's key."""
    return f"KIWIRESEARCH_KEY_{plugin_id.upper()}"


# RFC 9309 wants at least five redirects to be followed for robots.txt.
MAX_HOPS = 5
MAX_TRIES = 3
BUSY_STATUSES = frozenset({429, 503})
NO_ANSWER = 599
"""Not a real status; like any 5xx, it lets `parse_robots` allow nothing."""
DEFAULT_PAUSE_S = 60.0
"""How long to leave a host alone that says 'too many' without a time; doubled the second time."""
REDIRECTS = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True)
class Permissions:
    """What the user allows in a case; by default nothing outside the books."""

    enabled: frozenset[str] = frozenset()
    terms_acknowledged: frozenset[str] = frozenset()
    """Plugins with unknown terms that the user says they may use."""
    extra_hosts: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Further addresses the user allows a plugin, as 'scheme://host:port'."""
    contact: str = ""
    """How a source can reach the user."""
    credentials: Credentials = field(default_factory=Credentials)


class Gate:
    """The only way to sources outside the books, for one case."""

    def __init__(
        self,
        permissions: Permissions,
        memory: PluginMemory,
        clock: Clock,
        *,
        transport: Transport | None = None,
        resolve: Resolve = system_addresses,
    ) -> None:
        self.permissions = permissions
        self.memory = memory
        self._clock = clock
        self._transport = transport or Transport(user_agent(permissions.contact))
        self._resolve = resolve
        self._limiter = Limiter(memory, clock)
        self._cache = ResponseCache(memory)

    def close(self) -> None:
        self._transport.close()

    def format_time(self, moment: float) -> str:
        return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def check_allowed(self, plugin: Plugin) -> None:
        """Raise if the plugin is switched off, needs a key, or has terms that do not allow it."""
        name = plugin.plugin_id
        if name not in self.permissions.enabled:
            raise SourceRefused(
                f"The source {name!r} is turned off for this case.",
                rule="switched off",
                remedy=f"To turn it on: kiwiresearch kin plugins on {name}",
            )
        if plugin.compliance.requires_auth and not self.permissions.credentials.key(name):
            raise SourceRefused(
                f"The source {name!r} needs your own key.",
                rule="credentials",
                remedy=f"Set the environment variable {key_variable(name)}.",
            )
        terms = plugin.compliance.tos_automation
        if terms == "forbidden":
            what, remedy_end = "forbid", "."
        elif terms == "unknown" and name not in self.permissions.terms_acknowledged:
            what = "may not allow"
            remedy_end = f". If you have permission, run: kiwiresearch kin plugins on {name} --terms-ok"
        else:
            return
        remedy = f"Read {plugin.compliance.tos_url}{remedy_end}"
        raise SourceRefused(f"The terms of {name!r} {what} automated access.", rule="terms", remedy=remedy)

    def check_query_allowed(self, plugin: Plugin, query: PersonQuery) -> None:
        """Raise if the plugin may not be used, or not for this person: only the dead are searched for outside books."""
        self.check_allowed(plugin)
        if query.living != "deceased":
            raise SourceRefused(
                f"The source {plugin.plugin_id!r} is never searched for people who may be living.",
                rule="privacy",
                remedy="If you know that the person has died: kiwiresearch kin living NAME --set deceased --why REASON",
            )

    def get(self, plugin: Plugin, request: Request) -> FetchedPage:
        """The answer to a request, cached or fetched; raises if there is none."""
        self.check_allowed(plugin)
        allowed = AllowedHosts(
            plugin.hosts(), self.permissions.extra_hosts.get(plugin.plugin_id, frozenset()), self._resolve
        )
        # Before the cache, so that an address which is no longer allowed is not read from there either.
        allowed.check(request.url)
        ttl_s = plugin.compliance.cache_ttl_seconds
        cached = self._cache.get(plugin.plugin_id, request, now=self._clock.now(), ttl_s=ttl_s)
        if cached is not None:
            return cached
        page = self._follow_redirects(plugin, allowed, request)
        if page.status == 200:
            self._cache.put(plugin.plugin_id, request, page)
        return page

    def _follow_redirects(self, plugin: Plugin, allowed: AllowedHosts, request: Request) -> FetchedPage:
        """The answer after all redirects; a key is sent to the first host only."""
        url, asked = request.url, request
        for _ in range(MAX_HOPS + 1):
            answer = self._send_politely(plugin, allowed, asked)
            if answer.status not in REDIRECTS or not answer.location:
                return FetchedPage(url, answer.status, answer.content, answer.kind, self._clock.now())
            target = allowed.redirect_target(url, answer.location)
            secrets = asked.secret_headers if _host(target) == _host(url) else {}
            # Only 307 and 308 repeat the method and its form; after the others a browser sends a GET.
            method, form = (asked.method, asked.form) if answer.status in (307, 308) else ("GET", {})
            asked = Request(target, method, form, asked.accept, secrets)
            url = target
        raise SourceUnreachable(f"The source {display_url(request.url)!r} redirected more than {MAX_HOPS} times.")

    def _send_politely(self, plugin: Plugin, allowed: AllowedHosts, request: Request) -> HttpAnswer:
        """The answer to one request at the host's rate; a busy host is asked again later."""
        robots = self._robots(plugin, allowed, request.url)
        if not robots.allows(request.url):
            why = (
                "did not send its robots.txt, so this page is not read"
                if robots.denies_all
                else "does not allow programs to read this page (robots.txt)"
            )
            raise SourceRefused(
                f"The host {_host(request.url)!r} {why}: {display_url(request.url)!r}.",
                rule="robots.txt",
                remedy=f"Use your own endpoint: kiwiresearch kin plugins on {plugin.plugin_id} --endpoint ADDRESS"
                if plugin.kind == "sparql"
                else "Read the page in your browser. To add what it says, enter it in a family tree program "
                "and import its GEDCOM file: kiwiresearch kin import FILE",
            )
        for attempt in range(1, MAX_TRIES + 1):
            answer = self._send_paced(plugin, allowed, request, robots.gap_s())
            if answer.status not in BUSY_STATUSES:
                return answer
            wanted_s = _retry_after_s(answer.retry_after, self._clock.now())
            pause_s = DEFAULT_PAUSE_S * 2 ** (attempt - 1) if wanted_s is None else wanted_s
            # Noted in the case before anything is raised, so that the next command waits too.
            self._limiter.pause(_host(request.url), pause_s)
            if pause_s > MAX_WAIT_S or attempt == MAX_TRIES:
                raise SourceRateLimited(f"The host {_host(request.url)!r} is too busy.", retry_after_s=pause_s)
        raise AssertionError("unreachable")

    def _send_paced(self, plugin: Plugin, allowed: AllowedHosts, request: Request, asked_gap_s: float) -> HttpAnswer:
        place = allowed.pin(request.url)
        rules = plugin.compliance
        apart = max(asked_gap_s, rules.crawl_delay_seconds)
        gap = max(60.0 / rules.rate_limit_requests_per_minute, apart)
        self._limiter.take(_host(request.url), Pace(rules.rate_limit_burst, gap, apart))
        return self._transport.send(place, request)

    def _robots(self, plugin: Plugin, allowed: AllowedHosts, url: str) -> Robots:
        key = f"robots/{robots_url(url)}"
        known = robots_from_record(self.memory.get(key))
        if known is not None and known.is_fresh(self._clock.now()):
            return known
        found = self._read_robots(plugin, allowed, robots_url(url))
        self.memory.set(key, found.record())
        return found

    def _read_robots(self, plugin: Plugin, allowed: AllowedHosts, url: str) -> Robots:
        asked = Request(url, accept="text/plain")
        for _ in range(MAX_HOPS + 1):
            try:
                answer = self._send_paced(plugin, allowed, asked, 0.0)
            except SourceUnreachable:
                return parse_robots(NO_ANSWER, b"", self._clock.now())
            if answer.status in BUSY_STATUSES:
                pause_s = _retry_after_s(answer.retry_after, self._clock.now()) or DEFAULT_PAUSE_S
                self._limiter.pause(_host(asked.url), pause_s)
            if answer.status not in REDIRECTS or not answer.location:
                return parse_robots(answer.status, answer.content, self._clock.now())
            asked = Request(allowed.redirect_target(asked.url, answer.location), accept="text/plain")
        return parse_robots(NO_ANSWER, b"", self._clock.now())


def user_agent(contact: str = "") -> str:
    """The User-Agent header, which does not pretend to be a browser."""
    address = "".join(char for char in contact if " " <= char <= "~").strip()
    try:
        number = version("kiwiresearch")
    except PackageNotFoundError:  # run from its source
        number = "0"
    return f"kiwiresearch/{number} (family research for one user{f'; contact {address}' if address else ''})"


def _host(url: str) -> str:
    return url.partition("://")[2].partition("/")[0].partition("?")[0].lower()


def _retry_after_s(header: str, now: float) -> float | None:
    """The seconds of a Retry-After header, which has a number or a date."""
    text = header.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (TypeError, ValueError, OverflowError):
        return None
