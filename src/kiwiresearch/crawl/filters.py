"""Which links are not followed, and why."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from kiwiresearch.crawl.settings import LinkFilters
from kiwiresearch.page.doc import Place
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.text.languages import words_of

OUTSIDE: frozenset[Place] = frozenset({"navigation", "hidden", "references", "note", "categories"})
"""Links that stand outside of what a page says."""

NAMESPACES = frozenset(
    " ".join(
        (
            "talk user wikipedia wp project portal file image media mediawiki template help category draft module",
            "special timedtext book education gadget topic summary thread wiktionary wikt commons appendix",
            "diskussion benutzer datei bild vorlage hilfe kategorie spezial",
            "discussion utilisateur fichier modèle aide catégorie portail projet spécial",
            "discusión usuario archivo imagen plantilla ayuda categoría especial anexo",
            "discussione utente immagine modello aiuto categoria speciale",
            "discussão usuário ficheiro imagem predefinição ajuda",
            "overleg gebruiker bestand afbeelding sjabloon categorie speciaal",
            "обсуждение участник файл шаблон категория справка",
        )
    ).split()
)
"""Names before a colon that tell what is no article, in the languages of the largest books."""

YEAR = re.compile(
    r"(?:ad\s*)?\d{1,4}s?(?:\s*(?:ad|bc|bce|ce|b\.c\.|a\.d\.))?(?:\s*\(year\))?"
    r"|\d{1,2}(?:st|nd|rd|th) (?:century|millennium)(?:\s*(?:ad|bc|bce|ce))?"
)


@dataclass(frozen=True, slots=True)
class Filter:
    """Tells why a link is refused."""

    settings: LinkFilters
    language: str = "eng"
    timeline: bool = False
    """The topic asks for a timeline, so years may stay."""
    main_page: str = ""
    excluded: tuple[str, ...] = field(init=False)

    @classmethod
    def of(cls, book: OpenBook, settings: LinkFilters, *, timeline: bool) -> Filter:
        return cls(settings, book.language, timeline=timeline, main_page=book.book.main_page)

    def __post_init__(self) -> None:
        object.__setattr__(self, "excluded", tuple(word.casefold() for word in self.settings.exclude if word.strip()))

    def outside(self, place: Place) -> str:
        """Why a link is refused for where it stands; empty if it is not."""
        return "outside the text" if self.settings.outside_text and place in OUTSIDE else ""

    def refusal(self, path: str, title: str) -> str:
        """Why a page is refused for what it is called; empty if it is not."""
        folded = title.casefold()
        if path == self.main_page:
            return "start page"
        if self.settings.main_articles_only and is_other_namespace(folded):
            return "no main article"
        if any(folded == word or folded.startswith(word) for word in self.excluded):
            return "excluded"
        if self.settings.years and not self.timeline and YEAR.fullmatch(folded):
            return "only a year"
        if self.settings.lists == "exclude" and is_list(folded, self.language):
            return "list page"
        return ""


def is_other_namespace(title: str) -> bool:
    name, colon, rest = title.casefold().partition(":")
    return bool(colon and rest) and name.strip().replace("_", " ").removesuffix(" talk") in NAMESPACES


def is_list(title: str, language: str) -> bool:
    """Whether a title says that the page is a list."""
    return title.casefold().startswith(words_of(language).list_titles)


def asks_for_timeline(topic: str, language: str) -> bool:
    """Whether a topic is about time itself: 'timeline of …', '1848', 'the 1920s'."""
    folded = topic.casefold().strip()
    is_time = YEAR.fullmatch(folded.removeprefix("the ").removeprefix("year "))
    return bool(is_time) or not words_of(language).timeline.isdisjoint(re.findall(r"\w+", folded))
