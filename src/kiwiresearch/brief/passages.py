"""Chooses the sentences for the prose of a brief: coherent passages without repetition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from kiwiresearch.brief.citations import directly_precedes
from kiwiresearch.brief.importance import ClaimWeights, WeightedClaim
from kiwiresearch.claims import Claim
from kiwiresearch.embed import Vectors, similarity, static_embedder
from kiwiresearch.text import jaccard, language_words
from kiwiresearch.zim import EntryRef

MAX_PROSE_OVERLAP, MAX_SIMILARITY = 0.5, 0.85
"""Two sentences with more words in common, or more similar in meaning, say the same."""
MIN_PASSAGE_SENTENCES, MAX_PASSAGE_SENTENCES = 2, 6
"""A passage may be shorter than the minimum only if its paragraph is."""
CONTINUATION_BONUS, NEW_SECTION_BONUS = 1.0, 0.7
"""Points for continuing a passage, and for starting one in a section that has none yet."""
NO_LIMIT = 1_000_000
MAX_CONTEXT_SENTENCES = 2
"""How many preceding sentences may be included with one that needs them."""


class UsableSentence(NamedTuple):
    """A sentence that may be used, with its weight and its position among those of its page."""

    weighed: WeightedClaim
    position: int

    @property
    def claim(self) -> Claim:
        return self.weighed.claim

    @property
    def key(self) -> tuple[EntryRef, int]:
        return self.claim.ref, self.position

    @property
    def word_count(self) -> int:
        return len(self.claim.text.split())

    @property
    def is_minor(self) -> bool:
        """Whether a summary can skip its section: 'Etymology', and all asides."""
        return any(map(language_words(self.weighed.language).is_minor, self.claim.headings))

    @property
    def is_aside(self) -> bool:
        """Whether its section is about the reception of the topic: 'In popular culture'."""
        return any(map(language_words(self.weighed.language).is_aside, self.claim.headings))


class UsedClaims:
    """Tracks what a brief has said so far, to avoid repetition."""

    def __init__(self) -> None:
        self.claims: list[Claim] = []
        """In the order in which they were used."""
        self._quotes: set[str] = set()
        self._spans: dict[EntryRef, list[tuple[int, int]]] = {}
        self._sentences: dict[tuple[EntryRef, int], frozenset[str]] = {}
        """The sentences used in prose, and the words of each."""
        self._vectors: list[Vectors] = []

    def add(self, claims: Iterable[Claim]) -> None:
        for claim in claims:
            if not claim.is_row:
                quote = claim.quotes[0]
                self._spans.setdefault(claim.ref, []).append((quote.start, quote.end))
                self._quotes.add(quote.text)
            self.claims.append(claim)

    def add_sentences(self, sentences: Sequence[UsableSentence]) -> None:
        for sentence in sentences:
            self._sentences[sentence.key] = sentence.weighed.stems
            self._vectors.append(_vector(sentence.claim.text))
        self.add(sentence.claim for sentence in sentences)

    def __contains__(self, claim: Claim) -> bool:
        """Whether a claim, or the sentence it comes from, has been used."""
        quote = claim.quotes[0]
        if quote.text in self._quotes:
            return True  # another page may have the very same sentence
        return any(start < quote.end and quote.start < end for start, end in self._spans.get(claim.ref, ()))

    def has_sentence(self, sentence: UsableSentence) -> bool:
        return sentence.key in self._sentences

    def repeats_any(self, sentences: Sequence[UsableSentence]) -> bool:
        """Whether any of these sentences has been said, in the same words or in others."""
        if any(sentence.claim in self for sentence in sentences):
            return True
        used = self._sentences.values()
        if any(
            jaccard(usable_sentence.weighed.stems, stems) > MAX_PROSE_OVERLAP
            for usable_sentence in sentences
            for stems in used
        ):
            return True
        return bool(self._vectors) and any(
            float(similarity(_vector(usable_sentence.claim.text), np.array(self._vectors)).max()) > MAX_SIMILARITY
            for usable_sentence in sentences
        )


@lru_cache(maxsize=4096)
def _vector(text: str) -> Vectors:
    return np.asarray(static_embedder().embed([text])[0])


class PassageChooser:
    """Chooses the best sentences and passages that fit, and marks them as used."""

    def __init__(self, weights: ClaimWeights, used: UsedClaims) -> None:
        self._topic_pages = weights.topic_pages
        self._relevance = weights.relevance
        self._used = used
        self.pages: dict[EntryRef, list[UsableSentence]] = {
            ref: [UsableSentence(weights.weigh_one(claim), position) for position, claim in enumerate(claims)]
            for ref, claims in weights.sentences.items()
            if any(map(weights.relevance.is_about, claims))
        }
        """The sentences of each page that says something about the topic."""

    def take_from_start(
        self, sentences: Sequence[UsableSentence], max_words: int, context: Sequence[UsableSentence] = ()
    ) -> list[UsableSentence]:
        """Sentences in their own order from the first on: a lead is well structured already."""
        chosen: list[UsableSentence] = []
        for sentence in sentences:
            taken = self.take_best([sentence], max_words, context=[*context, *chosen])
            # Only a sentence that is too long ends it: one that repeats something is skipped.
            if not taken and sentence.word_count > max_words:
                break
            chosen += taken
            max_words -= sum(usable_sentence.word_count for usable_sentence in taken)
        return chosen

    def take_best(
        self,
        sentences: Iterable[UsableSentence],
        max_words: int,
        *,
        max_per_other_page: int = NO_LIMIT,
        context: Sequence[UsableSentence] = (),
    ) -> list[UsableSentence]:
        """The best sentences that fit, each with the preceding ones that it depends on.

        `max_per_other_page` limits those from one page that is not about the topic itself;
        `context` are sentences that will be shown along with them.
        """
        chosen: list[UsableSentence] = []
        per_page: Counter[EntryRef] = Counter()
        for sentence in sorted(
            sentences, key=lambda usable_sentence: (-usable_sentence.weighed.points, *usable_sentence.key)
        ):
            needed = self._with_preceding(sentence, [*context, *chosen])
            new = [usable_sentence for usable_sentence in needed if not self._used.has_sentence(usable_sentence)]
            word_count = sum(usable_sentence.word_count for usable_sentence in new)
            ref = sentence.claim.ref
            is_full = per_page[ref] >= max_per_other_page and not self._relevance.is_under_topic(sentence.claim)
            # The most expensive test last.
            if not new or word_count > max_words or is_full or self._used.repeats_any(new):
                continue
            max_words -= word_count
            per_page[ref] += 1
            self._used.add_sentences(new)
            chosen += new
        return chosen

    def take_passages(
        self,
        sentences: Sequence[UsableSentence],
        max_words: int,
        *,
        from_paragraph_start: bool = False,
        max_per_other_page: int = NO_LIMIT,
    ) -> list[UsableSentence]:
        """The best passages that fit: consecutive sentences of a page, so that the text reads coherently.

        A passage starts with two sentences of a paragraph, and continues while the next one is worth more than
        another passage. `max_per_other_page` limits the sentences from one page that is not about the topic itself.
        """
        stretches = self._consecutive(sentences, from_paragraph_start=from_paragraph_start)
        lengths = [0] * len(stretches)
        chosen: list[UsableSentence] = []
        while True:
            best: tuple[float, int, list[UsableSentence]] | None = None
            for number, stretch in enumerate(stretches):
                length = lengths[number]
                new = stretch[length : length + 1] if length else stretch[:MIN_PASSAGE_SENTENCES]
                if (
                    not new
                    or length >= MAX_PASSAGE_SENTENCES
                    or sum(sentence.word_count for sentence in new) > max_words
                ):
                    continue
                claim = new[0].claim
                from_page = len(new) + sum(sentence.claim.ref == claim.ref for sentence in chosen)
                if from_page > max_per_other_page and not self._relevance.is_under_topic(claim):
                    continue
                is_new_section = not any(sentence.claim.headings == claim.headings for sentence in chosen)
                bonus = CONTINUATION_BONUS if length else NEW_SECTION_BONUS * is_new_section
                # The mean, so that the two sentences that start a passage compete fairly with a single one.
                points = sum(sentence.weighed.points for sentence in new) / len(new) + bonus
                if best is None or points > best[0]:
                    best = points, number, new
            if best is None:
                return chosen
            _, number, new = best
            if self._used.repeats_any(new):
                stretches[number] = stretches[number][: lengths[number]]  # the passage ends before the repetition
                continue
            lengths[number] += len(new)
            max_words -= sum(sentence.word_count for sentence in new)
            chosen += new
            self._used.add_sentences(new)

    def _consecutive(
        self, sentences: Sequence[UsableSentence], *, from_paragraph_start: bool
    ) -> list[list[UsableSentence]]:
        """Stretches of consecutive sentences of one paragraph, each starting at one that makes sense there."""
        wanted = {sentence.key for sentence in sentences}
        stretches: list[list[UsableSentence]] = []
        for ref in dict.fromkeys(sentence.claim.ref for sentence in sentences):
            before: UsableSentence | None = None
            stretch: list[UsableSentence] = []
            for sentence in self.pages[ref]:
                opens_paragraph = before is None or not directly_precedes(before.claim, sentence.claim)
                # After a sentence that has been used, its paragraph may continue.
                follows_used = before is not None and self._used.has_sentence(before)
                may_start = not from_paragraph_start or opens_paragraph or follows_used
                before = sentence
                if opens_paragraph:
                    stretch = []
                if sentence.key not in wanted or self._used.has_sentence(sentence):
                    stretch = []
                elif stretch:
                    stretch.append(sentence)
                elif may_start:
                    start = self._with_preceding(sentence, ())
                    if start and not any(map(self._used.has_sentence, start)):
                        stretch = start
                        stretches.append(stretch)
        return stretches

    def _with_preceding(self, sentence: UsableSentence, context: Sequence[UsableSentence]) -> list[UsableSentence]:
        """The sentence and those right before it that it depends on; none if they are missing or used elsewhere."""
        page = self.pages[sentence.claim.ref]
        in_context = {usable_sentence.key for usable_sentence in context}
        found = [sentence]
        while self._needs_previous(found[0].claim):
            first = found[0]
            if first.position == 0 or len(found) > MAX_CONTEXT_SENTENCES:
                return []
            before = page[first.position - 1]
            if not directly_precedes(before.claim, first.claim):
                return []
            if self._used.has_sentence(before):
                return found if before.key in in_context else []
            found.insert(0, before)
        return found

    def _needs_previous(self, claim: Claim) -> bool:
        """Whether a sentence needs the one before it; on the topic's own page, readers know who 'she' is."""
        if claim.depends_on == "subject":
            return claim.ref not in self._topic_pages
        return claim.depends_on == "previous"
