"""The outline of a brief's prose: a summary, then sections in the order of the main article."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from kiwiresearch.brief.brief import Statement, StatementGroup
from kiwiresearch.brief.citations import directly_precedes
from kiwiresearch.brief.importance import ClaimWeights
from kiwiresearch.brief.passages import PassageChooser, UsableSentence, UsedClaims
from kiwiresearch.brief.relevance import MIN_LOG_ODDS, MIN_LOG_ODDS_ELSEWHERE, STRICT_MARGIN, centroid
from kiwiresearch.brief.support import MergedClaim, independent_pages, says_the_same, statement_of
from kiwiresearch.claims import Claim
from kiwiresearch.embed import similarity, static_embedder
from kiwiresearch.text import AspectWords

SUMMARY_WORDS, MIN_LEAD_WORDS, MIN_ASPECT_WORDS = 180, 100, 60
"""The word limit of the summary; a lead below the second value is topped up from the sections, and text about an
aspect below the third with weaker matches."""
MAX_SUMMARY_PER_OTHER_PAGE = 2
BODY_WORDS, SECTION_WORDS, OTHER_PAGE_WORDS = 1_000, 90, 70
LEAD_REST_WORDS = 220
"""How many words of a lead may move to the body if the summary had no room for them."""
MAX_SECTION_SHARE = 0.5
"""The rest of a section is left for the timeline, explanations and numbers."""
MAX_SECTIONS, MAX_OTHER_PAGES = 12, 5
MIN_SECTION_SENTENCES, LONG_SECTION_SENTENCES = 2, 30
"""A section of the main article with fewer sentences is left out; a longer one is split into its subsections."""
ENOUGH_SENTENCES = 10
"""With this many sentences from the topic's own page, other pages must meet a stricter threshold."""
RELAXED_MARGIN = -1.5
"""If the summary would be short, the log-odds of a sentence may be this much lower."""
BELOW_HEADING_MARGIN = -1.0
"""The same for a sentence below a heading that names the aspect."""
MIN_OTHER_PAGE_CHARS = 60
"""A shorter sentence of another page says too little out of context: 'Isaac Newton also accepted the finite speed.'"""
MIN_SECTION_SIMILARITY, MIN_ARTICLE_SIMILARITY, MIN_OTHER_SUBJECT_SIMILARITY = 0.7, 0.55, 0.65
"""How similar a sentence of another page must be to a section of the main article, to the article, and to the article
if the sentence's subject is not the topic."""


@dataclass(slots=True)
class _PlannedSection:
    """A section of the brief in preparation: what it may use, how many words of that, and what was chosen."""

    heading: str
    sentences: list[UsableSentence]
    max_words: int
    chosen: list[UsableSentence] = field(default_factory=list)


