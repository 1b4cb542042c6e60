"""A website described by a plugin: searched by its own search, read by rules, quarantined when it changes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple
from urllib.parse import urlencode, urljoin, urlsplit

from kiwiresearch.errors import SourceError, SourceRefused, SourceUnreachable
from kiwiresearch.ids import canonical_json
from kiwiresearch.kin.sources.gate import Gate
from kiwiresearch.kin.sources.plugin import Plugin, SearchRule
from kiwiresearch.kin.sources.request_limits import FetchedPage, PluginMemory
from kiwiresearch.kin.sources.site_page import SitePage
from kiwiresearch.kin.sources.site_rules import read_site_page
from kiwiresearch.kin.sources.source import MAX_PEOPLE, FetchedRecord, PersonQuery
from kiwiresearch.kin.sources.transport import Request, display_url
from kiwiresearch.kin.tree import Source, row_id

# Three bad pages of the last ten mean that the site has changed its layout.
WINDOW = 10
MAX_BAD_PAGES = 3


class PagesRead(NamedTuple):
    """The required fields that each of the last pages lacked, and why the plugin is in quarantine."""

    missing: Sequence[list[str]] = ()
    quarantine: str = ""


class PluginHealth:
    """How well the last pages of each plugin could be read; a changed plugin starts afresh."""

    def __init__(self, memory: PluginMemory) -> None:
        self._memory = memory

    def check(self, plugin: Plugin) -> None:
        """Raise if the plugin is in quarantine."""
        why = self.quarantine(plugin)
        if why:
            raise SourceRefused(
                f"The plugin {plugin.plugin_id!r} is paused: {why}.",
                rule="quarantine",
                remedy=f"Correct its rules, then test them: kiwiresearch kin plugins check {plugin.plugin_id}",
            )

    def quarantine(self, plugin: Plugin) -> str:
        """Why the plugin is in quarantine; empty if it is not."""
        return self._pages(plugin).quarantine

    def note(self, plugin: Plugin, missing: Sequence[str]) -> None:
        """Remember which required fields a page lacked."""
        before = self._pages(plugin)
        pages = [*before.missing, list(missing)][-WINDOW:]
        bad = [row for row in pages if row]
        why = before.quarantine
        if len(bad) >= MAX_BAD_PAGES:
            names = sorted({name for row in bad for name in row})
            why = f"{len(bad)} of the last {len(pages)} pages had no {' or '.join(map(repr, names))}"
        self._memory.set(_key(plugin), {"rules": rules_of(plugin), "pages": pages, "quarantine": why})

    def _pages(self, plugin: Plugin) -> PagesRead:
        found = self._memory.get(_key(plugin))
        if not isinstance(found, dict) or found.get("rules") != rules_of(plugin):
            return PagesRead()
        return PagesRead([list(map(str, row)) for row in found.get("pages", [])], str(found.get("quarantine", "")))


def rules_of(plugin: Plugin) -> str:
    """A hash of the plugin's rules; other rules make it another plugin."""
    text = canonical_json(plugin.extraction_rules.model_dump(mode="json"))
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def _key(plugin: Plugin) -> str:
    return f"health/{plugin.plugin_id}"


def fetch_all(locators: Iterable[str], fetch: Callable[[str], FetchedRecord]) -> list[FetchedRecord]:
    """All records that can be fetched; if there are none, the last problem is raised.

    After a refusal the source is asked for nothing more.
    """
    found: list[FetchedRecord] = []
    problem: SourceError | None = None
    for locator in locators:
        try:
            found.append(fetch(locator))
        except SourceUnreachable as trouble:
            problem = trouble
        except SourceError as refusal:
            problem = refusal
            break
    if problem is not None and not found:
        raise problem
    return found


class PluginSource:
    """A source described by a plugin and asked through the gate."""

    def __init__(self, plugin: Plugin, gate: Gate) -> None:
        self.plugin = plugin
        self._gate = gate

    @property
    def id(self) -> str:
        return self.plugin.plugin_id

    @property
    def tier(self) -> int:
        return self.plugin.tier


