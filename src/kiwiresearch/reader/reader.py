"""The reading model that ships with the program, and the encoding of questions and texts for it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from kiwiresearch.errors import ReaderUnavailable
from kiwiresearch.system import available_cores
from kiwiresearch.text import encodable

# The last three are spare tokens of the base model, to which training gave these meanings.
CLS, SEP, SENTENCE, HEADING, PRONOUN = "[CLS]", "[SEP]", "[unused0]", "[unused1]", "[unused2]"
MAX_TOKENS = 288
MAX_QUESTION_TOKENS, MAX_TITLE_TOKENS, MAX_HEADING_TOKENS = 48, 24, 16
TITLE_UNIT = -1
"""The number of the title among the units."""
MAX_CHARS = 4_000
"""The limit for one sentence or row, since a table row may be as long as a book."""


@dataclass(frozen=True, slots=True)
class TextToRead:
    """What the model is to read: consecutive sentences or rows of a page."""

    title: str
    heading: str
    units: tuple[str, ...]


class Mention(NamedTuple):
    """Words in a text: `text.units[unit][start:end]`, or of the title if `unit` is `TITLE_UNIT`."""

    unit: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class PlacedUnit:
    """A unit of a text in a window: the position of its mark, and the span of characters of each of its tokens."""

    number: int
    mark: int
    offsets: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Window:
    """The part of a text that the model reads at once."""

    ids: tuple[int, ...]
    kinds: tuple[int, ...]
    units: tuple[PlacedUnit, ...]
    title: PlacedUnit

    def tokens_of(self, mention: Mention) -> tuple[int, int] | None:
        """The first and last token of the words; None if they are not in the window."""
        placed = next(
            (placed_unit for placed_unit in (self.title, *self.units) if placed_unit.number == mention.unit), None
        )
        if placed is None:
            return None
        inside = [at for at, (a, b) in enumerate(placed.offsets) if a < mention.end and b > mention.start]
        return (placed.mark + 1 + inside[0], placed.mark + 1 + inside[-1]) if inside else None


def tokenizer_of(words: Sequence[str]) -> Tokenizer:
    """A tokenizer like BERT's: lower case, no accents, the longest known piece first."""
    model = WordPiece({word: index for index, word in enumerate(words)}, unk_token="[UNK]")  # noqa: S106
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    return tokenizer