class Outline:
    """Decides which sentences the summary and sections of a brief may use, and has a `PassageChooser` pick them."""

    def __init__(self, weights: ClaimWeights, merged_claims: Sequence[MergedClaim], used: UsedClaims) -> None:
        self._weights = weights
        self._relevance = weights.relevance
        self._used = used
        self._chooser = PassageChooser(weights, used)
        self._merged_claims = {weighed.claim.id: claim for claim in merged_claims for weighed in claim.claims}
        self._summary: list[UsableSentence] = []

    def summary(self) -> tuple[Statement, ...]:
        """The most important sentences, in the order of the main article."""
        chooser, own = self._chooser, self._topic_page_sentences()
        lead = [sentence for sentence in own if not sentence.claim.headings]
        if self._relevance.aspect or not lead:
            limit = MAX_SUMMARY_PER_OTHER_PAGE
            chosen = chooser.take_passages(self._on_aspect(), SUMMARY_WORDS, max_per_other_page=limit)
            missing = MIN_ASPECT_WORDS - _word_count(chosen)
            if missing > 0:
                weaker = self._on_aspect(RELAXED_MARGIN)
                chosen += chooser.take_best(weaker, missing, max_per_other_page=limit, context=chosen)
        else:
            chosen = chooser.take_from_start(lead, SUMMARY_WORDS)
            words = _word_count(chosen)
            if words < MIN_LEAD_WORDS:
                body = [sentence for sentence in own if sentence.claim.headings and not sentence.is_minor]
                # Ascending, so that in the next line the best sentence of each section overwrites the others.
                body.sort(key=lambda sentence: sentence.weighed.points)
                best_by_section = {sentence.claim.headings[0]: sentence for sentence in body}
                chosen += chooser.take_best(best_by_section.values(), SUMMARY_WORDS - words)
        self._summary = self._in_page_order(chosen)
        return tuple(map(self._to_statement, self._summary))

    def sections(self) -> tuple[StatementGroup, ...]:
        """The rest of the prose, under the headings of the main article or the titles of other pages."""
        by_aspect = bool(self._relevance.aspect)
        sections = (
            self._aspect_sections() if by_aspect or not self._topic_page_sentences() else self._article_sections()
        )
        for section in sections:
            if section.heading or by_aspect:
                section.chosen = self._chooser.take_passages(
                    section.sentences, section.max_words, from_paragraph_start=not by_aspect
                )
            else:
                # The rest of the introduction continues the summary, which may explain its pronouns.
                section.chosen = self._chooser.take_from_start(section.sentences, LEAD_REST_WORDS, self._summary)
        if not by_aspect:
            self._add_other_pages([section for section in sections if section.chosen])
        return tuple(
            StatementGroup(section.heading, tuple(map(self._to_statement, self._in_page_order(section.chosen))))
            for section in sections
            if section.chosen
        )

    def is_alone_in_paragraph(self, claim: Claim) -> bool:
        """Whether a claim is the only sentence known from its paragraph."""
        others = self._weights.sentences.get(claim.ref, ())
        return not any(directly_precedes(item, claim) or directly_precedes(claim, item) for item in others)

    def _topic_page_sentences(self) -> list[UsableSentence]:
        return [
            sentence
            for ref, sentences in self._chooser.pages.items()
            if ref in self._weights.topic_pages
            for sentence in sentences
        ]

    def _on_aspect(self, margin: float = 0.0) -> list[UsableSentence]:
        """The sentences about the requested aspect; `margin` is added to the usual log-odds threshold."""
        usable = [
            sentence
            for sentences in self._chooser.pages.values()
            for sentence in sentences
            if not sentence.is_minor or self._is_under_aspect_heading(sentence.claim)
        ]
        topic_pages, is_on_aspect = self._weights.topic_pages, self._relevance.is_on_aspect
        own = [
            sentence
            for sentence in usable
            if sentence.claim.ref in topic_pages and is_on_aspect(sentence.claim, margin)
        ]
        # If the topic's own page says little, other pages need no stricter score.
        other_margin = margin if len(own) >= ENOUGH_SENTENCES else margin + MIN_LOG_ODDS - MIN_LOG_ODDS_ELSEWHERE
        return own + [
            sentence
            for sentence in usable
            if sentence.claim.ref not in topic_pages and is_on_aspect(sentence.claim, other_margin)
        ]

    def _article_sections(self) -> list[_PlannedSection]:
        """The sections of the main articles, merged if they have one name; a long one by its subsections."""
        usable = [
            sentence
            for sentence in self._topic_page_sentences()
            # The part of the lead that did not fit into the summary comes first.
            if not sentence.is_aside and (sentence.claim.headings or not self._used.has_sentence(sentence))
        ]
        lengths = Counter(sentence.claim.headings[:1] for sentence in usable)
        sections: dict[str, list[UsableSentence]] = {}
        for sentence in usable:
            headings = sentence.claim.headings
            depth = 2 if lengths[headings[:1]] > LONG_SECTION_SENTENCES else 1
            # The last of at most `depth` headings; a sentence of the introduction has none and gets the empty one.
            sections.setdefault(("", *headings[:depth])[-1], []).append(sentence)
        sections = {name: several for name, several in sections.items() if len(several) >= MIN_SECTION_SENTENCES}
        kept = _longest_of_each(sections)[:MAX_SECTIONS]
        return _with_budgets({name: several for name, several in sections.items() if name in kept})

    def _aspect_sections(self) -> list[_PlannedSection]:
        """The text about the aspect, by sections of the main article and then by other pages."""
        own: dict[str, list[UsableSentence]] = {}
        others: dict[str, list[UsableSentence]] = {}
        for sentence in self._on_aspect(BELOW_HEADING_MARGIN):
            claim = sentence.claim
            if not self._is_under_aspect_heading(claim) and not self._relevance.is_on_aspect(claim, STRICT_MARGIN):
                continue
            if claim.ref in self._weights.topic_pages:
                own.setdefault(self._aspect_heading(claim), []).append(sentence)
            else:
                others.setdefault(claim.page_title, []).append(sentence)
        best_own = _best_first(own)[:MAX_SECTIONS]
        return [
            *_with_budgets({heading: sentences for heading, sentences in own.items() if heading in best_own}),
            *(
                _PlannedSection(title, others[title], self._other_page_budget(others[title]))
                for title in _best_first(others)[:MAX_OTHER_PAGES]
            ),
        ]

    def _other_page_budget(self, sentences: Sequence[UsableSentence]) -> int:
        """How many words of another page may be used: more if they are from a section about the topic."""
        is_about = all(self._relevance.is_under_topic(sentence.claim) for sentence in sentences)
        return _word_budget(sentences) if is_about else OTHER_PAGE_WORDS

    def _is_under_aspect_heading(self, claim: Claim) -> bool:
        return self._aspect_words(claim).names_any(claim.headings)

    def _aspect_heading(self, claim: Claim) -> str:
        """The heading that names the aspect, or the one right below it, which is more specific."""
        words = self._aspect_words(claim)
        for index, heading in enumerate(claim.headings):
            if words.names(heading):
                return claim.headings[min(index + 1, len(claim.headings) - 1)]
        return claim.headings[0] if claim.headings else claim.page_title

    def _aspect_words(self, claim: Claim) -> AspectWords:
        return _cached_aspect_words(self._relevance.aspect, self._weights.language(claim.ref))

    def _add_other_pages(self, sections: Sequence[_PlannedSection]) -> None:
        """Add to each section the sentence of another page that is most similar to it."""
        others = [
            sentence
            for ref, sentences in self._chooser.pages.items()
            if ref not in self._weights.topic_pages
            for sentence in sentences
            if not sentence.claim.depends_on and self._relevance.names(sentence.claim) and not sentence.is_aside
            if len(sentence.claim.text) >= MIN_OTHER_PAGE_CHARS
        ]
        if not sections or not others:
            return
        embed = static_embedder().embed
        vectors = [embed([sentence.claim.text for sentence in section.sentences]) for section in sections]
        other_vectors = embed([sentence.claim.text for sentence in others])
        minimums = np.array(
            [
                MIN_ARTICLE_SIMILARITY
                if self._relevance.is_mainly_about(sentence.claim)
                else MIN_OTHER_SUBJECT_SIMILARITY
                for sentence in others
            ]
        )
        # Similar to the section and to the article: a section on 'Health' alone would take any sentence about health.
        fits_article = similarity(centroid(np.concatenate(vectors)), other_vectors) >= minimums
        for section, own_vectors in zip(sections, vectors, strict=True):
            similarities = similarity(centroid(own_vectors), other_vectors)
            fits = (similarities >= MIN_SECTION_SIMILARITY) & fits_article
            candidates = [index for index in range(len(others)) if fits[index]]
            # Rounded, so that the order does not depend on the last bits of a float.
            candidates.sort(key=lambda index: (-round(float(similarities[index]), 3), *others[index].key))
            for index in candidates:
                taken = self._chooser.take_best([others[index]], OTHER_PAGE_WORDS)
                section.chosen += taken
                if taken:
                    break

    def _in_page_order(self, chosen: Sequence[UsableSentence]) -> list[UsableSentence]:
        """In the order of their pages, those about the topic first."""
        order = {ref: index for index, ref in enumerate(self._weights.sentences)}
        topic_pages = self._weights.topic_pages
        return sorted(
            chosen,
            key=lambda sentence: (sentence.claim.ref not in topic_pages, order[sentence.claim.ref], sentence.position),
        )

    def _to_statement(self, sentence: UsableSentence) -> Statement:
        """The sentence as a statement, along with other pages that say the same."""
        merged = self._merged_claims.get(sentence.claim.id)
        others = [
            claim
            for claim in (merged.claims if merged else ())
            if claim.claim.ref != sentence.claim.ref and says_the_same(sentence.weighed, claim)
        ]
        claims = (sentence.weighed, *others)
        return statement_of(MergedClaim(claims, independent_pages(claims)))


