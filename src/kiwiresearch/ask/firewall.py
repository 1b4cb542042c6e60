"""Checks whether passages support a sentence of a model: which of them do, or else what is wrong.

As in `claims.firewall` and `kin.firewall`, the firewall keeps out what a model made up; `web.guard` keeps out people.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from kiwiresearch.ask.answer import Passage
from kiwiresearch.ask.pronouns import (
    MIN_CONFIDENCE,
    PERSONAL_PRONOUN_PATTERN,
    SENTENCES_BEFORE,
    context_in,
    likely_referent,
)
from kiwiresearch.claims import (
    FAULT_OF_FACT,
    WORD,
    SentenceFault,
    adds_view_holders,
    begins_with_pronoun,
    content_stems,
    fact_language,
    has_negation,
    name_key,
    name_words,
    names_in,
    numbers_in,
    unsupported_facts,
    without_dots_in_initials,
)
from kiwiresearch.claims.conflicts import compare_sentences, sentences_to_compare
from kiwiresearch.reader import TextToRead
from kiwiresearch.text import hedges_in, sentence_starts, stemmer

if TYPE_CHECKING:
    from kiwiresearch.reader import Reader


class PassageSentence(NamedTuple):
    """A sentence or row of a passage, which is `passage.text[start:end]`."""

    passage: Passage
    start: int
    end: int
    text: str
    stems: frozenset[str]
    numbers: frozenset[Fraction]


@lru_cache(maxsize=256)
def passage_sentences(passage: Passage, language: str) -> tuple[PassageSentence, ...]:
    """The sentences and rows of a passage."""
    text = passage.text
    breaks = [found.end() for found in re.finditer(r"\n+", text)]
    starts = sentence_starts(text, breaks, language)
    found = []
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        words = text[start:end].strip()
        if words:
            begin = text.index(words, start)
            stems, figures = content_stems(words, language), figures_in(words, language)
            found.append(PassageSentence(passage, begin, begin + len(words), words, stems, figures))
    return tuple(found)


def figures_in(text: str, language: str) -> frozenset[Fraction]:
    return frozenset(number.value for number in numbers_in(without_dots_in_initials(text), language))


def folded_words_in(text: str) -> frozenset[str]:
    return frozenset(name_key(word) for word in WORD.findall(without_dots_in_initials(text)))


def is_written_as_name(key: str, text: str) -> bool:
    """Whether a word has a capital that is not due to the start of a sentence, or is the entire text."""
    words = name_words(without_dots_in_initials(text))
    return any(
        word.key == key and word.text[0].isupper() and (not word.starts_sentence or len(words) == 1) for word in words
    )


def without_final_stop(text: str) -> str:
    return " ".join(text.split()).rstrip(".?!… ")


AnswerRejection = (
    SentenceFault
    | Literal[
        "no key",
        "unknown key",
        "hedge added",
        "another subject",
        "contradicts its passage",
        "not about the question",
        "said twice",
        "cut off",
        "general words",
        "question without answer",
        "too many questions",
    ]
)
MAX_CHARS = 500
FEW_WORDS = 3
"""A text with fewer words is not a sentence but a short answer to the question."""

MIN_COPIED_SHARE = 0.8
"""A sentence with this share of another is a copy of it, and must have the same number of denials."""

MAX_SUPPORT = 3
"""A sentence that needs more sentences of a passage than this is a conclusion, not a report."""

REPORTING = ["according", "passage", "source", "text", "article", "page", "book", "say", "state", "mention"]
"""Words about the passages, which need not occur in them."""

CLAUSE_END = re.compile(r"[,;:()]\s*")
ASIDE_OPENING = re.compile(
    r"(?:which|who|whose|where|when|(?:al)?though|while|whereas|but|and|because|since)\b", re.IGNORECASE
)


POSSESSIVE_OPENING = re.compile(r"(?:his|her|its|their)\s+(\S+)", re.IGNORECASE)
"""A sentence that starts with 'Her father' is not about her."""


class SupportedSentence(NamedTuple):
    """A supported sentence: the keys of its passages, their sentences, and whether the model had cited other keys."""

    keys: tuple[str, ...]
    support: tuple[PassageSentence, ...]
    rekeyed: bool = False


@dataclass(frozen=True, slots=True)
class SentenceJudge:
    """Judges sentences of a model by the rules of a language."""

    language: str = "eng"
    min_share: float = 0.6
    """The share of its content words that must be in the passage."""
    reader: Reader | None = None
    """Resolves "he" and "she" in a passage; without it, they are assumed to mean the subject of the page."""

    def judge(
        self, text: str, keys: Sequence[str], given: Mapping[str, Passage], asked: str = ""
    ) -> SupportedSentence | AnswerRejection:
        """The sentence with the keys that support it, or why it is not shown. Fragments are read as answers to `asked`.

        Models mix up keys. A sentence that another passage supports gets the key of that one, but only if both are of
        the same page, or if the sentence names its subject: 'the bridge' of one page is not that of another.
        """
        known = [given[key] for key in keys if key in given]
        if not known:
            return "unknown key" if keys else "no key"
        # Each cited passage alone before all of them together, so that only those are cited that prove the sentence.
        single = [found for passage in known if isinstance(found := self.prove(text, [passage], asked), tuple)]
        if single:
            return _supported([source for support in single for source in support])
        joint = self.prove(text, known, asked)
        if isinstance(joint, tuple):
            return _supported(joint)
        named = asked or self._subject(text, [words for item in given.values() for words in (item.title, item.text)])
        for passage in given.values():
            if passage not in known and (named or any(passage.ref == item.ref for item in known)):
                found = self.prove(text, [passage], asked)
                if isinstance(found, tuple):
                    return _supported(found)._replace(rekeyed=True)
        return joint

    def prove(
        self, text: str, passages: Sequence[Passage], asked: str = ""
    ) -> tuple[PassageSentence, ...] | AnswerRejection:
        """The sentences of these passages that support the text, or the first thing that is wrong."""
        if not self._stems(text) and not figures_in(text, self.language):
            return "empty"
        sources = [source for passage in passages for source in passage_sentences(passage, self.language)]
        # A copy needs no further check.
        same = next((source for source in sources if without_final_stop(source.text) == without_final_stop(text)), None)
        if same is not None:
            return (same,)
        if len(text) > MAX_CHARS:
            return "too long"
        statement = f"{asked} {text}".strip()
        source_texts = [words for item in passages for words in (item.text, item.title, item.section)]
        wrong = unsupported_facts(statement, source_texts, self.language)
        if wrong:
            return FAULT_OF_FACT[wrong[0].kind]
        # A few words could be proved by any sentence that has them, so the sentence must also fit the question best.
        if asked and len(self._stems(text)) < FEW_WORDS and not self._answers(text, asked, sources):
            return "another subject"
        support = self._support(statement, sources)
        return self._fault(statement, support, source_texts) or self._mixing_fault(statement, support, asked) or support

    def _answers(self, text: str, asked: str, sources: Sequence[PassageSentence]) -> bool:
        """Whether a few words are in a sentence that has as much of the question as any other."""
        question, mine = self._stems(asked), self._stems(text) - self._stems(asked)
        titles = {sentence.passage: content_stems(sentence.passage.title, self.language) for sentence in sources}
        overlaps = [len(question & (sentence.stems | titles[sentence.passage])) for sentence in sources]
        figures = figures_in(text, self.language)
        return any(
            overlap == max(overlaps) and mine <= passage_sentence.stems and figures <= passage_sentence.numbers
            for passage_sentence, overlap in zip(sources, overlaps, strict=True)
        )

    def _fault(
        self, text: str, support: Sequence[PassageSentence], source_texts: Sequence[str]
    ) -> AnswerRejection | None:
        """The problem with the words of a text whose facts are all in the passages."""
        if adds_view_holders(text, source_texts, self.language):
            return "holder not in its sources"
        if not support or self._share(text, support) < self.min_share:
            return "other words"
        if self._changes_negation(text, support):
            return "denial changed"
        # Only the sentence that has most of the text decides; the others may hedge something else.
        hedged = bool(hedges_in(text, self.language))
        if not hedged and hedges_in(support[0].text, self.language):
            return "hedge dropped"
        if hedged and not any(hedges_in(words, self.language) for words in source_texts):
            return "hedge added"
        return None

    def _share(self, text: str, support: Sequence[PassageSentence]) -> float:
        """The share of a text's content words in its support; words of titles and headings do not count."""
        places = " ".join(words for sentence in support for words in (sentence.passage.title, sentence.passage.section))
        mine = self._stems(text) - content_stems(places, self.language)
        theirs = frozenset(stem for sentence in support for stem in sentence.stems)
        return len(mine & theirs) / len(mine) if mine else 1.0

    def _mixing_fault(self, text: str, support: Sequence[PassageSentence], asked: str) -> AnswerRejection | None:
        """The problem if a text mixes up its sentences: a number of one with the subject of another."""
        if any(self._contradicts(text, source) for source in support):
            return "contradicts its passage"
        figures = figures_in(text, self.language)
        of_subject = [
            sentence
            for sentence in support
            if sentence == support[0] or sentence.numbers & figures or sentence.passage.kind != "text"
        ]
        is_same = all(self._same_subject(text, source, asked) for source in of_subject)
        return None if is_same else "another subject"

    def is_about(self, question: str, passages: Iterable[Passage]) -> bool:
        """Whether passages are about what was asked: they have all its names and most of its words."""
        source_texts = [words for passage in passages for words in (passage.title, passage.section, passage.text)]
        if any(unsupported.kind == "name" for unsupported in unsupported_facts(question, source_texts, self.language)):
            return False
        asked = content_stems(question, self.language)
        return (
            not asked
            or len(asked & content_stems(" ".join(source_texts), self.language)) / len(asked) >= self.min_share
        )

    def is_heading_of(self, text: str, passages: Iterable[Passage]) -> bool:
        """Whether a heading has only words of titles and sections, since no sentence can support it."""
        source_texts = [words for passage in passages for words in (passage.title, passage.section)]
        wrong = unsupported_facts(text, source_texts, self.language)
        return not wrong and content_stems(text, self.language) <= content_stems(" ".join(source_texts), self.language)

    def _support(self, text: str, sources: Sequence[PassageSentence]) -> tuple[PassageSentence, ...]:
        """The sentences that have most of the text, each with something that the ones before it lack."""
        stems, figures = self._stems(text), figures_in(text, self.language)
        chosen: list[PassageSentence] = []
        while len(chosen) < MAX_SUPPORT:
            # Greedy set cover; a number counts as two words.
            gains = [len(stems & sentence.stems) + 2 * len(figures & sentence.numbers) for sentence in sources]
            best = max(gains, default=0)
            if not best:
                break
            chosen.append(sources[gains.index(best)])
            stems, figures = stems - chosen[-1].stems, figures - chosen[-1].numbers
        return tuple(chosen)

    def is_fragment(self, text: str) -> bool:
        """Whether a text has a meaning only together with the question: 'In 1867.', 'Yes.'."""
        return len(self._stems(text)) < FEW_WORDS - 1

    def _stems(self, text: str) -> frozenset[str]:
        stem = stemmer(self.language)
        return content_stems(text, self.language) - {stem(word) for word in REPORTING}

    def _changes_negation(self, text: str, support: Sequence[PassageSentence]) -> bool:
        denied = [has_negation(self._relevant_clauses(text, source), self.language) for source in support]
        if not has_negation(text, self.language):
            return denied[0]
        mine = self._stems(text)
        copied = [
            sentence for sentence in support if len(sentence.stems & mine) >= MIN_COPIED_SHARE * len(sentence.stems)
        ]
        as_often = not copied or self._negation_count(text) == sum(
            self._negation_count(sentence.text) for sentence in copied
        )
        return not any(denied) or not as_often

    def _negation_count(self, text: str) -> int:
        return sum(has_negation(word, self.language) for word in WORD.findall(text))

    def _relevant_clauses(self, text: str, source: PassageSentence) -> str:
        """A sentence without its asides, unless they share words with the text."""
        stems = self._stems(text)
        return ", ".join(
            clause
            for clause in CLAUSE_END.split(source.text)
            # An aside is dropped only if it has content words and none of them is in the text; all other clauses stay.
            if not (ASIDE_OPENING.match(clause) and (of_clause := content_stems(clause, self.language)))
            or not of_clause.isdisjoint(stems)
        )

    def _contradicts(self, text: str, source: PassageSentence) -> bool:
        title = source.passage.title
        pairs = (
            (sentence, other)
            for sentence in sentences_to_compare(text, title, self.language)
            for other in sentences_to_compare(source.text, title, self.language)
        )
        return any((found := compare_sentences(*pair)) is not None and found.kind == "contradiction" for pair in pairs)

    def _same_subject(self, text: str, source: PassageSentence, asked: str) -> bool:
        """Whether a sentence has the name that a text starts with, or is on the page of that name and has no other."""
        if source.passage.kind != "text":
            return self._is_of_row(text, source)
        owned = POSSESSIVE_OPENING.match(source.text)
        if owned and not self._stems(text) & content_stems(owned[1], self.language):
            return False
        source_texts = (source.passage.title, source.passage.text)
        title = folded_words_in(source.passage.title)
        mine = self._names(asked) if asked else self._subject(text, source_texts)
        theirs = _pronoun_name(self.reader, source, self.language) or self._subject(source.text, source_texts)
        if mine and mine <= theirs:
            return True
        return mine <= folded_words_in(source.text) | (title if theirs <= title | mine else frozenset())

    def _is_of_row(self, text: str, row: PassageSentence) -> bool:
        """Whether a text names what a row is about, which is its first cell, and nothing of another row."""
        # A first row without figures is taken for the head of the table.
        first = passage_sentences(row.passage, self.language)[0]
        header = "" if first.numbers else first.text
        if row.text == header:
            return True
        label = content_stems(row.text.split("\t")[0], self.language)
        names_it = not label or not label.isdisjoint(self._stems(text))
        return names_it and self._names(text) <= folded_words_in(f"{row.text} {header} {row.passage.title}")

    def _subject(self, text: str, source_texts: Iterable[str]) -> frozenset[str]:
        """The words of the name that a text starts with; a single word is a name if it is written as one elsewhere."""
        plain = without_dots_in_initials(text)
        first = next(iter(names_in(plain, self.language)), ())
        articles = fact_language(self.language).articles
        if not first or any(word.lower() not in articles for word in plain[: first[0].start].split()):
            return frozenset()
        is_name = (
            len(first) > 1
            or first[0].text.isupper()
            or any(is_written_as_name(first[0].key, words) for words in source_texts)
        )
        return frozenset(word.key for word in first) if is_name else frozenset()

    def _names(self, text: str) -> frozenset[str]:
        return frozenset(word.key for name in names_in(without_dots_in_initials(text), self.language) for word in name)