class InputEncoder:
    """Encodes questions and texts with one tokenizer, which may have other names for the special tokens."""

    def __init__(
        self, tokenizer: Tokenizer, names: Mapping[str, str] | None = None, max_tokens: int = MAX_TOKENS
    ) -> None:
        self._tokenizer = tokenizer
        words = tokenizer.get_vocab()
        self._special_id = {
            mark: words[(names or {}).get(mark, mark)] for mark in (CLS, SEP, SENTENCE, HEADING, PRONOUN)
        }
        self._max_tokens = max_tokens

    def windows(self, question: str, text: TextToRead) -> Iterator[Window]:
        """The text in windows; each starts with the last sentence of the one before."""
        asked, context_ids, title = self._prefix(question, text)
        coded = self._tokenizer.encode_batch([_clean(unit) for unit in text.units], add_special_tokens=False)
        room = self._max_tokens - len(asked) - len(context_ids) - 1
        first = 0
        while first < len(coded):
            ids = [*asked, *context_ids]
            units: list[PlacedUnit] = []
            number = first
            while number < len(coded):
                # A unit that is longer than a window is cut, and the rest of it is not read.
                taken = min(len(coded[number].ids), room - 1)
                if units and len(ids) + 1 + taken >= self._max_tokens:
                    break
                offsets = tuple((start, end) for start, end in coded[number].offsets[:taken])
                units.append(PlacedUnit(number, len(ids), offsets))
                ids += [self._special_id[SENTENCE], *coded[number].ids[:taken]]
                number += 1
            ids.append(self._special_id[SEP])
            yield _window(ids, len(asked), units, title)
            if number >= len(coded):
                return
            first = max(number - 1, first + 1)

    def pronoun_window(self, text: TextToRead, at: int, end: int) -> Window:
        """A text whose last unit has a pronoun at `[at:end]`; if it does not fit, the first units are left out."""
        *before, last = text.units
        word = last[at:end]
        asked, context_ids, title = self._prefix(word.lower(), text)
        before_ids = self._tokenizer.encode(_clean(last[:at]), add_special_tokens=False)
        tail = [self._special_id[PRONOUN], *self._ids(last[at:], self._max_tokens)]
        coded = [*self._tokenizer.encode_batch([_clean(unit) for unit in before], add_special_tokens=False), before_ids]
        room = self._max_tokens - len(asked) - len(context_ids) - 1
        # The words after the pronoun get at most half of the room: names before it matter more.
        tail = tail[: max(room // 2 - len(before_ids.ids), 2)]
        first = 0
        while first < len(coded) - 1 and sum(len(item.ids) + 1 for item in coded[first:]) + len(tail) > room:
            first += 1
        ids = [*asked, *context_ids]
        units = []
        for number in range(first, len(coded)):
            taken = coded[number].ids[: room - len(tail) - 1]
            offsets = tuple((a, b) for a, b in coded[number].offsets[: len(taken)])
            units.append(PlacedUnit(number, len(ids), offsets))
            ids += [self._special_id[SENTENCE], *taken]
        ids += [*tail, self._special_id[SEP]]
        return _window(ids, len(asked), units, title)

    def _prefix(self, question: str, text: TextToRead) -> tuple[list[int], list[int], PlacedUnit]:
        """The encoded question, the encoded title and heading, and where the title is."""
        asked = [self._special_id[CLS], *self._ids(question, MAX_QUESTION_TOKENS), self._special_id[SEP]]
        coded = self._tokenizer.encode(_clean(text.title), add_special_tokens=False)
        title = PlacedUnit(
            TITLE_UNIT, len(asked) - 1, tuple((start, end) for start, end in coded.offsets[:MAX_TITLE_TOKENS])
        )
        context_ids = [
            *coded.ids[:MAX_TITLE_TOKENS],
            self._special_id[HEADING],
            *self._ids(text.heading, MAX_HEADING_TOKENS),
        ]
        return asked, context_ids, title

    def encode_text(self, text: str, max_tokens: int = 126) -> tuple[int, ...]:
        return (self._special_id[CLS], *self._ids(text, max_tokens), self._special_id[SEP])

    def _ids(self, text: str, max_tokens: int) -> list[int]:
        return list(self._tokenizer.encode(_clean(text), add_special_tokens=False).ids[:max_tokens])


def _window(ids: Sequence[int], question_size: int, units: Sequence[PlacedUnit], title: PlacedUnit) -> Window:
    """A window; the model tells the question (kind 0) from the text (kind 1) by the kinds of their tokens."""
    kinds = (0,) * question_size + (1,) * (len(ids) - question_size)
    return Window(tuple(ids), kinds, tuple(units), title)


def _clean(text: str) -> str:
    return encodable(text[:MAX_CHARS])


SCORE_STEP = 0.05
"""Scores are rounded to multiples of this: processors differ by a thousandth of it."""

NO_TEXT_SCORE = -20.0
"""The score of a text without content: lower than any the model gives."""

MAX_LOGIT = 40.0
MAX_ANSWER_TOKENS = 24
MAX_STARTS = 8
"""How many of the most likely first tokens are tried."""

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class UnitScores:
    """The model's judgement of one sentence or row."""

    relevance: float
    """In logits: above 0, it more likely answers the question than not."""
    start: int
    end: int
    """The words that answer best are `unit[start:end]`; empty if the unit has none."""
    answer_margin: float
    """How much better these words fit than 'no answer', in logits."""


@dataclass(frozen=True, slots=True)
class TextScores:
    """The model's judgement of a text and of each of its units."""

    answers: float
    yes: float
    """How much more the text says yes than no, for yes-or-no questions."""
    units: tuple[UnitScores, ...]


class Reader:
    """One loaded model, without state.

    Threads that share it take turns, one window at a time: more at once would not be faster, and need more memory.
    """

    def __init__(self, folder: Traversable | None = None, *, threads: int = 1) -> None:
        folder = folder or files("kiwiresearch.reader") / "data"
        manifest = json.loads((folder / "model.json").read_text(encoding="utf-8"))
        content = {name: (folder / name).read_bytes() for name in manifest["sha256"]}
        for name, wanted in manifest["sha256"].items():
            if sha256(content[name]).hexdigest() != wanted:
                raise ReaderUnavailable(
                    f"The reading model is damaged: {name!r} is not the original file.",
                    remedy="Reinstall kiwiresearch.",
                )
        self.id = f"{manifest['name']}-{manifest['sha256']['reader.onnx'][:12]}"
        self._encoder = InputEncoder(tokenizer_of(content["words.txt"].decode().split("\n")))
        self._session = _open_session(content["reader.onnx"], threads)
        self._lock = Lock()

    def read(self, question: str, texts: Sequence[TextToRead]) -> list[TextScores]:
        """How well each text answers the question, and where."""
        return [self._read(question, text) for text in texts]

    def referents(self, text: TextToRead, at: int, end: int, names: Sequence[Mention]) -> list[float]:
        """The probability, for each name, that the pronoun `text.units[-1][at:end]` refers to it.

        The rest, up to 1, is the probability that it refers to none of them; a name outside the window has 0.
        """
        # The odds of a name against "none of them", as `exp` of the difference of logits; "none" itself has the odds 1.
        window = self._encoder.pronoun_window(text, at, end)
        spans = self._run(window.ids, window.kinds, ["spans_of_tokens"])[0][0]
        no_answer = float(spans[0].sum())

        def odds_of(tokens: tuple[int, int] | None) -> float:
            if tokens is None:
                return 0.0
            first, last = tokens
            return math.exp(min(_step(float(spans[first, 0] + spans[last, 1]) - no_answer), MAX_LOGIT))

        odds = [odds_of(window.tokens_of(name)) for name in names]
        return [name_odds / (1 + sum(odds)) for name_odds in odds]

    def vectors(self, texts: Sequence[str]) -> Floats:
        """A vector of length one for each text; texts of similar meaning have similar vectors."""
        rows = []
        for text in texts:
            ids = self._encoder.encode_text(text)
            tokens = self._run(ids, (0,) * len(ids), ["tokens"])[0]
            mean = tokens[0].mean(axis=0)
            rows.append(mean / max(float(np.linalg.norm(mean)), 1e-9))
        return np.array(rows, np.float32)

    def _read(self, question: str, text: TextToRead) -> TextScores:
        found: dict[int, UnitScores] = {}
        answers, yes = NO_TEXT_SCORE, 0.0
        for window in self._encoder.windows(question, text):
            spans, sentences, passage = self._run(window.ids, window.kinds, OUTPUTS)
            # Of several windows, the one that answers best speaks for the text.
            if passage[0, 0, 0] > answers:
                answers, yes = float(passage[0, 0, 0]), float(passage[0, 0, 1] - passage[0, 0, 2])
            for placed in window.units:
                unit = _unit(placed, spans[0], sentences[0])
                before = found.get(placed.number)
                # The sentence that two windows share is read twice; the better reading counts.
                if before is None or unit.relevance > before.relevance:
                    found[placed.number] = unit
        return TextScores(_step(answers), _step(yes), tuple(found[index] for index in range(len(text.units))))

    def _run(self, ids: Sequence[int], kinds: Sequence[int], wanted: list[str]) -> list[Floats]:
        size = len(ids)
        given = {
            "ids": np.array([ids], np.int64),
            "kinds": np.array([kinds], np.int64),
            "positions": np.arange(size, dtype=np.int64)[None],
            "hidden": np.zeros((1, 1, 1, size), np.float32),
        }
        with self._lock:
            outputs: list[Floats] = self._session.run(wanted, given)
        return outputs


OUTPUTS = ["spans_of_tokens", "sentences_of_tokens", "passage_of_tokens"]


def _unit(placed: PlacedUnit, spans: Floats, sentences: Floats) -> UnitScores:
    relevance = _step(float(sentences[placed.mark, 0]))
    count = len(placed.offsets)
    if not count:
        return UnitScores(relevance, 0, 0, NO_TEXT_SCORE)
    inside = spans[placed.mark + 1 : placed.mark + 1 + count]
    first, last, best = 0, 0, -np.inf
    # The best end after each of the likeliest starts, instead of all pairs.
    for start in np.argsort(-inside[:, 0], kind="stable")[:MAX_STARTS]:
        ends = inside[start : start + MAX_ANSWER_TOKENS, 1]
        end = int(start) + int(ends.argmax())
        score = float(inside[start, 0] + inside[end, 1])
        if score > best:
            first, last, best = int(start), end, score
    no_answer = float(spans[0, 0] + spans[0, 1])
    return UnitScores(relevance, placed.offsets[first][0], placed.offsets[last][1], _step(best - no_answer))


def _step(value: float) -> float:
    return round(round(value / SCORE_STEP) * SCORE_STEP, 2)


def _open_session(content: bytes, threads: int) -> Any:
    try:
        import onnxruntime
    except ImportError as problem:
        raise ReaderUnavailable(
            "The reading model needs onnxruntime, which is not installed.",
            remedy="Install it with: pip install 'kiwiresearch[reader]'",
        ) from problem
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Idle threads would otherwise spin and take the cores from other requests.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.enable_cpu_mem_arena = False  # an arena would never free the memory of the largest window
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


@cache
def shared_reader() -> Reader:
    """The reader of this process, loaded on first use; it runs on up to four cores."""
    return Reader(threads=min(available_cores(), 4))
