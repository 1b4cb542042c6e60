"""An answer of a model while it is told: what has passed so far, its citations, and what was dropped."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kiwiresearch.ask.answer import GENERAL, Answer, Cited, Dropped, Line
from kiwiresearch.ask.firewall import Borne, Judge, Reason, stands_alone
from kiwiresearch.ask.passages import Passage
from kiwiresearch.ask.quiz import Quiz
from kiwiresearch.ask.settings import Mode
from kiwiresearch.ask.sources import Source
from kiwiresearch.ask.spoken import Cutter, Said
from kiwiresearch.text.words import words_in

if TYPE_CHECKING:
    from kiwiresearch.reader.reader import Reader

QuoteOf = Callable[[Passage, int, int], Cited]
"""The words of a passage from one offset in its text to another, cited."""

SHARE: dict[Mode, float] = {"default": 0.6, "eli10": 0.45, "advanced": 0.6, "quiz": 0.6}
"""Simple words are often not those of the passage; numbers, names and denials are held as strictly."""

LONGEST_DROPPED = 200
LONGEST_SNIPPET = 300
SENTINEL = re.compile(r"\W*general\s*\(\s*no\s+local\s+cit\w*\s*\)\W*", re.IGNORECASE)
VERDICT = re.compile(r"(?:Yes|No)\s*[,.:;–—-]\s*(?=\w)")
"""A verdict is not borne out by anything; the sentence behind it is."""

SOURCES = re.compile(r"\W*(?:sources?|references?|citations?)\s*:.*", re.IGNORECASE)
ADDRESS = re.compile(r"\(?\b(?:https?://|www\.)\S+")
SEPARATORS = {"": " ", "line": "\n", "item": "\n- "}


class Draft:
    """Takes the words of a model and gives back those that may be shown."""

    def __init__(
        self, found: Answer, quote_of: QuoteOf, reader: Reader | None = None, *, withhold_general: bool = False
    ) -> None:
        self.language = (found.books[0].language if found.books else "") or "eng"
        self.given: dict[str, Passage] = {}
        self.lines: list[Line] = []
        self.dropped: list[Dropped] = []
        self.mended = 0
        self.text = ""
        self.is_general = False
        self._found = found
        self._judge = Judge(self.language, SHARE[found.mode], reader)
        self._quote_of = quote_of
        self._withhold_general = withhold_general
        self._quiz = Quiz() if found.mode == "quiz" else None
        self._cutter = Cutter(self.language, by_line=self._quiz is not None)
        self._quotes: dict[str, Source] = {}
        self._before: tuple[Passage, ...] | None = ()
        self._heading = ""
        self._opens = ""

    def give(self, passages: Sequence[Passage]) -> None:
        """Passages that can be cited from now on."""
        self.given |= {passage.key: passage for passage in passages}

    def feed(self, text: str) -> Iterator[str]:
        """What may be shown, as soon as it is whole and checked."""
        for said in self._cutter.feed(text):
            yield from filter(None, [self._take(said)])

    def end(self, *, is_whole: bool) -> Iterator[str]:
        """The rest; a sentence that was cut off is not shown."""
        if is_whole:
            for said in self._cutter.end():
                yield from filter(None, [self._take(said)])
        elif words := self._cutter.rest():
            self._drop(words, "cut off")
        if self._quiz and (left := self._quiz.left()):
            self._drop(left, "question without answer")

    def citations(self) -> tuple[Cited, ...]:
        """One for each passage that was used, in the order of the numbers in the text."""
        numbers = self._numbers()
        used = sorted(self._quotes.items(), key=lambda row: numbers[row[0]])
        return tuple(
            replace(self._quote_of(one.passage, one.start, one.end), key=key, number=numbers[key]) for key, one in used
        )

    def _numbers(self) -> dict[str, int]:
        """The numbers of the passages: those of the answer by rule keep theirs, whatever the model was given."""
        keys = dict.fromkeys((*(passage.key for passage in self._found.passages), *self.given))
        return {key: number for number, key in enumerate(keys, start=1)}

    def general(self, words: str) -> Iterator[str]:
        """A reply that nothing bears out, as general words."""
        self.is_general, self.dropped, self._opens = True, [], ""
        cutter = Cutter(self.language)
        for said in [*cutter.feed(words), *cutter.end()]:
            yield from filter(None, [self._take_general(said)])

    def _take(self, said: Said) -> str:
        self._opens = said.opens or self._opens
        if self.is_general:
            return self._take_general(said)
        sentinel = SENTINEL.match(said.text)
        if sentinel and self.lines:
            return self._drop(said.text, "general words")
        if sentinel:
            said = said._replace(text=said.text[sentinel.end() :])
            if not self._found.grounded:
                self.is_general = True
                return self._take_general(said)
            # The passages do answer, whatever the model thinks of them: its words are held to them like all others.
            if not words_in(said.text):
                return ""
        if self._quiz:
            return self._take_of_quiz(self._quiz, said)
        if said.kind == "heading":
            fits = not said.keys and self._judge.is_heading_of(said.text, self.given.values())
            self._heading = said.text if fits else ""
            return "" if fits else self._drop(said.text, "no key")
        return self._take_sentence(said)

    def _take_sentence(self, said: Said) -> str:
        text = VERDICT.sub("", said.text, count=1)
        text = text[:1].upper() + text[1:]
        if any(line.text.casefold() == text.casefold() for line in self.lines):
            return self._drop(text, "said twice")
        asked = self._found.asked if self._judge.is_fragment(text) else ""
        borne = self._judged(text, said.keys, asked)
        if isinstance(borne, str):
            return self._drop(text, borne)
        if not stands_alone(text, self.language, self._before, borne.support):
            return self._drop(text, "unresolved pronoun")
        return self._show(text, borne)

    def _take_of_quiz(self, quiz: Quiz, said: Said) -> str:
        """A question is shown with its answer or not at all, and what they say together must hold."""
        pair = quiz.take(said)
        if isinstance(pair, Dropped):
            self.dropped.append(replace(pair, text=pair.text[:LONGEST_DROPPED]))
            return ""
        if pair is None:
            return ""
        borne = self._judged(pair.answer, pair.keys, pair.question)
        if isinstance(borne, str):
            return self._drop(f"{pair.question} {pair.answer}", borne)
        quiz.count += 1
        self._opens = "line"
        first = self._show(f"Q: {pair.question}", borne)
        self._opens = "line"
        return first + self._show(f"A: {pair.answer}", borne._replace(mended=False))

    def _judged(self, text: str, keys: Sequence[str], asked: str) -> Borne | Reason:
        borne = self._judge.judged(text, keys, self.given, asked)
        if isinstance(borne, str) or self._found.grounded:
            return borne
        # The rules found nothing that answers, so proof is not enough: the passages must be about the question.
        is_about = self._judge.is_about(self._found.asked, [source.passage for source in borne.support])
        return borne if is_about else "not about the question"

    def _show(self, text: str, borne: Borne) -> str:
        for key in borne.keys:
            if key not in self._quotes:
                self._quotes[key] = next(source for source in borne.support if source.passage.key == key)
        numbers = [self._numbers()[key] for key in borne.keys]
        self.lines.append(Line(text, borne.keys))
        self.mended += borne.mended
        self._before = tuple(source.passage for source in borne.support)
        heading, opens = self._heading, self._opens
        if heading:
            self._heading, self._opens = "", "line"
            heading = self._put(heading)
            self._opens = opens or "line"
        return heading + self._put(f"{text} {''.join(f'[{number}]' for number in sorted(numbers))}")

    def _take_general(self, said: Said) -> str:
        """The model's own words, without anything that looks like a source."""
        text = " ".join(ADDRESS.sub("", SENTINEL.sub("", said.text, count=1)).split())
        if not words_in(text) or SOURCES.fullmatch(text):
            return ""
        if self._withhold_general:
            return self._drop(text, "general words")
        self.lines.append(Line(text, ()))
        return self._put(text if self.text else GENERAL + text)

    def _put(self, words: str) -> str:
        separator = SEPARATORS[self._opens] if self.text else "- " if self._opens == "item" else ""
        self._opens = ""
        self.text += separator + words
        return separator + words

    def _drop(self, text: str, reason: Reason) -> str:
        self.dropped.append(Dropped(text[:LONGEST_DROPPED], reason))
        self._before = None
        return ""


def snippet_of(text: str, start: int, end: int) -> str:
    """The words around a quote, in one line."""
    around = max((LONGEST_SNIPPET - (end - start)) // 2, 0)
    first = 0 if start <= around else text.find(" ", start - around, start) + 1 or start
    last = len(text) if len(text) - end <= around else max(text.rfind(" ", end, end + around), end)
    words = " ".join(text[first:last].split())
    return f"{'… ' if first else ''}{words}{' …' if last < len(text) else ''}"
