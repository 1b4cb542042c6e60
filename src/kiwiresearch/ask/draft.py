"""The reply of a model cut into sentences as it arrives, and what of it may be shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from kiwiresearch.ask.answer import (
    GENERAL,
    KEY_ALPHABET,
    KEY_LENGTH,
    Answer,
    AnswerCitation,
    AnswerSentence,
    DroppedSentence,
    Passage,
)
from kiwiresearch.ask.firewall import DropReason, PassageSentence, SentenceJudge, SupportedSentence, pronoun_is_clear
from kiwiresearch.ask.settings import Mode
from kiwiresearch.text.display import printable
from kiwiresearch.text.sentences import sentence_starts
from kiwiresearch.text.words import words_in

if TYPE_CHECKING:
    from kiwiresearch.reader.reader import Reader

LineStart = Literal["", "line", "item"]
ReplyKind = Literal["sentence", "heading"]

LONGEST_LINE = 4_000
"""A line without an end is cut here, so that each piece of it costs the same."""

GROUP = re.compile(r"\s*[\[【]([^\[\]【】\n]{1,80})[\]】]|\s*\(([a-z0-9]{6}(?:[,; ]+[a-z0-9]{6})*)\)")
LINK = re.compile(r"\[([^\[\]\n]{1,80})\]\([^()\s]{0,300}\)")
BETWEEN = re.compile(r"[,;|\s]+")
KEY = re.compile(rf"[{KEY_ALPHABET}]{{{KEY_LENGTH}}}")
KEY_LIKE = re.compile(r"\d{1,3}(?:†\w*)?|(?=[a-z]*\d)[a-z0-9]{4,12}|[a-z]{6}|keys?|sources?", re.IGNORECASE)
"""What a model writes where a key belongs: a key, one that it made up, or a number."""

BEHIND_STOP = re.compile(r"([.?!…。！？]+[)\"'”’»]*)((?:\s*[\[【][^\[\]【】\n]{1,80}[\]】])+)")
OPEN_GROUP = re.compile(r"\s*[\[【(][^\[\]【】()\n]{0,80}[\])】]?$|(?<=[\]】])\(\S{0,300}$")
"""A group at the end that is not whole yet, or may turn out to be a link."""

MARKER = re.compile(r"\s*(?:[-*•+–]|\d{1,2}[.)])\s+")
HEADING = re.compile(r"\s*(?:#{1,6}\s+(.+?)|\*\*([^*]+)\*\*:?)[\s#]*")
MARKUP = re.compile(r"\*\*|__|`|^\s*#{1,6}\s+|^\s*>\s*")
BEFORE_STOP = re.compile(r"\s+(?=[.,;:?!])")
TWO_STOPS = re.compile(r"([.?!…])\.(?=$|\s)")


class ReplySentence(NamedTuple):
    """A sentence without its marks, the keys it names, and whether it begins a line or an item of a list."""

    text: str
    keys: tuple[str, ...]
    line_start: LineStart = ""
    kind: ReplyKind = "sentence"


class SentenceCutter:
    """Takes a reply in pieces of any size and gives its sentences, each as soon as the next has begun.

    Where a reply is chopped makes no difference to what comes out. With `by_line` a line is not cut.
    """

    def __init__(self, language: str = "eng", *, by_line: bool = False) -> None:
        self._language = language
        self._by_line = by_line
        self._line = ""
        self._count = 0

    def feed(self, text: str) -> Iterator[ReplySentence]:
        """The sentences that are whole now."""
        for part in re.split(r"(\n)", text.replace("\r", "\n")):
            while len(self._line) + len(part) > LONGEST_LINE and part != "\n":
                room = LONGEST_LINE - len(self._line)
                self._line, part = self._line + part[:room], part[room:]
                yield from self.end()
            if part == "\n":
                yield from self.end()
            elif part:
                self._line += part
                yield from () if self._by_line or self._line.lstrip().startswith("#") else self._settled()

    def end(self) -> Iterator[ReplySentence]:
        """What was held back, as if it were whole."""
        yield from self._read(self._line, is_whole=True)
        self._line, self._count = "", 0

    def discard_rest(self) -> str:
        """What was held back, given up."""
        said = [one.text for one in self.end()]
        return " ".join(said)

    def _settled(self) -> Iterator[ReplySentence]:
        open_group = OPEN_GROUP.search(self._line)
        yield from self._read(self._line[: open_group.start()] if open_group else self._line, is_whole=False)

    def _read(self, line: str, *, is_whole: bool) -> Iterator[ReplySentence]:
        heading = HEADING.fullmatch(line)
        if heading and is_whole and not self._count:
            found = reply_sentence(heading[1] or heading[2], "line")
            yield from [found._replace(kind="heading")] if found.text else []
            return
        marker = MARKER.match(line)
        opens: LineStart = "item" if marker else "line"
        body = BEHIND_STOP.sub(r"\2\1", LINK.sub(_unlinked, line[marker.end() if marker else 0 :]))
        starts = [0] if self._by_line else sentence_starts(body, (), self._language)
        for number, (start, end) in enumerate(zip(starts, [*starts[1:], len(body)], strict=True)):
            if number < self._count:
                continue
            if not is_whole and not re.match(r"\s*\S+\s", body[end:]):
                return  # the next word may still show that this is no end
            self._count = number + 1
            found = reply_sentence(body[start:end], opens if number == 0 else "")
            if found.text:
                yield found


def reply_sentence(text: str, opens: LineStart = "") -> ReplySentence:
    """A sentence as it was written, with the keys taken out of it."""
    keys: list[str] = []

    def taken(found: re.Match[str]) -> str:
        marks = BETWEEN.split((found[1] or found[2]).strip())
        if not all(KEY_LIKE.fullmatch(mark) for mark in marks) or (found[2] and not any(map(str.isdigit, found[2]))):
            return found[0]
        keys.extend(mark.lower() for mark in marks)
        return ""

    words = GROUP.sub(taken, text)
    plain = " ".join(printable(MARKUP.sub("", words)).split())
    return ReplySentence(TWO_STOPS.sub(r"\1", BEFORE_STOP.sub("", plain)).strip(), tuple(dict.fromkeys(keys)), opens)


def _unlinked(found: re.Match[str]) -> str:
    return f"[{found[1]}]" if KEY.fullmatch(found[1]) else found[1]


MAX_QUESTIONS = 5
QUESTION = re.compile(r"(?:\d+[.)]\s*)?(?:q|question)\s*\d*\s*[:.)]\s*", re.IGNORECASE)
ANSWER = re.compile(r"(?:\d+[.)]\s*)?(?:a|answer)\s*\d*\s*[:)]\s*", re.IGNORECASE)
BOTH_ON_ONE_LINE = re.compile(r"(?<=[?.!])\s*(?:A|Answer)\s*\d*:\s*")


class QuizPair(NamedTuple):
    """A question, its answer, and the keys of both."""

    question: str
    answer: str
    keys: tuple[str, ...]


class Quiz:
    """Waits with each question for its answer."""

    def __init__(self) -> None:
        self.count = 0
        self._question: ReplySentence | None = None

    def take(self, said: ReplySentence) -> QuizPair | DroppedSentence | None:
        """A pair that is complete, a line that belongs to none, or nothing yet."""
        question = QUESTION.match(said.text)
        both = BOTH_ON_ONE_LINE.split(said.text, maxsplit=1)
        if len(both) == 2:
            words = both[0][question.end() if question else 0 :]
            return self._paired(said._replace(text=words), said._replace(text=both[1]))
        if question or (said.text.endswith("?") and not ANSWER.match(said.text)):
            left = self.take_unanswered()
            self._question = said._replace(text=said.text[question.end() if question else 0 :])
            return DroppedSentence(left, "question without answer") if left else None
        answer = ANSWER.match(said.text)
        if self._question is None:
            return DroppedSentence(said.text, "no key" if answer is None else "question without answer")
        asked, self._question = self._question, None
        return self._paired(asked, said._replace(text=said.text[answer.end() if answer else 0 :]))

    def take_unanswered(self) -> str:
        """The question that nobody has answered, which is forgotten now."""
        said, self._question = self._question, None
        return said.text if said else ""

    def _paired(self, asked: ReplySentence, answer: ReplySentence) -> QuizPair | DroppedSentence:
        if self.count >= MAX_QUESTIONS:
            return DroppedSentence(asked.text, "too many questions")
        return QuizPair(asked.text, answer.text, tuple(dict.fromkeys((*asked.keys, *answer.keys))))


QuoteOf = Callable[[Passage, int, int], AnswerCitation]
"""The words of a passage from one offset in its text to another, cited."""

SUPPORTED_SHARE: dict[Mode, float] = {"default": 0.6, "eli10": 0.45, "advanced": 0.6, "quiz": 0.6}
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
        self.passages: dict[str, Passage] = {}
        self.lines: list[AnswerSentence] = []
        self.dropped: list[DroppedSentence] = []
        self.rekeyed = 0
        self.text = ""
        self.is_general = False
        self._found = found
        self._judge = SentenceJudge(self.language, SUPPORTED_SHARE[found.mode], reader)
        self._quote_of = quote_of
        self._withhold_general = withhold_general
        self._quiz = Quiz() if found.mode == "quiz" else None
        self._cutter = SentenceCutter(self.language, by_line=self._quiz is not None)
        self._quotes: dict[str, PassageSentence] = {}
        self._before: tuple[Passage, ...] | None = ()
        self._heading = ""
        self._opens = ""

    def add_passages(self, passages: Sequence[Passage]) -> None:
        """Passages that can be cited from now on."""
        self.passages |= {passage.key: passage for passage in passages}

    def feed(self, text: str) -> Iterator[str]:
        """What may be shown, as soon as it is whole and checked."""
        for said in self._cutter.feed(text):
            yield from filter(None, [self._take(said)])

    def end(self, *, is_whole: bool) -> Iterator[str]:
        """The rest; a sentence that was cut off is not shown."""
        if is_whole:
            for said in self._cutter.end():
                yield from filter(None, [self._take(said)])
        elif words := self._cutter.discard_rest():
            self._drop(words, "cut off")
        if self._quiz and (left := self._quiz.take_unanswered()):
            self._drop(left, "question without answer")

    def citations(self) -> tuple[AnswerCitation, ...]:
        """One for each passage that was used, in the order of the numbers in the text."""
        numbers = self._numbers()
        used = sorted(self._quotes.items(), key=lambda row: numbers[row[0]])
        return tuple(
            replace(self._quote_of(one.passage, one.start, one.end), key=key, number=numbers[key]) for key, one in used
        )

    def _numbers(self) -> dict[str, int]:
        """The numbers of the passages: those of the answer by rule keep theirs, whatever the model was given."""
        keys = dict.fromkeys((*(passage.key for passage in self._found.passages), *self.passages))
        return {key: number for number, key in enumerate(keys, start=1)}

    def general(self, words: str) -> Iterator[str]:
        """A reply that nothing bears out, as general words."""
        self.is_general, self.dropped, self._opens = True, [], ""
        cutter = SentenceCutter(self.language)
        for said in [*cutter.feed(words), *cutter.end()]:
            yield from filter(None, [self._take_general(said)])

    def _take(self, said: ReplySentence) -> str:
        self._opens = said.line_start or self._opens
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
            fits = not said.keys and self._judge.is_heading_of(said.text, self.passages.values())
            self._heading = said.text if fits else ""
            return "" if fits else self._drop(said.text, "no key")
        return self._take_sentence(said)

    def _take_sentence(self, said: ReplySentence) -> str:
        text = VERDICT.sub("", said.text, count=1)
        text = text[:1].upper() + text[1:]
        if any(line.text.casefold() == text.casefold() for line in self.lines):
            return self._drop(text, "said twice")
        asked = self._found.asked if self._judge.is_fragment(text) else ""
        borne = self._judged(text, said.keys, asked)
        if isinstance(borne, str):
            return self._drop(text, borne)
        if not pronoun_is_clear(text, self.language, self._before, borne.support):
            return self._drop(text, "unresolved pronoun")
        return self._show(text, borne)

    def _take_of_quiz(self, quiz: Quiz, said: ReplySentence) -> str:
        """A question is shown with its answer or not at all, and what they say together must hold."""
        pair = quiz.take(said)
        if isinstance(pair, DroppedSentence):
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
        return first + self._show(f"A: {pair.answer}", borne._replace(rekeyed=False))

    def _judged(self, text: str, keys: Sequence[str], asked: str) -> SupportedSentence | DropReason:
        borne = self._judge.judge(text, keys, self.passages, asked)
        if isinstance(borne, str) or self._found.grounded:
            return borne
        # The rules found nothing that answers, so proof is not enough: the passages must be about the question.
        is_about = self._judge.is_about(self._found.asked, [source.passage for source in borne.support])
        return borne if is_about else "not about the question"

    def _show(self, text: str, borne: SupportedSentence) -> str:
        for key in borne.keys:
            if key not in self._quotes:
                self._quotes[key] = next(source for source in borne.support if source.passage.key == key)
        numbers = [self._numbers()[key] for key in borne.keys]
        self.lines.append(AnswerSentence(text, borne.keys))
        self.rekeyed += borne.rekeyed
        self._before = tuple(source.passage for source in borne.support)
        heading, opens = self._heading, self._opens
        if heading:
            self._heading, self._opens = "", "line"
            heading = self._put(heading)
            self._opens = opens or "line"
        return heading + self._put(f"{text} {''.join(f'[{number}]' for number in sorted(numbers))}")

    def _take_general(self, said: ReplySentence) -> str:
        """The model's own words, without anything that looks like a source."""
        text = " ".join(ADDRESS.sub("", SENTINEL.sub("", said.text, count=1)).split())
        if not words_in(text) or SOURCES.fullmatch(text):
            return ""
        if self._withhold_general:
            return self._drop(text, "general words")
        self.lines.append(AnswerSentence(text, ()))
        return self._put(text if self.text else GENERAL + text)

    def _put(self, words: str) -> str:
        separator = SEPARATORS[self._opens] if self.text else "- " if self._opens == "item" else ""
        self._opens = ""
        self.text += separator + words
        return separator + words

    def _drop(self, text: str, reason: DropReason) -> str:
        self.dropped.append(DroppedSentence(text[:LONGEST_DROPPED], reason))
        self._before = None
        return ""


def snippet_of(text: str, start: int, end: int) -> str:
    """The words around a quote, in one line."""
    around = max((LONGEST_SNIPPET - (end - start)) // 2, 0)
    first = 0 if start <= around else text.find(" ", start - around, start) + 1 or start
    last = len(text) if len(text) - end <= around else max(text.rfind(" ", end, end + around), end)
    words = " ".join(text[first:last].split())
    return f"{'… ' if first else ''}{words}{' …' if last < len(text) else ''}"
