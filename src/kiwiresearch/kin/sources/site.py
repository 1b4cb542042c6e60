"""A site that a plugin describes: searched by its own search, read by the plugin's rules."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote, urlencode, urljoin, urlsplit

from kiwiresearch.errors import BadUsage, SourceUnreachable
from kiwiresearch.kin.identity import id_of
from kiwiresearch.kin.sources.addresses import shown
from kiwiresearch.kin.sources.compliance import Gate
from kiwiresearch.kin.sources.drift import Health
from kiwiresearch.kin.sources.gathering import gathered
from kiwiresearch.kin.sources.html import Reading, read_site_page
from kiwiresearch.kin.sources.kept import Page
from kiwiresearch.kin.sources.line import MAX_BYTES, Request
from kiwiresearch.kin.sources.plugin import Plugin, SearchRule
from kiwiresearch.kin.sources.select import SitePage
from kiwiresearch.kin.sources.source import Fetched, PersonQuery
from kiwiresearch.kin.tree import Source

MOST_PEOPLE = 5
"""How many results of a search are opened: each costs a request."""


class SiteSource:
    """A plugin of kind 'html', behind the gate."""

    def __init__(self, plugin: Plugin, gate: Gate, *, most_people: int = MOST_PEOPLE) -> None:
        self.plugin = plugin
        self._gate = gate
        self._health = Health(gate.memory)
        self._most_people = most_people

    @property
    def id(self) -> str:
        return self.plugin.plugin_id

    @property
    def tier(self) -> int:
        return self.plugin.tier

    def find(self, query: PersonQuery) -> Sequence[Fetched]:
        """Who the site's search offers; a page that has nothing of a person is left out."""
        self._gate.may_be_asked_about(self.plugin, query)
        self._health.check(self.plugin)
        found = gathered(self._results(query), self.fetch)
        return [fetched for fetched in found if fetched.read is not None and fetched.read.is_person]

    def fetch(self, locator: str) -> Fetched:
        self._gate.may_be_asked(self.plugin)
        self._health.check(self.plugin)
        url = urljoin(f"{self.plugin.base_url}/", locator)
        page = _good(self._gate.get(self.plugin, Request(url)))
        reading = read_site_page(page.content, self.plugin, page.url)
        if not page.was_kept:
            self._health.note(self.plugin, reading.missing)
        return fetched_of(self.plugin, page, reading, self._gate.accessed_at(page.fetched_at))

    def _results(self, query: PersonQuery) -> list[str]:
        search = self.plugin.search
        if search is None or search.result_selector is None:
            return []
        pagination = self.plugin.pagination
        found: dict[str, None] = {}
        for number in range(1, (pagination.max_pages if pagination else 1) + 1):
            params = params_of(search, query)
            if not params:
                return []
            if pagination and number > 1:
                params[pagination.param] = str(number)
            page = self._gate.get(self.plugin, _search(self.plugin, search, params))
            if page.status == 404:
                break
            fresh = [url for url in self._links(_good(page), search.result_selector) if url not in found]
            found |= dict.fromkeys(fresh)
            if not fresh or len(found) >= self._most_people:
                break
        return list(found)[: self._most_people]

    def _links(self, page: Page, selector: str) -> list[str]:
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
    page = Page(f"file:{quote(file.name, errors='replace')}", 200, content[:MAX_BYTES], "text/html", 0.0)
    return fetched_of(plugin, page, read_site_page(page.content, plugin, page.url), accessed_at)


def params_of(search: SearchRule, query: PersonQuery) -> dict[str, str]:
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


def _good(page: Page) -> Page:
    if page.status != 200:
        raise SourceUnreachable(f"The source {shown(page.url)!r} answers with an error ({page.status}).")
    return page


def fetched_of(plugin: Plugin, page: Page, reading: Reading, accessed_at: str) -> Fetched:
    return Fetched(source_of(plugin, page, accessed_at, reading.read.title), reading.text, read=reading.read)


def source_of(plugin: Plugin, page: Page, accessed_at: str, title: str) -> Source:
    """The source record of a page: its id is of its address and its bytes, so a changed page is another one."""
    return Source(
        id=id_of("source", page.url, page.sha),
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
