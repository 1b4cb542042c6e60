"""Verifies a case: its audit log, every quote against the stored text, and that text against the book."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from kiwiresearch.cases.exports import CaseFormat
from kiwiresearch.cases.json_records import VerificationRecord
from kiwiresearch.errors import BadUsage, KiwiError
from kiwiresearch.kin import Evidence, Source, Tree
from kiwiresearch.kin.gedcom import read_gedcom
from kiwiresearch.kin.sources import content_hash
from kiwiresearch.page import open_page
from kiwiresearch.text import count_of
from kiwiresearch.zim import SCHEME

if TYPE_CHECKING:
    from kiwiresearch.cases.case import Case


@dataclass(slots=True)
class CaseVerification:
    """What was verified, and what failed. Failures name ids, never people."""

    proved: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("audit rows", "quotes", "sources", "people"), 0)
    )
    failures: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What could not be checked, such as a page whose book is missing."""
    head: str = ""

    @property
    def holds(self) -> bool:
        return not self.failures

    def record(self) -> VerificationRecord:
        return VerificationRecord(self.holds, self.proved, tuple(self.failures), tuple(self.notes), self.head)


def verify_case(
    case: Case, head: str = "", reading: Callable[[], AbstractContextManager[object]] = nullcontext
) -> CaseVerification:
    """Verify a case and list all failures.

    `head` is the head of the audit log from an earlier export; books are only read within `reading()`.
    """
    result = CaseVerification(head=case.store.head)
    result.proved["audit rows"] = len(case.store.audit())
    result.failures += [f"log, row {problem.seq}: {problem.text}" for problem in case.store.verify_audit(head)]
    tree = case.store.tree(with_discarded=True)
    with reading():
        texts = _verify_sources(case, tree, result)
    for evidence in _all_evidence(tree):
        _verify_quote(evidence, tree, texts, result)
    result.failures += case.store.verify_rows()
    _verify_gedcom(case, result)
    return result


def _all_evidence(tree: Tree) -> Iterator[Evidence]:
    for fact in tree.facts:
        yield from fact.evidence
    for tie in tree.relationships:
        yield from tie.evidence


def _verify_sources(case: Case, tree: Tree, result: CaseVerification) -> dict[str, str]:
    """Compare the stored texts with the pages they were read from."""
    texts: dict[str, str] = {}
    uncompared = 0
    for source in tree.sources.values():
        try:
            texts[source.id] = case.store.source_text(source.id)
        except KiwiError as problem:
            result.failures.append(f"source {source.id}: {problem.message}")
            continue
        result.proved["sources"] += 1
        uncompared += not _verify_page(case, source, texts[source.id], result)
    if uncompared:
        result.notes.append(
            f"{count_of(uncompared, 'source')} could only be compared with the saved text, "
            "because the book, file or site is not available."
        )
    return texts


def _verify_page(case: Case, source: Source, text: str, result: CaseVerification) -> bool:
    """Compare a page of a book with its stored text; False if the book is missing."""
    if not source.url.startswith(SCHEME) or case.finder is None:
        return False
    book, _, path = source.url.removeprefix(SCHEME).partition("/")
    open_book = next((item for item in case.finder.books if item.book.id == book), None)
    if open_book is None:
        return False
    if content_hash(text) != source.content_hash:
        result.failures.append(f"source {source.id}: the saved text is not the text that was read.")
    try:
        page = open_page(open_book.archive, path)
    except KiwiError as problem:
        result.failures.append(f"source {source.id}: {problem.message}")
        return True
    if page.text != text:
        result.failures.append(f"source {source.id}: the page in the book differs from the saved text.")
    return True


def _verify_quote(evidence: Evidence, tree: Tree, texts: dict[str, str], result: CaseVerification) -> None:
    text = texts.get(evidence.source)
    if evidence.source not in tree.sources:
        result.failures.append(f"evidence {evidence.id}: its source is missing.")
    elif not text:
        return  # a source without text of its own is quoted from the file that names it
    elif evidence.start >= 0 and text[evidence.start : evidence.end] != evidence.snippet:
        result.failures.append(f"evidence {evidence.id}: its source does not contain the quote at that position.")
    elif evidence.start < 0 and evidence.snippet not in text:
        result.failures.append(f"evidence {evidence.id}: its source does not contain the quote.")
    else:
        result.proved["quotes"] += 1


def _verify_gedcom(case: Case, result: CaseVerification) -> None:
    """Verify that the exported GEDCOM can be read again with all its people."""
    tree = case.tree("owner")
    with tempfile.TemporaryDirectory() as folder:
        forms: tuple[CaseFormat, ...] = ("gedcom", "gedcom7")
        for form in forms:
            file = Path(folder) / f"{form}.ged"
            # Without translation of line ends, which are part of the format.
            file.write_text(case.export(form, "owner"), "utf-8", newline="")
            try:
                read = read_gedcom(file)
            except BadUsage as problem:
                result.failures.append(f"{form}: {problem.message}")
                continue
            if len(read.tree.persons) != len(tree.persons):
                result.failures.append(f"{form}: it has {len(read.tree.persons)} of {len(tree.persons)} people.")
            if _parents(read.tree) != _parents(tree):
                result.failures.append(
                    f"{form}: it has {_parents(read.tree)} of {_parents(tree)} parent relationships."
                )
            result.failures += [f"{form}: {problem}" for problem in read.problems]
    result.proved["people"] = len(tree.persons)


def _parents(tree: Tree) -> int:
    return sum(len(tree.parents(person)) for person in tree.persons)
