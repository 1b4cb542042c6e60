"""A page prepared for claims, and its plain claims: sentences of no other type, which JSON calls statements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from kiwiresearch.claims.claim import Claim, ClaimSignals, ClaimType, DependsOn
from kiwiresearch.claims.language import grammar_of
from kiwiresearch.claims.sentence import (
    PageSentence,
    SentenceAnnotations,
    claim_score,
    claim_signals,
    has_name,
    has_unnamed_person,
    is_whole,
    needs_context,
    sentences_of,
    tidy_sentence,
)
from kiwiresearch.claims.subjects import Subjects
from kiwiresearch.claims.types import Figures, SentenceWords, figures_of, measures_in
from kiwiresearch.evidence import Quote, quote_at
from kiwiresearch.page import PageDoc
from kiwiresearch.search import Score
from kiwiresearch.text import Hedge, hedges_in

MAX_CLAIM_TAGS = 8


class ClaimPage:
    """The sentences of a page, their subjects, links and marks."""

    def __init__(self, page: PageDoc, book_name: str) -> None:
        self.page = page
        self.grammar = grammar_of(page.language)
        self.sentences = list(sentences_of(page))
        self.subjects = Subjects(page, self.grammar, self.sentences)
        self.annotations = SentenceAnnotations(page)
        self.headings = [page.headings(index) for index in range(len(page.sections))]
        self._book_name = book_name

    def has_unnamed_person(self, text: str, words: SentenceWords) -> bool:
        """Whether a sentence has a 'he' or 'she' that neither it nor the page has named."""
        return not self.subjects.page_subject.is_person and has_unnamed_person(text, words)

    def claim(
        self,
        sentence: PageSentence,
        text: str,
        kind: ClaimType,
        subject: str,
        quotes: tuple[Quote, ...],
        figures: Figures,
        *,
        hedges: tuple[Hedge, ...],
        signals: ClaimSignals,
        score: Score,
        depends_on: DependsOn = "",
    ) -> Claim:
        """A claim in these words, from a sentence."""
        page = self.page
        section = page.sections[sentence.section]
        links = self.annotations.links(sentence.start, sentence.end)
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
    return tuple(dict.fromkeys(word.lower() for word in words if word))[:MAX_CLAIM_TAGS]


MAX_PLAIN_CHARS = 420
MIN_ITEMS, MAX_LIST_CHARS = 2, 600
EARLY_WORDS = 6
"""A pronoun among this many words after the first refers to the sentence before."""

SentenceFilter = Callable[[str, tuple[str, ...]], bool]
"""Whether a sentence below these headings is wanted even if it has no claim type."""


def all_sentences(_text: str, _headings: tuple[str, ...]) -> bool:
    return True


def no_sentences(_text: str, _headings: tuple[str, ...]) -> bool:
    return False


class PlainClaims:
    """Makes plain claims from the wanted sentences of a page, in their own words, pronouns included."""

    def __init__(self, claim_page: ClaimPage, wanted: SentenceFilter) -> None:
        self._page = claim_page.page
        self._claim_page = claim_page
        self._sentences = claim_page.sentences
        self._subjects = claim_page.subjects
        self._grammar = claim_page.grammar
        self._wanted = wanted

    def from_sentence(self, index: int, sentence: PageSentence) -> Claim | None:
        """A sentence as a plain claim, read alone or after the previous one in its paragraph."""
        headings = self._claim_page.headings[sentence.section]
        if not is_whole(sentence, MAX_PLAIN_CHARS) or not self._wanted(sentence.text, headings):
            return None
        if self._grammar.cross_references.search(sentence.text):
            return None
        named, depends_on = self._subjects.of(index), self._dependence(index, sentence)
        if depends_on == "previous" and not self._has_previous(index):
            return None
        if sentence.kind == "item" and self._subjects.opening(index).verb_start < 0:
            return None
        # A sentence that is read after the one before keeps its 'However'; one that stands alone must lose it.
        start = 0 if depends_on == "previous" else self._subjects.opening(index).start
        name = self._subjects.page_subject.name if named is None else named.name
        cut = sentence._replace(text=sentence.text[start:], start=sentence.start + start)
        return self._plain_claim(cut, name, depends_on)

    def from_list(self, index: int) -> Iterator[Claim]:
        """'The drugs are:' and the items below it as one plain claim, cut where it gets too long."""
        sentence, items = self._sentences[index], list[PageSentence]()
        for item in self._sentences[index + 1 :]:
            # Items must follow each other block by block: a paragraph in between ends the list.
            if item.kind != "item" or item.section != sentence.section or item.block > sentence.block + len(items) + 1:
                break
            if item.end - sentence.start > MAX_LIST_CHARS:
                break
            items.append(item)
        is_wanted = self._wanted(sentence.text, self._claim_page.headings[sentence.section])
        # Its verb may be missing or far away, so only a pronoun at its start counts.
        first_word = sentence.text[self._subjects.opening(index).subject_start :].partition(" ")[0].lower()
        depends_on: DependsOn = "previous" if first_word in self._grammar.genders else ""
        if (
            len(items) < MIN_ITEMS
            or not is_wanted
            or (depends_on == "previous" and not self._has_previous(index))
            or needs_context(sentence.text, SentenceWords.of(sentence.text), self._grammar)
        ):
            return
        follows = self._sentences[index + len(items) + 1 : index + len(items) + 2]
        is_cut = bool(follows) and follows[0].kind == "item" and follows[0].section == sentence.section
        text = f"{sentence.text} {'; '.join(item.text.rstrip(' .;,') for item in items)}{'; …' if is_cut else '.'}"
        yield self._plain_claim(
            sentence._replace(text=text, end=items[-1].end), self._subjects.page_subject.name, depends_on
        )

    def _has_previous(self, index: int) -> bool:
        """Whether a sentence has one before it in its paragraph."""
        return index > 0 and self._sentences[index - 1].block == self._sentences[index].block

    def _dependence(self, index: int, sentence: PageSentence) -> DependsOn:
        """The context a sentence needs, if it cannot be understood alone."""
        named, words = self._subjects.of(index), SentenceWords.of(sentence.text)
        opening = self._subjects.opening(index)
        if (
            (opening.start == 0 and self._starts_with_connective(sentence.text))
            or self._grammar.adds.match(sentence.text) is not None
            or self._grammar.ends_in_pronoun.search(sentence.text) is not None
            or needs_context(sentence.text, words, self._grammar)
            or self._claim_page.has_unnamed_person(sentence.text, words)
        ):
            return "previous"
        if named is None:
            # A sentence that opens a paragraph needs nothing before it but the subject of the page.
            return "previous" if self._has_previous(index) or self._starts_with_reference(sentence.text) else "subject"
        if named.end <= named.start:
            return "previous" if self._grammar.pronoun_second.match(sentence.text) else ""
        is_page_subject = named.name == self._subjects.page_subject.name and named.name_span is None
        is_noun = sentence.text[named.start : named.end].lower() not in self._grammar.genders  # 'the disease'
        return "subject" if is_page_subject and (self._subjects.page_subject.is_person or is_noun) else "previous"

    def _starts_with_reference(self, text: str) -> bool:
        """Whether a sentence starts with a pronoun, or with a word that refers to something outside it."""
        first, _, rest = text.partition(" ")
        word = first.lower()
        if any(item.lower().strip(",") in self._grammar.genders for item in rest.split()[:EARLY_WORDS]):
            return True  # 'It is assumed that they …'
        if word in self._grammar.genders:
            return self._grammar.expletive.match(rest) is None
        return word in self._grammar.demonstratives and word not in self._grammar.demonstratives_with_noun

    def _starts_with_connective(self, text: str) -> bool:
        """Whether a sentence starts with a word that refers to what was said: 'However', 'Finally', not 'Today'."""
        found = self._grammar.connective.match(text)
        words = found[0].strip(" ,").lower() if found else ""
        return bool(words) and (
            words not in self._grammar.kept_connectives or words in self._grammar.ordering_connectives
        )

    def _plain_claim(self, sentence: PageSentence, subject: str, depends_on: DependsOn) -> Claim:
        text = tidy_sentence(" ".join(sentence.text.split()))
        text = text[:1].upper() + text[1:]
        figures = figures_of(text, SentenceWords.of(text), self._page.language, self._grammar)
        hedges = hedges_in(text, self._page.language)
        signals = claim_signals(self._page, sentence, self._claim_page.annotations)
        score = claim_score(signals, hedges, length=len(text), has_name=has_name(text))
        quotes = (quote_at(self._page, sentence.start, sentence.end),)
        return self._claim_page.claim(
            sentence,
            text,
            "statement",
            subject,
            quotes,
            figures,
            hedges=hedges,
            signals=signals,
            score=score,
            depends_on=depends_on,
        )
