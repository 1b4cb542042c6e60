"""The gate every request to a source goes through, in this order:

1. The plugin is switched on for the case.
2. A source that wants a login has the user's own key.
3. Its terms allow programs, or the user says to have its leave.
4. The address is https, at a host of the plugin.
5. An answer that is kept and still fresh needs no request at all.
6. robots.txt allows it.
7. The limiter lets it pass, at the slowest pace anybody asked for.
8. The host is at a public address, to which the request is pinned; each redirect starts again at 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib.metadata import PackageNotFoundError, version

from kiwiresearch.errors import SourceRefused, SourceResting, SourceUnreachable
from kiwiresearch.kin.sources.addresses import Reach, Resolve, shown, system_addresses
from kiwiresearch.kin.sources.credentials import Credentials, variable
from kiwiresearch.kin.sources.kept import KeptPages, Page
from kiwiresearch.kin.sources.limiter import LONGEST_WAIT_S, Clock, Limiter, Pace
from kiwiresearch.kin.sources.line import Answer, Line, Request
from kiwiresearch.kin.sources.memory import PluginMemory
from kiwiresearch.kin.sources.plugin import Plugin
from kiwiresearch.kin.sources.robots import Robots, from_record, robots_of, robots_url
from kiwiresearch.kin.sources.source import PersonQuery

MAX_HOPS = 5
MAX_TRIES = 3
BUSY = frozenset({429, 503})
UNSAID_REST_S = 60.0
"""How long a host that says 'too many' without a time is left alone; twice as long the second time."""
REDIRECTS = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True)
class Permit:
    """What the user allows in a case. By default, nothing outside the books."""

    enabled: frozenset[str] = frozenset()
    """Plugins switched on."""
    terms_acknowledged: frozenset[str] = frozenset()
    """Plugins whose terms are unknown to us, and whose leave the user says to have."""
    named: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Places the user named besides for a plugin, as 'scheme://host:port'; they are no other plugin's."""
    contact: str = ""
    """How a source can reach whoever runs the program."""
    credentials: Credentials = field(default_factory=Credentials)


