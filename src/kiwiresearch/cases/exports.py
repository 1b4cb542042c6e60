"""The file formats in which a case is exported."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal, get_args

from kiwiresearch.errors import BadUsage
from kiwiresearch.text import inert_cell
from kiwiresearch.version import __version__

if TYPE_CHECKING:
    from kiwiresearch.kin import PersonId
    from kiwiresearch.kin.gedcom import ShownRecords
    from kiwiresearch.kin.privacy import ShownTree
    from kiwiresearch.kin.report import ReportInput
    from kiwiresearch.llm import Model

CaseFormat = Literal["gedcom", "gedcom7", "gdz", "gedcomx", "json", "markdown", "html", "csv"]
FILE_NAMES: Mapping[CaseFormat, str] = {
    "gedcom": "family.ged",
    "gedcom7": "family.7.ged",
    "gdz": "family.gdz",
    "gedcomx": "family.gedx.json",
    "json": "family.json",
    "markdown": "family.md",
    "html": "family.html",
    "csv": "family.csv",
}
GEDCOM_FORMS: tuple[CaseFormat, ...] = ("gedcom", "gedcom7", "gdz")
WITHOUT_MODEL = "The language model could not be used, so the summary was written by rules."
"""The note for readers; it does not say why the model failed or where it runs."""
FOR_READERS: tuple[CaseFormat, ...] = ("markdown", "html")
COLUMNS = (
    "id",
    "name",
    "other_names",
    "sex",
    "birth_date",
    "birth_place",
    "death_date",
    "death_place",
    "living",
    "parents",
    "spouses",
    "children",
    "sources",
)


def checked_format(name: str) -> CaseFormat:
    found = next((file_format for file_format in get_args(CaseFormat) if file_format == name), None)
    if found is None:
        raise BadUsage(
            f"{name!r} is not an export format.", remedy=f"Choose one of: {', '.join(get_args(CaseFormat))}."
        )
    return found  # type: ignore[no-any-return]


def export_text(
    file_format: CaseFormat,
    tree: ShownTree,
    make_input: Callable[[], ReportInput],
    model: Model | None = None,
    *,
    kept: Callable[[], ShownRecords],
) -> str:
    """The text of a file; of a GEDCOM package, that of its tree.

    The report is built, and its summary written by a model, only for formats that contain it.
    """
    if file_format == "json":
        from kiwiresearch.kin.gedcom import tree_json

        return tree_json(tree)
    if file_format == "gedcomx":
        from kiwiresearch.kin.gedcom import tree_gedcomx

        return tree_gedcomx(tree)
    if file_format in GEDCOM_FORMS:
        from kiwiresearch.kin.gedcom import tree_gedcom

        # No date: the same case must give the same bytes.
        head = {"version": __version__, "file": FILE_NAMES[file_format]}
        return tree_gedcom(tree, "5.5.1" if file_format == "gedcom" else "7.0", head=head, kept=kept())
    if file_format == "csv":
        return people_table(tree)
    from kiwiresearch.kin.report import family_document, family_markdown, family_page

    case_report = make_input()
    if model is None:
        document = family_document(case_report)
    else:
        from kiwiresearch.kin.report import write_summary

        summary = write_summary(case_report, model)
        document = family_document(case_report, summary.sentences, note=WITHOUT_MODEL if summary.note else "")
    return family_page(document) if file_format == "html" else family_markdown(document)


def people_table(tree: ShownTree) -> str:
    """One line per person, for a spreadsheet."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\r\n")
    rows.writerow(COLUMNS)
    for person in sorted(tree.persons):
        rows.writerow(inert_cell(" ".join(value.split())) for value in _row(tree, person))
    return out.getvalue()


def _row(tree: ShownTree, person_id: PersonId) -> tuple[str, ...]:
    person = tree.persons[person_id]
    sources = {evidence.source for fact in tree.facts_of(person_id) for evidence in fact.evidence}
    urls = sorted(tree.sources[source].url for source in sources if source in tree.sources)
    return (
        person_id,
        person.name,
        "; ".join(person.names),
        person.sex,
        person.birth.edtf() if person.birth else "",
        person.birth_place,
        person.death.edtf() if person.death else "",
        person.death_place,
        person.living,
        " ".join(tree.parents(person_id)),
        " ".join(tree.spouses(person_id)),
        " ".join(tree.children(person_id)),
        " ".join(urls),
    )
