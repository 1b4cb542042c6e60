"""A website that a plugin describes: searched by its own search, read by rules, quarantined when it changes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urljoin, urlsplit

from kiwiresearch.errors import BadUsage, SourceError, SourceRefused, SourceUnreachable
from kiwiresearch.ids import canonical_json
from kiwiresearch.kin.sources.gate import Gate
from kiwiresearch.kin.sources.plugin import Plugin, SearchRule
from kiwiresearch.kin.sources.politeness import FetchedPage, PluginMemory
from kiwiresearch.kin.sources.site_page import SitePage
from kiwiresearch.kin.sources.site_rules import PageReading, read_site_page
from kiwiresearch.kin.sources.source import Fetched, PersonQuery
from kiwiresearch.kin.sources.transport import MAX_BYTES, Request, display_url
from kiwiresearch.kin.tree import Source, row_id

WINDOW = 10
MAX_BAD_PAGES = 3


class PluginHealth:
    """How the last pages of each plugin could be read. A plugin that was changed starts anew."""

    def __init__(self, memory: PluginMemory) -> None:
        self._memory = memory

    def check(self, plugin: Plugin) -> None:
        """Refuse a plugin that has been put aside."""
        why = self.quarantine(plugin)
        if why:
            raise SourceRefused(
                f"The plugin {plugin.plugin_id!r} has been put aside: {why}.",
                step="quarantine",
                remedy=f"Mend its rules and try them with 'kiwiresearch kin plugins check {plugin.plugin_id}'.",
            )

    def quarantine(self, plugin: Plugin) -> str:
        """Why the plugin has been put aside; empty where it has not."""
        return str(self._state(plugin).get("quarantine", ""))

    def note(self, plugin: Plugin, missing: Sequence[str]) -> None:
        """Remember whether a page had all that is required."""
        state = self._state(plugin)
        pages = [[str(name) for name in row] for row in state.get("pages", [])]
        pages = [*pages, list(missing)][-WINDOW:]
        bad = [row for row in pages if row]
        why = str(state.get("quarantine", ""))
        if len(bad) >= MAX_BAD_PAGES:
            names = sorted({name for row in bad for name in row})
            why = f"{len(bad)} of the last {len(pages)} pages had no {' or '.join(map(repr, names))}"
        self._memory.set(_key(plugin), {"rules": rules_of(plugin), "pages": pages, "quarantine": why})

    def release(self, plugin: Plugin) -> None:
        self._memory.set(_key(plugin), {"rules": rules_of(plugin), "pages": [], "quarantine": ""})

    def _state(self, plugin: Plugin) -> dict[str, Any]:
        found = self._memory.get(_key(plugin))
        return found if isinstance(found, dict) and found.get("rules") == rules_of(plugin) else {}


def rules_of(plugin: Plugin) -> str:
    """A hash of what the plugin reads by: other rules are another plugin."""
    told = canonical_json(plugin.extraction_rules.model_dump(mode="json"))
    return "sha256:" + hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:16]


def _key(plugin: Plugin) -> str:
    return f"health/{plugin.plugin_id}"


def fetch_all(locators: Iterable[str], fetch: Callable[[str], Fetched]) -> list[Fetched]:
    """What could be fetched. One record that fails costs only itself; if none could be had, the reason is raised.

    A source that says no, or not now, is asked for nothing more.
    """
    found: list[Fetched] = []
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


MAX_PEOPLE = 5
"""How many results of a search are opened: each costs a request."""


class SiteSource:
    """A plugin of kind 'html', behind the gate."""

    def __init__(self, plugin: Plugin, gate: Gate, *, most_people: int = MAX_PEOPLE) -> None:
        self.plugin = plugin
        self._gate = gate
        self._health = PluginHealth(gate.memory)
        self._most_people = most_people

    @property
    def id(self) -> str:
        return self.plugin.plugin_id

    @property
    def tier(self) -> int:
        return self.plugin.tier

    def find(self, query: PersonQuery) -> Sequence[Fetched]:
        """Who the site's search offers; a page that has nothing of a person is left out."""
        self._gate.check_query_allowed(self.plugin, query)
        self._health.check(self.plugin)
        found = fetch_all(self._results(query), self.fetch)
        return [fetched for fetched in found if fetched.read is not None and fetched.read.is_person]

    def fetch(self, locator: str) -> Fetched:
        self._gate.check_allowed(self.plugin)
        self._health.check(self.plugin)
        url = urljoin(f"{self.plugin.base_url}/", locator)
        page = _require_ok(self._gate.get(self.plugin, Request(url)))
        reading = read_site_page(page.content, self.plugin, page.url)
        if not page.from_cache:
            self._health.note(self.plugin, reading.missing)
        return fetched_record(self.plugin, page, reading, self._gate.accessed_at(page.fetched_at))

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
            page = self._gate.get(self.plugin, _search(self.plugin, search, params))
            if page.status == 404:
                break
            fresh = [url for url in self._links(_require_ok(page), search.result_selector) if url not in found]
            found |= dict.fromkeys(fresh)
            if not fresh or len(found) >= self._most_people:
                break
        return list(found)[: self._most_people]

    def _links(self, page: FetchedPage, selector: str) -> list[str]:
        links = (chosen.link() for chosen in SitePage(page.content).choose(selector))
        urls = (urljoin(page.url, link).partition("#")[0] for link in links if link)
        here = urlsplit(page.url).netloc
        return [
            url
            for url in urls
            if urlsplit(url).netloc == here and urlsplit(url).path.startswith(self.plugin.person_path)
        ]


def read_saved(file: Path, plugin: Plugin, *, accessed_at: str = "") -> Fetched:
    """A page of the site that the user saved: read by the same rules, without the network."""
    try:
        content = file.read_bytes()
    except OSError as problem:
        raise BadUsage(
            f"The file {str(file)!r} cannot be read: {problem.strerror}.", remedy="Check its place and permissions."
        ) from problem
    page = FetchedPage(f"file:{quote(file.name, errors='replace')}", 200, content[:MAX_BYTES], "text/html", 0.0)
    return fetched_record(plugin, page, read_site_page(page.content, plugin, page.url), accessed_at)


def search_params(search: SearchRule, query: PersonQuery) -> dict[str, str]:
    """The parameters of a search; one whose placeholder has no value is left out. Without a name there are none."""
    values = {
        "name": query.name,
        "given_name": query.given(),
        "surname": query.family(),
        "birth_year": str(query.birth_year or ""),
        "death_year": str(query.death_year or ""),
        "place": query.place,
    }
    if not query.name.strip() and not query.family() and not query.given():
        return {}
    filled = {name: template.format(**values).strip() for name, template in search.params.items()}
    return {name: value for name, value in filled.items() if value}


def _search(plugin: Plugin, search: SearchRule, params: dict[str, str]) -> Request:
    url = plugin.base_url + search.endpoint
    if search.method == "POST":
        return Request(url, "POST", params)
    return Request(f"{url}?{urlencode(params)}")


def _require_ok(page: FetchedPage) -> FetchedPage:
    if page.status != 200:
        raise SourceUnreachable(f"The source {display_url(page.url)!r} answers with an error ({page.status}).")
    return page


def fetched_record(plugin: Plugin, page: FetchedPage, reading: PageReading, accessed_at: str) -> Fetched:
    return Fetched(source_record(plugin, page, accessed_at, reading.read.title), reading.text, read=reading.read)


def source_record(plugin: Plugin, page: FetchedPage, accessed_at: str, title: str) -> Source:
    """The source record of a page: its id is of its address and its bytes, so a changed page is another one."""
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
