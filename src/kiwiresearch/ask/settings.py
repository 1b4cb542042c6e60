"""Settings for answers, and the options of one question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

AskMode = Literal["default", "eli10", "advanced", "quiz"]
ASK_MODES: tuple[AskMode, ...] = ("default", "eli10", "advanced", "quiz")


@dataclass(frozen=True, slots=True)
class AskSettings:
    """Settings for answers: the table [ask] of the settings file.

    The settings whose names have `sim` are confidences, from 0 to 1, and not similarities.
    """

    top_pages: int = 3
    """How many pages remain after their titles and leads are scored."""

    passages: int = 6
    """The maximum number of passages that an answer uses and shows."""

    context_tokens: int = 2_700
    """How long these passages may be in total."""

    window_words: int = 160
    """A section longer than twice this is cut into windows of this many words."""

    overlap_words: int = 20
    """How many words two neighbouring windows share."""

    max_pages: int = 20
    """How many pages of a full-text search are read for passages."""

    max_passages: int = 120
    """How many of their passages are considered further."""

    widen: float = 2.0
    """How many times as many pages the wider search reads, if the full-text search found too little."""

    title_sim_exit: float = 0.6
    """With at least this confidence, a passage on a page that the question names ends the search before full text."""

    sim_threshold: float = 0.35
    """With at least this confidence, what full text finds is an answer; below it, the search is widened, and then the
    question is refused."""

    title_sim_exit_meaning: float = 0.6
    """`title_sim_exit` if meanings are compared with an embedder."""

    sim_threshold_meaning: float = 0.38
    """`sim_threshold` if meanings are compared with an embedder."""

    reader: bool = True
    """Choose the sentence by meaning too, with the reading model that ships with the program."""

    least_confidence: float = 0.1
    """Below this confidence of the reading model, the question is refused."""

    max_new_tokens: int = 512
    """The maximum length of a model's answer."""

    verbatim_dangers: bool = True
    """Answer questions about doses, voltages, dilutions and poisons with the passage alone, never with a model."""


@dataclass(frozen=True, slots=True)
class ConversationTurn:
    """An earlier question of the conversation, what it was about, and what was answered."""

    question: str
    subject: str = ""
    answer: str = ""


@dataclass(frozen=True, slots=True)
class AskOptions:
    """The options of one question."""

    mode: AskMode = "default"
    passages: int = 0
    """The maximum number of passages to show; 0 uses the settings."""
    page: str = ""
    """Answer from the page of this title or path alone."""
    book: str = ""
    """The UUID of the book with that page; if empty, all books are searched."""
    turns: tuple[ConversationTurn, ...] = ()
    """The conversation so far, oldest first."""
    fast: bool = False
    """Choose sentences by their words alone, without the reading model."""
    with_model: bool = True
    """If false, answer in the books' own words even if a model is configured."""
