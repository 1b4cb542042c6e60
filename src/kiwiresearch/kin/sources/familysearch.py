"""FamilySearch's shared tree, read as GEDCOM X with the user's own key; off by default."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from kiwiresearch.codec import JsonDict
from kiwiresearch.errors import PageNotFound, SourceRefused, SourceUnreachable
from kiwiresearch.ids import BookId
from kiwiresearch.kin.source_facts import ExtractedFact, PersonReading, Snippet
from kiwiresearch.kin.sources.gate import Gate
from kiwiresearch.kin.sources.plugin import Plugin
from kiwiresearch.kin.sources.request_limits import FetchedPage
from kiwiresearch.kin.sources.sign_in import SignIn
from kiwiresearch.kin.sources.site import PluginSource, search_params, source_record
from kiwiresearch.kin.sources.source import MAX_PEOPLE, FetchedRecord, PersonQuery, quotable_line
from kiwiresearch.kin.sources.transport import Request
from kiwiresearch.kin.tree import DATE_FIELDS, PARENT_OF_SEX, FieldName, Sex
from kiwiresearch.text.dates import DateRange, dates_in
from kiwiresearch.zim import EntryRef

EVENTS: dict[str, tuple[FieldName | None, FieldName | None]] = {
    "Birth": ("birth_date", "birth_place"),
    "Christening": ("baptism_date", "baptism_place"),
    "Baptism": ("baptism_date", "baptism_place"),
    "Death": ("death_date", "death_place"),
    "Burial": ("burial_date", "burial_place"),
    "Marriage": ("marriage_date", "marriage_place"),
    "Occupation": (None, None),
}
SEXES: dict[str, Sex] = {"Male": "male", "Female": "female"}
MAX_ROWS = 500


@dataclass(frozen=True, slots=True)
class GedcomXRecord:
    """A record as text, and what it says about one of its people."""

    text: str
    person: PersonReading
    is_living: bool | None
    """Whether the record marks the person as living; None if it has no mark."""


def read_gedcomx(content: bytes, person: str, plugin_id: str, weight: float) -> GedcomXRecord:
    """What a document says about one of its people; raises SourceUnreachable if it is not GEDCOM X."""
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as problem:
        raise SourceUnreachable(f"The record of {person!r} is not valid GEDCOM X.") from problem
    people = {str(row.get("id")): row for row in _rows(document, "persons")}
    subject = people.get(person)
    if subject is None:
        raise SourceUnreachable(f"The record does not mention {person!r}.")
    name = name_of(subject)
    sex = sex_of(subject)
    lines: dict[str, int] = {}
    facts: list[ExtractedFact] = []
    at = 0
    for field, value, line, when, target in _statements(document, people, subject, name, sex):
        if line not in lines:
            lines[line] = at
            at += len(line) + 1
        # A quote contains its value; only a date may be derived from it.
        if value and (value in line or when is not None):
            snippet = Snippet(lines[line], lines[line] + len(line), line)
            because = "a record in GEDCOM X"
            facts.append(ExtractedFact(field, value, snippet, "plugin", weight, when, target=target, rationale=because))
    living = subject.get("living")
    reading = PersonReading(
        ref=EntryRef(BookId(plugin_id), person),
        title=name or person,
        is_person=bool(name),
        why="a person of a GEDCOM X record" if name else "the person has no name",
        name=name,
        sex=sex,
        facts=tuple(facts),
    )
    return GedcomXRecord("\n".join(lines), reading, living if isinstance(living, bool) else None)


StatementLine = tuple[FieldName, str, str, DateRange | None, str]
"""Field, value, the line that says it, its date, and the id of a relative."""


def _statements(
    document: Any, people: Mapping[str, dict[str, Any]], subject: dict[str, Any], name: str, sex: Sex
) -> Iterator[StatementLine]:
    yield "name", name, quotable_line("", "name", name, {}), None, ""
    if sex:
        yield "sex", sex, quotable_line(name, "sex", sex, {}), None, ""
    for fact in _rows(subject, "facts"):
        yield from _event(fact, name)
    me = str(subject.get("id"))
    for tie in _rows(document, "relationships"):
        first, second = _id_in(tie.get("person1")), _id_in(tie.get("person2"))
        other = second if first == me else first if second == me else ""
        kind = str(tie.get("type", "")).rpartition("/")[2]
        if other not in people or kind not in ("ParentChild", "Couple"):
            continue
        if people[other].get("living") is not False:
            continue  # people who may be alive are left out
        field: FieldName = (
            "spouse" if kind == "Couple" else "child" if first == me else PARENT_OF_SEX[sex_of(people[other])]
        )
        theirs = name_of(people[other])
        row = quotable_line(name, field, theirs, {"id": other})
        yield field, theirs, row, None, other
        if kind == "Couple":
            for fact in _rows(tie, "facts"):
                yield from _event(fact, name)


def _event(fact: dict[str, Any], name: str) -> Iterator[StatementLine]:
    kind = str(fact.get("type", "")).rpartition("/")[2]
    date, place = _original(fact.get("date")), _original(fact.get("place"))
    if kind not in EVENTS:
        return
    value = " ".join(str(fact.get("value") or "").split())[:300]
    line = quotable_line(name, kind.lower(), ", ".join(part for part in (date, place, value) if part), {})
    on, where = EVENTS[kind]
    found = dates_in(date)
    if on in DATE_FIELDS and found:
        yield on, found[0].when.edtf(), line, found[0].when, ""
    if where is not None and place:
        yield where, place, line, None, ""
    if kind == "Occupation" and value:
        yield "occupation", value, line, None, ""


def name_of(person: Mapping[str, Any]) -> str:
    """The preferred name in full, else the first."""
    names = sorted(_rows(person, "names"), key=lambda row: row.get("preferred") is not True)
    for row in names:
        for form in _rows(row, "nameForms"):
            full = " ".join(str(form.get("fullText") or "").split())
            if full:
                return full[:300]
    return ""


def sex_of(person: Mapping[str, Any]) -> Sex:
    gender = person.get("gender")
    kind = str(gender.get("type", "")).rpartition("/")[2] if isinstance(gender, dict) else ""
    return SEXES.get(kind, "")


def _original(value: Any) -> str:
    return " ".join(str(value.get("original") or "").split())[:300] if isinstance(value, dict) else ""


def _id_in(value: Any) -> str:
    if not isinstance(value, dict):
        return ""
    return str(value.get("resourceId") or str(value.get("resource") or "").rpartition("#")[2].rpartition("/")[2])


def _rows(value: object, key: str) -> list[JsonDict]:
    found = value.get(key) if isinstance(value, dict) else None
    return [row for row in found[:MAX_ROWS] if isinstance(row, dict)] if isinstance(found, list) else []


# 'KWZ1-2AB', but not a path such as 'persons/KWZ1-2AB', since it becomes part of an address.
PERSON = re.compile(r"[A-Z0-9]{2,8}-[A-Z0-9]{2,8}")
ATOM = "application/x-gedcomx-atom+json"
RECORD = "application/x-fs-v1+json"
PERSON_PATH = "/platform/tree/persons/"
GONE = frozenset({404, 410})
SIGNED_OUT = 401


class FamilySearchSource(PluginSource):
    """People of the tree by search and by id, with their relatives."""

    def __init__(self, plugin: Plugin, gate: Gate, sign_in: SignIn, *, api: str = "") -> None:
        super().__init__(plugin, gate)
        self._sign_in = sign_in
        self._api = (api or plugin.base_url).rstrip("/")

    def search(self, query: PersonQuery) -> Sequence[FetchedRecord]:
        self._gate.check_query_allowed(self.plugin, query)
        search = self.plugin.search
        params = search_params(search, query) if search else {}
        if search is None or not params:
            return []
        page = self._get(f"{self._api}{search.endpoint}?{urlencode(params)}", ATOM)
        # 204 is an answer without results.
        if page.status not in (200, 204):
            raise SourceUnreachable(f"The source {self.id!r} returned an error ({page.status}).")
        found = []
        for person in _entries(page):
            try:
                found.append(self.fetch(person))
            except SourceRefused as refused:
                # One person who may be living does not end the search; a refusal of the source does.
                if refused.rule != "privacy":
                    raise
        return found

    def fetch(self, locator: str) -> FetchedRecord:
        """A person by id, such as 'KWZ1-2AB'; refused unless the tree says that they are dead."""
        self._gate.check_allowed(self.plugin)
        if not PERSON.fullmatch(locator):
            raise PageNotFound(
                f"{locator!r} is not a person ID in the source {self.id!r}.", remedy="Use an ID such as 'KWZ1-2AB'."
            )
        page = self._get(f"{self._api}{PERSON_PATH}{locator}?relatives=true", RECORD)
        if page.status in GONE:
            raise PageNotFound(f"The source {self.id!r} has no person with the ID {locator!r}.")
        if page.status != 200:
            raise SourceUnreachable(f"The source {self.id!r} returned an error ({page.status}).")
        record = read_gedcomx(page.content, locator, self.id, self.plugin.reliability.base_weight)
        if record.is_living is not False:
            raise SourceRefused(
                f"The source {self.id!r} does not say that {locator!r} has died.",
                rule="privacy",
                remedy="People who may be living are never imported.",
            )
        shown = FetchedPage(page.url, page.status, record.text.encode("utf-8", "replace"), page.kind, page.fetched_at)
        source = source_record(self.plugin, shown, self._gate.format_time(page.fetched_at), record.person.title)
        return FetchedRecord(source, record.text, reading=record.person)

    def _get(self, url: str, accept: str) -> FetchedPage:
        page = self._gate.get(self.plugin, Request(url, accept=accept, secret_headers=self._sign_in.header()))
        if page.status == SIGNED_OUT:
            self._sign_in.end()
            raise SourceRefused(
                f"Your sign-in to {self.id!r} has expired.",
                rule="credentials",
                remedy=f"Sign in again: kiwiresearch kin run --sign-in {self.id}",
            )
        return page


def _entries(page: FetchedPage) -> list[str]:
    """The ids of the people a search found, in its order."""
    try:
        entries = json.loads(page.content)["entries"]
        ids = [str(entry["id"]) for entry in entries if isinstance(entry, dict) and "id" in entry]
    except (ValueError, KeyError, TypeError, RecursionError):
        return []
    return [identifier for identifier in ids if PERSON.fullmatch(identifier)][:MAX_PEOPLE]