@lru_cache(maxsize=32)
def _cached_aspect_words(aspect: str, language: str) -> AspectWords:
    return AspectWords.of(aspect, language)


def _word_count(sentences: Sequence[UsableSentence]) -> int:
    return sum(sentence.word_count for sentence in sentences)


def _best_first(sections: Mapping[str, Sequence[UsableSentence]]) -> list[str]:
    """The headings in the order of the points that the three best sentences of each section have together."""

    def points(heading: str) -> float:
        return round(sum(sorted((sentence.weighed.points for sentence in sections[heading]), reverse=True)[:3]), 2)

    return sorted(sections, key=lambda heading: (-points(heading), heading))


def _longest_of_each(sections: Mapping[str, Sequence[UsableSentence]]) -> list[str]:
    """The longest first: the longest subsection of each section of the article, then the second longest of each."""
    longest = sorted(sections, key=lambda heading: (-len(sections[heading]), heading))
    seen: Counter[tuple[str, ...]] = Counter()
    ranks = {}
    for heading in longest:
        top = sections[heading][0].claim.headings[:1]
        ranks[heading] = seen[top]
        seen[top] += 1
    return sorted(longest, key=lambda heading: ranks[heading])


def _with_budgets(sections: Mapping[str, Sequence[UsableSentence]]) -> list[_PlannedSection]:
    """Sections with their word limits, by their lengths; together they fill the body."""
    # Square roots, so that one long section does not take the room of all others.
    total = sum(len(sentences) ** 0.5 for sentences in sections.values()) or 1.0
    return [
        _PlannedSection(
            heading, list(several), min(_word_budget(several), round(BODY_WORDS * len(several) ** 0.5 / total))
        )
        for heading, several in sections.items()
    ]


def _word_budget(sentences: Sequence[UsableSentence]) -> int:
    """How many words of a section may be used: half of it, or little if it matters little."""
    if all(sentence.is_minor for sentence in sentences):
        return SECTION_WORDS
    return max(SECTION_WORDS, round(MAX_SECTION_SHARE * _word_count(sentences)))