@lru_cache(maxsize=256)
def _pronoun_name(reader: Reader | None, source: PassageSentence, language: str) -> frozenset[str]:
    """The words of the name that "he" or "she" at the start of a sentence refers to, if the reader is sure."""
    pronoun = PERSONAL_PRONOUN_PATTERN.match(source.text)
    if reader is None or pronoun is None:
        return frozenset()
    own = passage_sentences(source.passage, language)
    until = own[: own.index(source) + 1][-SENTENCES_BEFORE - 1 :]
    text = TextToRead(source.passage.title, "", tuple(sentence.text for sentence in until))
    found = likely_referent(reader, context_in(text, *pronoun.span(), source.passage.text, language))
    return folded_words_in(found.name) if found.confidence >= MIN_CONFIDENCE else frozenset()


def _supported(support: Sequence[PassageSentence]) -> SupportedSentence:
    return SupportedSentence(tuple(dict.fromkeys(source.passage.key for source in support)), tuple(support))


def pronoun_is_clear(
    text: str, language: str, before: Iterable[Passage] | None, support: Iterable[PassageSentence]
) -> bool:
    """Whether it is clear what a pronoun at the start refers to: the text shown just before is of the same page.

    `before` is empty if only the question came before, and None if what came before is not from the sources.
    """
    if not begins_with_pronoun(text, language):
        return True
    if before is None:
        return False
    pages = {passage.ref for passage in before}
    return not pages or not pages.isdisjoint(source.passage.ref for source in support)
