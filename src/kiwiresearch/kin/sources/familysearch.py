"""FamilySearch's shared tree, read only, with the user's own key and sign-in; off unless switched on."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from urllib.parse import urlencode

from kiwiresearch.errors import PageNotFound, SourceRefused, SourceUnreachable
from kiwiresearch.kin.sources.compliance import Gate
from kiwiresearch.kin.sources.gedcomx import read_gedcomx
from kiwiresearch.kin.sources.kept import Page
from kiwiresearch.kin.sources.line import Request
from kiwiresearch.kin.sources.oauth import SignIn
from kiwiresearch.kin.sources.plugin import Plugin
from kiwiresearch.kin.sources.site import params_of, source_of
from kiwiresearch.kin.sources.source import Fetched, PersonQuery

PERSON = re.compile(r"[A-Z0-9]{2,8}-[A-Z0-9]{2,8}")
ATOM = "application/x-gedcomx-atom+json"
RECORD = "application/x-fs-v1+json"
PERSON_PATH = "/platform/tree/persons/"
MOST_PEOPLE = 5
GONE = frozenset({404, 410})
SIGNED_OUT = 401


class FamilySearchSource:
    """People of the tree by search and by id, with those around them."""

    def __init__(self, plugin: Plugin, gate: Gate, sign_in: SignIn, *, api: str = "") -> None:
        self.plugin = plugin
        self._gate = gate
        self._sign_in = sign_in
        self._api = (api or plugin.base_url).rstrip("/")

    @property
    def id(self) -> str:
        return self.plugin.plugin_id

    @property
    def tier(self) -> int:
        return self.plugin.tier

    def find(self, query: PersonQuery) -> Sequence[Fetched]:
        self._gate.may_be_asked_about(self.plugin, query)
        search = self.plugin.search
        params = params_of(search, query) if search else {}
        if search is None or not params:
            return []
        page = self._asked(f"{self._api}{search.endpoint}?{urlencode(params)}", ATOM)
        if page.status not in (200, 204):
            raise SourceUnreachable(f"The source {self.id!r} answers with an error ({page.status}).")
        found = []
        for person in _entries(page):
            try:
                found.append(self.fetch(person))
            except SourceRefused as refused:
                if refused.step != "privacy":
                    raise
        return found

    def fetch(self, locator: str) -> Fetched:
        """A person by id, such as 'KWZ1-2AB'. Somebody the tree says is alive is not taken over."""
        self._gate.may_be_asked(self.plugin)
        if not PERSON.fullmatch(locator):
            raise PageNotFound(f"{locator!r} is no person of {self.id!r}.", remedy="Ids look like 'KWZ1-2AB'.")
        page = self._asked(f"{self._api}{PERSON_PATH}{locator}?relatives=true", RECORD)
        if page.status in GONE:
            raise PageNotFound(f"The source {self.id!r} has no person {locator!r}.")
        if page.status != 200:
            raise SourceUnreachable(f"The source {self.id!r} answers with an error ({page.status}).")
        record = read_gedcomx(page.content, locator, self.id, self.plugin.reliability.base_weight)
        if record.is_living is not False:
            raise SourceRefused(
                f"The source {self.id!r} does not say that {locator!r} is dead.",
                step="privacy",
                remedy="Nothing about people who may be alive is taken over.",
            )
        shown = Page(page.url, page.status, record.text.encode("utf-8", "replace"), page.kind, page.fetched_at)
        source = source_of(self.plugin, shown, self._gate.accessed_at(page.fetched_at), record.read.title)
        return Fetched(source, record.text, read=record.read)

    def _asked(self, url: str, accept: str) -> Page:
        page = self._gate.get(self.plugin, Request(url, accept=accept, secret_headers=self._sign_in.header()))
        if page.status == SIGNED_OUT:
            self._sign_in.end()
            raise SourceRefused(
                f"The sign-in to {self.id!r} has ended.",
                step="credentials",
                remedy=f"Sign in again: kiwiresearch kin run --sign-in {self.id}",
            )
        return page


def _entries(page: Page) -> list[str]:
    """The ids of the people a search found, in its order."""
    try:
        entries = json.loads(page.content)["entries"]
        ids = [str(entry["id"]) for entry in entries if isinstance(entry, dict) and "id" in entry]
    except (ValueError, KeyError, TypeError, RecursionError):
        return []
    return [one for one in ids if PERSON.fullmatch(one)][:MOST_PEOPLE]
