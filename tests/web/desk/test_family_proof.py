"""Proof summaries: question, conclusion, evidence, conflicts and searches, in three languages, without the living."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import pytest
from tests.cli.kin_book import LIVING, SECRETS
from tests.kin.privacy_scan import find_leaks
from tests.web.desk.test_family_pages import browsing, elements, people
from tests.web.family_server import SEED, Families

from kiwiresearch.cases.case import Case
from kiwiresearch.cases.person_proof import proof_file, proof_summary
from kiwiresearch.cases.registry import CaseRegistry
from kiwiresearch.messages.catalogue import catalogue_in


@pytest.fixture(scope="module")
def anybody(there: Families) -> Iterator[httpx2.Client]:
    with there.served() as client:
        yield browsing(client)


def test_a_person_page_leads_to_the_proof_summary(there: Families, anybody: httpx2.Client) -> None:
    """Each question has its conclusion with a status, and below it the quotes with their citations."""
    place = people(anybody, f"/family/{there.done}")[SEED]
    page = anybody.get(place)
    assert {f"{place}/proof", f"{place}/proof?form=markdown"} <= elements(page).links
    written = anybody.get(f"{place}/proof?form=markdown")
    assert written.headers["content-type"] == "text/markdown; charset=utf-8"
    asked, _, parents = written.text.partition("## Who were the parents?")
    assert "# Proof summary: Edmund Wendover" in asked
    assert "- **Born:** 12 May 1850 (accepted, medium confidence)" in asked
    parents = parents.partition("\n## ")[0]
    assert "- **Father:** Josiah Wendover (accepted" in parents
    assert (
        "He was the son of Josiah Wendover” — Edmund Wendover, Wendover book, Edmund Wendover (authored source"
        in parents
    )
    assert "## What was searched" in written.text


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", ("Proof summary: ", "Who were the parents?", "Conclusion", "Born:", "12 May 1850")),
        ("fr", ("Résumé de preuve", "Qui étaient ses parents", "Conclusion", "Naissance", "12 mai 1850")),
        ("es", ("Resumen de prueba: ", "¿Quiénes fueron sus progenitores?", "Conclusión", "12 de mayo de 1850")),
    ],
)
def test_the_page_is_in_the_language_of_the_reader(
    there: Families, anybody: httpx2.Client, language: str, words: tuple[str, ...]
) -> None:
    """Questions, statuses, classes of evidence and dates are translated; quotes stay as the source has them."""
    place = people(anybody, f"/family/{there.done}")[SEED]
    page = anybody.get(f"{place}/proof", headers={"Accept-Language": language})
    shown = page.text.replace("\u00a0", " ").replace("\u202f", " ")
    assert [word for word in words if word not in shown] == []
    assert "12 May 1850 – 3 November 1920" in shown
    assert ("authored source" in shown) is (language == "en")
    assert elements(page).unclosed == []


def test_a_living_person_has_no_proof_for_others(there: Families, anybody: httpx2.Client) -> None:
    """For everybody but the owner the summaries of all people together say nothing of those who may be living."""
    with Case.open(CaseRegistry(there.folder).folder(there.done)) as case:
        every = [
            proof_file(proof_summary(case, person, "public"), form, catalogue_in("en"))
            for person in case.tree("public").persons
            for form in ("html", "markdown")
        ]
        assert find_leaks("\n".join(every), case.store.tree(), "public", case.year) == ()
        whole = [
            proof_file(proof_summary(case, person, "owner"), "markdown", catalogue_in("en"))
            for person in case.tree("owner").persons
        ]
    assert not [secret for secret in SECRETS if secret in "\n".join(every)]
    assert any(LIVING[0] in text for text in whole)
    assert any("may be living" in text for text in every)


def test_what_found_nothing_and_what_was_rejected_is_said(there: Families) -> None:
    """A search without result is listed for its person as no proof, and a question without an answer says so."""
    with Case.open(CaseRegistry(there.folder).folder(there.done)) as case:
        tree = case.tree("owner")
        texts = {
            tree.persons[person].name: proof_file(proof_summary(case, person, "owner"), "markdown", catalogue_in("en"))
            for person in tree.persons
        }
        vain = [search.query for search in case.searches("owner") if search.negative]
    assert "No conclusion: the sources that were read do not say." in texts["Ann Pell"]
    for name, text in texts.items():
        for query in vain:
            assert (query in text.partition("found nothing")[2]) is (f" {name} " in f" {query} "), (name, query)
