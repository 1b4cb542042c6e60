"""Labels and short phrases of reports: names, life dates, fields, statuses and kinds of evidence."""

from __future__ import annotations

from kiwiresearch.kin.standing import StandingStatus
from kiwiresearch.kin.timeline import birth_of, death_of
from kiwiresearch.kin.tree import Fact, FieldName, LivingStatus, PersonId, Status, Tree
from kiwiresearch.messages import Message
from kiwiresearch.text import one_line
from kiwiresearch.text.dates import DateRange

UNNAMED = "Name unknown"

FIELD_LABELS: dict[FieldName, str] = {
    "name": "Name",
    "sex": "Sex",
    "birth_date": "Born",
    "birth_place": "Place of birth",
    "baptism_date": "Baptised",
    "baptism_place": "Place of baptism",
    "death_date": "Died",
    "death_place": "Place of death",
    "burial_date": "Buried",
    "burial_place": "Place of burial",
    "marriage_date": "Married",
    "marriage_place": "Place of marriage",
    "occupation": "Occupation",
    "title": "Title",
    "father": "Father",
    "mother": "Mother",
    "parent": "Parent",
    "spouse": "Spouse",
    "partner": "Partner",
    "child": "Child",
    "sibling": "Sibling",
    "grandparent": "Grandparent",
}
FIELD_NOUNS: dict[FieldName, str] = {
    "birth_date": "date of birth",
    "baptism_date": "date of baptism",
    "death_date": "date of death",
    "burial_date": "date of burial",
    "marriage_date": "date of marriage",
}


def field_noun(field: FieldName) -> str:
    """The name of a field within a sentence."""
    return FIELD_NOUNS.get(field, FIELD_LABELS[field].lower())


STATUS_LABELS: dict[Status, str] = {
    "verified": "verified",
    "unverified": "not verified",
    "conflicting": "sources disagree",
    "disputed": "competing",
    "rejected": "rejected",
    "hypothesis": "hypothesis, not a fact",
    "superseded": "replaced by newer evidence",
}
STANDING_LABELS: dict[StandingStatus, str] = {
    "accepted": "accepted",
    "competing": "competing",
    "rejected": "rejected",
    "entered": "entered by hand",
}
PARENT_LABELS = {"male": "Father", "female": "Mother", "": "Parent"}
SPOUSE_LABELS = {"male": "Husband", "female": "Wife", "": "Spouse"}
CHILD_LABELS = {"male": "Son", "female": "Daughter", "": "Child"}
SIBLING_LABELS = {"male": "Brother", "female": "Sister", "": "Sibling"}

METHOD_LABELS = {
    "infobox": "read from the infobox",
    "lead": "read from the introduction",
    "prose": "read from the article text",
    "plugin": "read from another source",
    "wikidata": "read from Wikidata",
    "gedcom": "read from a GEDCOM file",
    "model": "suggested by a model and found in the source",
    "user": "entered by hand",
}


def display_name(tree: Tree, person: PersonId) -> str:
    """The name, or a placeholder if there is none."""
    found = tree.persons.get(person)
    return (one_line(found.name) if found else "") or UNNAMED


def join_names(parts: list[str] | tuple[str, ...]) -> str:
    """'A', 'A and B', 'A, B and C'."""
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def year_phrase(when: DateRange) -> str:
    """A date by its year: '1809', 'c. 1250', 'bef. 1900', '1200/1210', '44 BC'."""
    first, last = when.first_year, when.last_year
    shown = _year(last if when.qualifier == "before" else first)
    if first != last and when.qualifier not in ("before", "after"):
        shown = f"{abs(first)}/{_year(last)}" if first * last > 0 else f"{_year(first)}/{_year(last)}"
    return {"about": "c. ", "before": "bef. ", "after": "aft. ", "": ""}[when.qualifier] + shown


def _year(year: int) -> str:
    return f"{-year} BC" if year < 0 else f"AD {year}" if year < 100 else str(year)


def lifespan(tree: Tree, person: PersonId) -> Message:
    """'1809–1882', 'b. 1809', 'd. c. 1250'; empty if no year is known."""
    birth, death = birth_of(tree, person), death_of(tree, person)
    born, died = (year_phrase(when) if when else "" for when in (birth, death))
    if born and died:
        # '63–14 BC': the era once.
        if born.endswith(" BC") and died.endswith(" BC"):
            born = born.removesuffix(" BC")
        dash = "–" if born.isdigit() and (died.isdigit() or died.endswith(" BC")) else " – "
        return Message(f"{born}{dash}{died}")  # numerals read the same in every language
    found = tree.persons.get(person)
    if born and found and found.is_dead:
        return Message(f"b. {born}, deceased", "life.born_dead", year=born)
    if born:
        return Message(f"b. {born}", "life.born", year=born)
    return Message(f"d. {died}", "life.died", year=died) if died else Message("")


def value_phrase(fact: Fact) -> str:
    """The value for a reader; a date without a range stays as the source wrote it."""
    return fact.when.words() if fact.when and fact.field.endswith("_date") else one_line(fact.value)


LIVING_NOTES: dict[LivingStatus, str] = {
    "living": "May be living, so little or nothing is shown.",
    "unknown": "Not known to have died, so treated as living.",
    "deceased": "",
}