class Gate:
    """The way to all sources outside the books, for one case."""

    def __init__(
        self,
        permit: Permit,
        memory: PluginMemory,
        clock: Clock,
        *,
        line: Line | None = None,
        resolve: Resolve = system_addresses,
    ) -> None:
        self.permit = permit
        self.memory = memory
        self._clock = clock
        self._line = line or Line(user_agent(permit.contact))
        self._resolve = resolve
        self._limiter = Limiter(memory, clock)
        self._kept = KeptPages(memory)

    def close(self) -> None:
        self._line.close()

    def now(self) -> float:
        return self._clock.now()

    def accessed_at(self, moment: float) -> str:
        return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def may_be_asked(self, plugin: Plugin) -> None:
        """Steps 1 to 3, which need no address."""
        name = plugin.plugin_id
        if name not in self.permit.enabled:
            raise SourceRefused(
                f"The source {name!r} is switched off in this case.",
                step="switched off",
                remedy=f"Switch it on for this case: kiwiresearch kin plugins on {name}",
            )
        if plugin.compliance.requires_auth and not self.permit.credentials.key(name):
            raise SourceRefused(
                f"The source {name!r} wants a key of your own.",
                step="credentials",
                remedy=f"Put it into the environment variable {variable(name)}.",
            )
        terms = plugin.compliance.tos_automation
        if terms == "forbidden" or (terms == "unknown" and name not in self.permit.terms_acknowledged):
            raise SourceRefused(
                f"The terms of {name!r} {'forbid' if terms == 'forbidden' else 'are not known to allow'} programs.",
                step="terms",
                remedy=f"Read {plugin.compliance.tos_url}"
                + (
                    "."
                    if terms == "forbidden"
                    else f"; if you have its leave, say so: kiwiresearch kin plugins on {name} --terms-ok"
                ),
            )

    def may_be_asked_about(self, plugin: Plugin, query: PersonQuery) -> None:
        """The same, for a person: nobody who may be alive is asked for outside the books."""
        self.may_be_asked(plugin)
        if query.living != "deceased":
            raise SourceRefused(
                f"The source {plugin.plugin_id!r} is not asked about somebody who may be alive.",
                step="privacy",
                remedy="Find out from your books that the person died, or say so yourself.",
            )

    def get(self, plugin: Plugin, request: Request) -> Page:
        """The answer to a request, or the reason why there is none."""
        self.may_be_asked(plugin)
        reach = Reach(plugin.hosts(), self.permit.named.get(plugin.plugin_id, frozenset()), self._resolve)
        reach.check(request.url)
        kept = self._kept.get(
            plugin.plugin_id, request, now=self._clock.now(), ttl_s=plugin.compliance.cache_ttl_seconds
        )
        if kept is not None:
            return kept
        page = self._followed(plugin, reach, request)
        if page.status == 200:
            self._kept.put(plugin.plugin_id, request, page)
        return page

    def _followed(self, plugin: Plugin, reach: Reach, request: Request) -> Page:
        """The answer at the end of all redirects; a key goes to the first host only."""
        url, asked = request.url, request
        for _ in range(MAX_HOPS + 1):
            answer = self._polite(plugin, reach, asked)
            if answer.status not in REDIRECTS or not answer.location:
                return Page(url, answer.status, answer.content, answer.kind, self._clock.now())
            target = reach.hop(url, answer.location)
            secrets = asked.secret_headers if _host(target) == _host(url) else {}
            keeps = answer.status in (307, 308)
            asked = Request(
                target,
                asked.method if keeps else "GET",
                asked.form if keeps else {},
                asked.accept,
                secrets,
            )
            url = target
        raise SourceUnreachable(f"The source {shown(request.url)!r} only redirects, {MAX_HOPS} times and more.")

    def _polite(self, plugin: Plugin, reach: Reach, request: Request) -> Answer:
        """One answer, at the pace the host wants; a host that says 'later' is asked later."""
        robots = self._robots(plugin, reach, request.url)
        if not robots.allows(request.url):
            why = "does not answer for its robots.txt" if robots.denies_all else "forbids this by its robots.txt"
            raise SourceRefused(
                f"The host {_host(request.url)!r} {why}: {shown(request.url)!r}.",
                step="robots.txt",
                remedy=_instead(plugin),
            )
        for attempt in range(1, MAX_TRIES + 1):
            answer = self._paced(plugin, reach, request, robots.gap_s())
            if answer.status not in BUSY:
                return answer
            rest = _seconds(answer.retry_after, self._clock.now())
            wait = UNSAID_REST_S * 2 ** (attempt - 1) if rest is None else rest
            self._limiter.rest(_host(request.url), wait)
            if wait > LONGEST_WAIT_S or attempt == MAX_TRIES:
                raise SourceResting(f"The host {_host(request.url)!r} has too much to do.", after_s=wait)
        raise AssertionError("unreachable")

    def _paced(self, plugin: Plugin, reach: Reach, request: Request, asked_gap_s: float) -> Answer:
        place = reach.place(request.url)
        rules = plugin.compliance
        apart = max(asked_gap_s, rules.crawl_delay_seconds)
        gap = max(60.0 / rules.rate_limit_requests_per_minute, apart)
        self._limiter.take(_host(request.url), Pace(rules.rate_limit_burst, gap, apart))
        return self._line.ask(place, request)

    def _robots(self, plugin: Plugin, reach: Reach, url: str) -> Robots:
        key = f"robots/{robots_url(url)}"
        known = from_record(self.memory.get(key))
        now = self._clock.now()
        if known is not None and known.is_fresh(now):
            return known
        found = self._read_robots(plugin, reach, robots_url(url))
        self.memory.set(key, found.record())
        return found

    def _read_robots(self, plugin: Plugin, reach: Reach, url: str) -> Robots:
        asked = Request(url, accept="text/plain")
        for _ in range(MAX_HOPS + 1):
            try:
                answer = self._paced(plugin, reach, asked, 0.0)
            except SourceUnreachable:
                return robots_of(599, b"", self._clock.now())
            if answer.status in BUSY:
                self._limiter.rest(_host(asked.url), _seconds(answer.retry_after, self._clock.now()) or UNSAID_REST_S)
            if answer.status not in REDIRECTS or not answer.location:
                return robots_of(answer.status, answer.content, self._clock.now())
            asked = Request(reach.hop(asked.url, answer.location), accept="text/plain")
        return robots_of(599, b"", self._clock.now())


def _instead(plugin: Plugin) -> str:
    """What a user can do where a host lets no program in."""
    if plugin.kind == "sparql":
        return f"Ask an endpoint of your own: kiwiresearch kin plugins on {plugin.plugin_id} --endpoint ADDRESS"
    return "Save the page yourself, or leave it."


def user_agent(contact: str = "") -> str:
    """Who is asking, without pretending to be a browser."""
    reached = "".join(char for char in contact if " " <= char <= "~").strip()
    try:
        number = version("kiwiresearch")
    except PackageNotFoundError:  # run from its source
        number = "0"
    return f"kiwiresearch/{number} (family research for one user{f'; contact {reached}' if reached else ''})"


def _host(url: str) -> str:
    return url.partition("://")[2].partition("/")[0].partition("?")[0].lower()


def _seconds(told: str, now: float) -> float | None:
    """The seconds of a Retry-After: a number, or a date."""
    text = told.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (TypeError, ValueError, OverflowError):
        return None
