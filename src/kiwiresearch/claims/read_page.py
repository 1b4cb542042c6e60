"""A page whose sentences are read for claims: what is known of all of them, and a claim made of one."""

from __future__ import annotations

from collections.abc import Sequence

from kiwiresearch.claims.claim import Claim, ClaimType, DependsOn, Signals
from kiwiresearch.claims.figures import Figures
from kiwiresearch.claims.measures import measures_in
from kiwiresearch.claims.sentence import Margin, Sentence, sentences_of
from kiwiresearch.claims.standalone import speaks_of_nobody
from kiwiresearch.claims.subjects import Subjects
from kiwiresearch.claims.tables import grammar_of
from kiwiresearch.claims.types import Words
from kiwiresearch.evidence.quote import Quote
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.search.hit import Score
from kiwiresearch.text.hedges import Hedge

MOST_TAGS = 8


class ReadPage:
    """The sentences of a page, their subjects, and what stands beside them."""

    def __init__(self, page: PageDoc, book_name: str) -> None:
        self.page = page
        self.grammar = grammar_of(page.language)
        self.sentences = list(sentences_of(page))
        self.subjects = Subjects(page, self.grammar, self.sentences)
        self.margin = Margin(page)
        self.headings = [page.headings(number) for number in range(len(page.sections))]
        self._book_name = book_name

    def speaks_of_nobody(self, text: str, words: Words) -> bool:
        """Whether a sentence speaks of a 'he' or 'she' whom neither it nor the page has named."""
        return not self.subjects.theme.is_person and speaks_of_nobody(text, words)

    def claim(
        self,
        sentence: Sentence,
        text: str,
        kind: ClaimType,
        subject: str,
        quotes: tuple[Quote, ...],
        figures: Figures,
        *,
        hedges: tuple[Hedge, ...],
        signals: Signals,
        score: Score,
        depends_on: DependsOn = "",
    ) -> Claim:
        """A claim in these words, made of a sentence."""
        page = self.page
        section = page.sections[sentence.section]
        links = self.margin.links(sentence.start, sentence.end)
        names = tuple(dict.fromkeys(link.text for link in links if link.text))
        return Claim(
            text=text,
            type=kind,
            subject=subject,
            scope=subject,
            quotes=quotes,
            page_title=page.title,
            section=section.heading,
            anchor=section.anchor,
            headings=self.headings[sentence.section],
            book_name=self._book_name,
            tags=_tags(subject, section.heading, names),
            hedges=hedges,
            signals=signals,
            measures=measures_in(text, figures.quantities, figures.dates, subject, self.grammar),
            dates=tuple(figures.dates),
            names=names,
            score=score,
            depends_on=depends_on,
        )


def _tags(subject: str, heading: str, names: Sequence[str]) -> tuple[str, ...]:
    words = [subject, heading, *names]
    return tuple(dict.fromkeys(word.lower() for word in words if word))[:MOST_TAGS]
