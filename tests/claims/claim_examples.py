"""What the rules claim of a page: a page from a few lines of HTML, and its claims in short."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.page.pages import a_page

from kiwiresearch.claims.by_model import ClaimReader, Extraction
from kiwiresearch.claims.by_rule import claims_of
from kiwiresearch.claims.claim import Claim
from kiwiresearch.claims.firewall import unsupported_facts
from kiwiresearch.llm.model import Model
from kiwiresearch.page.doc import PageDoc

CITY = "<p>Norbury is a city in the north of Avonia.</p>"
BUILDER = (
    "<p>Peter Lang (1802–1871) was a German builder of bridges. He was born in the town of Kiel in 1802. "
    "His first bridge was opened in 1825.</p>"
)
PAINTER = (
    "<p>Anna Holm (1810–1890) was a Danish painter of ships. She was born in the town of Odense in 1810. "
    "Her first picture was sold in 1831.</p>"
)


def below(html: str, *, title: str = "Norbury", lead: str = CITY) -> PageDoc:
    """A page with an introduction, and this HTML in a section below it."""
    return a_page(f"{lead}<h2 id='Past'>History</h2>{html}", title=title, path=title.replace(" ", "_"))


def claims_below(html: str, *, title: str = "Norbury", lead: str = CITY) -> tuple[Claim, ...]:
    """The claims of the section, without those of the introduction."""
    claims = claims_of(below(html, title=title, lead=lead), "Book of towns")
    return tuple(claim for claim in claims if claim.section == "History")


def the_claim(sentence: str, *, title: str = "Norbury", lead: str = CITY) -> Claim:
    """The one claim of a section of one paragraph."""
    (claim,) = claims_below(f"<p>{sentence}</p>", title=title, lead=lead)
    return claim


def texts(html: str, *, title: str = "Norbury", lead: str = CITY) -> list[str]:
    """The words of the claims of the section."""
    return [claim.text for claim in claims_below(html, title=title, lead=lead)]


def extract(
    page: PageDoc, model: Model, *, temperature: float = 0.1, log: Callable[[str], None] | None = None
) -> Extraction:
    """The claims that a model finds on one page."""
    return ClaimReader(model, temperature=temperature, log=log).extract(page)


def unsupported(text: str, sources: Sequence[str], language: str = "eng") -> tuple[str, ...]:
    """The words of the facts of a text that none of its sources has."""
    return tuple(dict.fromkeys(fact.text for fact in unsupported_facts(text, sources, language)))