class SiteSource(PluginSource):
    """A plugin of kind 'html'."""

    def __init__(self, plugin: Plugin, gate: Gate) -> None:
        super().__init__(plugin, gate)
        self._health = PluginHealth(gate.memory)

    def search(self, query: PersonQuery) -> Sequence[FetchedRecord]:
        """The people that the site's search offers, without pages that are not about a person."""
        self._gate.check_query_allowed(self.plugin, query)
        self._health.check(self.plugin)
        found = fetch_all(self._results(query), self.fetch)
        return [fetched for fetched in found if fetched.reading is not None and fetched.reading.is_person]

    def fetch(self, locator: str) -> FetchedRecord:
        self._gate.check_allowed(self.plugin)
        self._health.check(self.plugin)
        url = urljoin(f"{self.plugin.base_url}/", locator)
        page = _require_ok(self._gate.get(self.plugin, Request(url)))
        reading = read_site_page(page.content, self.plugin, page.url)
        # An old answer says nothing about the site as it is now.
        if not page.from_cache:
            self._health.note(self.plugin, reading.missing)
        source = source_record(self.plugin, page, self._gate.format_time(page.fetched_at), reading.person.title)
        return FetchedRecord(source, reading.text, reading=reading.person)

    def _results(self, query: PersonQuery) -> list[str]:
        search = self.plugin.search
        if search is None or search.result_selector is None:
            return []
        pagination = self.plugin.pagination
        found: dict[str, None] = {}
        for number in range(1, (pagination.max_pages if pagination else 1) + 1):
            params = search_params(search, query)
            if not params:
                return []
            if pagination and number > 1:
                params[pagination.param] = str(number)
            url = self.plugin.base_url + search.endpoint
            is_post = search.method == "POST"
            request = Request(url, "POST", params) if is_post else Request(f"{url}?{urlencode(params)}")
            page = self._gate.get(self.plugin, request)
            if page.status == 404:
                break
            fresh = [url for url in self._links(_require_ok(page), search.result_selector) if url not in found]
            found |= dict.fromkeys(fresh)
            # Many sites answer a page number that is too high with their last page.
            if not fresh or len(found) >= MAX_PEOPLE:
                break
        return list(found)[:MAX_PEOPLE]

    def _links(self, page: FetchedPage, selector: str) -> list[str]:
        links = (chosen.link() for chosen in SitePage(page.content).choose(selector))
        urls = (_linked_url(page.url, link) for link in links if link)
        here = urlsplit(page.url).netloc
        return [
            url
            for url in urls
            if urlsplit(url).netloc == here and urlsplit(url).path.startswith(self.plugin.person_path)
        ]


def _linked_url(page: str, link: str) -> str:
    """The address that a link of a page leads to, without its fragment; empty if it is broken, such as 'http://['."""
    try:
        return urljoin(page, link).partition("#")[0]
    except ValueError:
        return ""


def search_params(search: SearchRule, query: PersonQuery) -> dict[str, str]:
    """The parameters of a search, without empty ones; none at all without a name."""
    given, surname = query.given_and_surname()
    values = {
        "name": query.name,
        "given_name": given,
        "surname": surname,
        "birth_year": str(query.birth_year or ""),
        "death_year": str(query.death_year or ""),
        "place": "",
    }
    if not query.name.strip():
        return {}
    filled = {name: template.format(**values).strip() for name, template in search.params.items()}
    return {name: value for name, value in filled.items() if value}


def _require_ok(page: FetchedPage) -> FetchedPage:
    if page.status != 200:
        raise SourceUnreachable(f"The source {display_url(page.url)!r} returned an error ({page.status}).")
    return page


def source_record(plugin: Plugin, page: FetchedPage, accessed_at: str, title: str) -> Source:
    """A page as a source; the id depends on address and content, so a changed page is another source."""
    return Source(
        id=row_id("source", page.url, page.sha),
        url=page.url,
        name=plugin.display_name,
        title=title,
        tier=plugin.tier,
        accessed_at=accessed_at,
        content_hash=page.sha,
        origin_group=plugin.reliability.origin_group or plugin.plugin_id,
        form=plugin.reliability.form_of(),
        official=plugin.reliability.official,
        user_contributed=plugin.reliability.user_contributed,
    )
