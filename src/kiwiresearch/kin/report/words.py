"""How people, dates, facts and evidence are called in a report."""

from __future__ import annotations

from kiwiresearch.kin.fields import FieldName, Living, Status
from kiwiresearch.kin.timeline import birth_of, death_of
from kiwiresearch.kin.tree import Evidence, Fact, PersonId, Source, Tree
from kiwiresearch.text.plain import printable
from kiwiresearch.text.when import DateRange

UNNAMED = "Name not known"

FIELDS: dict[FieldName, str] = {
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
}
NOUNS: dict[FieldName, str] = {
    "birth_date": "date of birth",
    "baptism_date": "date of baptism",
    "death_date": "date of death",
    "burial_date": "date of burial",
    "marriage_date": "date of marriage",
}


def noun(field: FieldName) -> str:
    """What a field is called within a sentence."""
    return NOUNS.get(field, FIELDS[field].lower())


MANY_VALUED: frozenset[FieldName] = frozenset(
    {"marriage_date", "marriage_place", "occupation", "title", "parent", "spouse", "partner", "child", "sibling"}
)
"""Fields of which several values are true at once: another one is no rival."""

STATUSES: dict[Status, str] = {
    "verified": "verified",
    "unverified": "not verified",
    "conflicting": "sources disagree",
    "disputed": "doubtful",
    "rejected": "rejected",
    "hypothesis": "hypothesis, no fact",
    "superseded": "replaced by a later reading",
}
PARENT = {"male": "Father", "female": "Mother", "": "Parent"}
SPOUSE = {"male": "Husband", "female": "Wife", "": "Spouse"}
CHILD = {"male": "Son", "female": "Daughter", "": "Child"}
SIBLING = {"male": "Brother", "female": "Sister", "": "Sibling"}

METHODS = {
    "infobox": "read from the box of facts",
    "lead": "read from the opening sentences",
    "prose": "read from running text",
    "plugin": "read by a source plugin",
    "wikidata": "read from Wikidata",
    "gedcom": "read from a GEDCOM file",
    "model": "proposed by a model and found in the source",
    "user": "given by the user",
}


def one_line(text: str) -> str:
    """Words of a source in one line, without what controls anything."""
    return " ".join(printable(text).split())


def name_of(tree: Tree, person: PersonId) -> str:
    """The name, or that there is none."""
    found = tree.persons.get(person)
    return (one_line(found.name) if found else "") or UNNAMED


def joined(parts: list[str] | tuple[str, ...], word: str = "and") -> str:
    """'A', 'A and B', 'A, B and C'."""
    return f"{', '.join(parts[:-1])} {word} {parts[-1]}" if len(parts) > 1 else "".join(parts)


def year_words(when: DateRange) -> str:
    """A date by its year: '1809', 'c. 1250', 'bef. 1900', '1200/1210', '44 BC'."""
    first, last = when.first_year, when.last_year
    shown = _year(last if when.qualifier == "before" else first)
    if first != last and when.qualifier not in ("before", "after"):
        shown = f"{abs(first)}/{_year(last)}" if first * last > 0 else f"{_year(first)}/{_year(last)}"
    return {"about": "c. ", "before": "bef. ", "after": "aft. ", "": ""}[when.qualifier] + shown


def _year(year: int) -> str:
    return f"{-year} BC" if year < 0 else f"AD {year}" if year < 100 else str(year)


def lifespan(tree: Tree, person: PersonId) -> str:
    """'1809–1882', 'b. 1809', 'd. c. 1250'; nothing where no year is known."""
    birth, death = birth_of(tree, person), death_of(tree, person)
    born, died = (year_words(when) if when else "" for when in (birth, death))
    if born and died:
        if born.endswith(" BC") and died.endswith(" BC"):
            born = born.removesuffix(" BC")
        dash = "–" if born.isdigit() and (died.isdigit() or died.endswith(" BC")) else " – "
        return f"{born}{dash}{died}"
    found = tree.persons.get(person)
    if born:
        return f"b. {born}, dead" if found and found.is_dead else f"b. {born}"
    return f"d. {died}" if died else ""


def value_words(fact: Fact) -> str:
    """The value as a reader writes it; a date keeps what the source said where it cannot be reckoned with."""
    return fact.when.words() if fact.when and fact.field.endswith("_date") else one_line(fact.value)


def evidence_words(evidence: Evidence, source: Source | None) -> str:
    """The class of evidence: what kind of source, what kind of information, how it bears on the fact."""
    parts = [f"{source.form} source"] if source else []
    parts += [f"{evidence.information} information", f"{evidence.directness} evidence"]
    return ", ".join(parts)


def class_words(evidence: Evidence, source: Source | None) -> str:
    """The class of evidence, and by whom its source was written, for where that is not told elsewhere."""
    by = ["official"] if source and source.official else []
    by += ["written by contributors"] if source and source.user_contributed else []
    return ", ".join([evidence_words(evidence, source), *by])


LIVING: dict[Living, str] = {
    "living": "Living, so little or nothing is shown.",
    "unknown": "Perhaps living, and treated so.",
    "deceased": "",
}
