"""Reads a page by the extraction rules of its plugin; every value is a span of the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urljoin

from kiwiresearch.ids import BookId
from kiwiresearch.kin.source_facts import ExtractedFact, PersonReading, Snippet
from kiwiresearch.kin.sources.plugin import FieldRule, Plugin, span_of
from kiwiresearch.kin.sources.site_page import SelectedElement, SitePage
from kiwiresearch.kin.tree import FieldName
from kiwiresearch.text.dates import DateMention, dates_in
from kiwiresearch.zim import EntryRef

MAX_VALUE = 300
"""No name, place or date is longer; a selector that finds more has found something else."""
MAX_VALUES = 60


@dataclass(frozen=True, slots=True)
class PageReading:
    """A page as its plugin reads it."""

    text: str
    person: PersonReading
    missing: tuple[FieldName, ...]
    """Required fields that were not found."""


def read_site_page(content: bytes, plugin: Plugin, url: str) -> PageReading:
    """Read a page by the plugin's rules; never raises."""
    rules = plugin.extraction_rules.person
    page = SitePage(content, apart=[rule.selector for rule in rules.values()])
    text = page.text
    facts: list[ExtractedFact] = []
    for field, rule in rules.items():
        for found in _values(page, rule):
            if found.attribute:
                text, start = _append_attribute(text, rule.attribute or "", found.attribute)
                span = (start, start + len(found.attribute))
            else:
                span = (found.start, found.end)
            fact = _fact(field, rule, text, span, plugin, urljoin(url, found.link) if found.link else "")
            if fact is not None:
                facts.append(fact)
            if not rule.multiple or len(facts) >= MAX_VALUES:
                break
    read = {fact.field for fact in facts}
    missing = tuple(field for field in plugin.required() if field not in read)
    name = next((fact.value for fact in facts if fact.field == "name"), "")
    why = f"the rules of {plugin.plugin_id!r}" if name else f"no {' or '.join(missing) or 'name'} found"
    person = PersonReading(
        ref=EntryRef(BookId(plugin.plugin_id), url),
        title=name,
        is_person=bool(name) and not missing,
        why=why,
        name=name,
        facts=tuple(facts) if name and not missing else (),
    )
    return PageReading(text, person, missing)


@dataclass(frozen=True, slots=True)
class _Found:
    start: int
    end: int
    link: str = ""
    attribute: str = ""


def _values(page: SitePage, rule: FieldRule) -> Iterator[_Found]:
    for chosen in page.choose(rule.selector):
        found = _attribute(chosen, rule) if rule.attribute else _words(page, chosen, rule)
        if found is None:
            continue
        words = found.attribute or page.text[found.start : found.end]
        if len(words) <= MAX_VALUE and _is_value(words, rule):
            yield found


def _words(page: SitePage, chosen: SelectedElement, rule: FieldRule) -> _Found | None:
    """The words of an element, if they are one span after exclusions."""
    runs = page.runs(chosen, own=rule.own_text, exclude=rule.exclude)
    # A value must be one span of the text, or it could not be quoted.
    if len(runs) != 1:
        return None
    start, end = runs[0]
    if rule.regex:
        inside = span_of(rule.regex, page.text[start:end])
        if inside is None:
            return None
        start, end = start + inside[0], start + inside[1]
    return _Found(start, end, chosen.link())


def _attribute(chosen: SelectedElement, rule: FieldRule) -> _Found | None:
    value = " ".join(chosen.attribute(rule.attribute or "").split())
    if rule.regex:
        inside = span_of(rule.regex, value)
        value = value[inside[0] : inside[1]] if inside else ""
    return _Found(0, 0, attribute=value) if value else None


def _is_value(words: str, rule: FieldRule) -> bool:
    said = words.strip(" .-–—?").casefold()
    return bool(said) and said not in {null.strip(" .-–—?").casefold() for null in rule.null_values}


def _append_attribute(text: str, name: str, value: str) -> tuple[str, int]:
    """Append an attribute to the text on a line of its own, so that it can be quoted."""
    before = f"{text}\n{name}="
    return before + value, len(before)


def _fact(
    field: FieldName, rule: FieldRule, text: str, span: tuple[int, int], plugin: Plugin, target: str
) -> ExtractedFact | None:
    words = text[span[0] : span[1]]
    dated = _date(words, rule) if rule.type == "date" else None
    if rule.type == "date" and dated is None:
        return None
    return ExtractedFact(
        field=field,
        value=dated.when.edtf() if dated else words,
        snippet=Snippet(span[0], span[1], words),
        method="plugin",
        confidence=plugin.reliability.base_weight,
        when=dated.when if dated else None,
        target=target if rule.type == "relation" else "",
        locator=f"{rule.selector}[{rule.attribute}]" if rule.attribute else rule.selector,
        rationale=f"the rule for {field!r} of the plugin {plugin.plugin_id!r}",
    )


def _date(words: str, rule: FieldRule) -> DateMention | None:
    """The first date in a value; what follows it is an age, or another date."""
    found = dates_in(words)
    if not found:
        return None
    if rule.format == "exact" and found[0].when.precision != "day":
        return None
    return found[0]


def values_of(reading: PersonReading) -> Mapping[FieldName, list[str]]:
    """The values of a page by field, as a fixture expects them."""
    found: dict[FieldName, list[str]] = {}
    for fact in reading.facts:
        found.setdefault(fact.field, []).append(fact.value)
    return found
