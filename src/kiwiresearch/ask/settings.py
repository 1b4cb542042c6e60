"""Settings for answers, and the options of one question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Mode = Literal["default", "eli10", "advanced", "quiz"]
MODES: tuple[Mode, ...] = ("default", "eli10", "advanced", "quiz")


@dataclass(frozen=True, slots=True)
class AskSettings:
    """What a user can set about answers, below [ask] in the settings."""

    top_pages: int = 3
    """How many pages are kept when their titles and leads have been weighed."""

    passages: int = 6
    """How many passages an answer is taken from, and shows, at most."""

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
    """How much wider the second search is when the first gave too little."""

    title_sim_exit: float = 0.6
    """A passage this strong, of a page that is about the question, ends the search at once."""

    sim_threshold: float = 0.35
    """Below it the search is widened; below it still, nothing is answered."""

    title_sim_exit_meaning: float = 0.6
    """The same where meanings are compared with an embedder."""

    sim_threshold_meaning: float = 0.38
    """The same where meanings are compared with an embedder."""

    reader: bool = True
    """Choose the sentence by meaning too, with the reading model that ships with the program."""

    least_confidence: float = 0.1
    """Below it nothing is claimed to answer; for what the reading model chose."""

    max_new_tokens: int = 512
    """How long an answer of a model may be."""

    verbatim_dangers: bool = True
    """Questions about doses, voltages, dilutions and poisons are answered with the passage alone, never by a model."""


@dataclass(frozen=True, slots=True)
class ConversationTurn:
    """An earlier question of the conversation, what it was about, and what was answered."""

    question: str
    subject: str = ""
    answer: str = ""


@dataclass(frozen=True, slots=True)
class AskOptions:
    """What a user may choose for one question."""

    mode: Mode = "default"
    passages: int = 0
    """How many passages to show at most; 0 leaves it to the settings."""
    page: str = ""
    """Answer from the page of this title or path alone."""
    book: str = ""
    """The UUID of the book that page is in; empty looks in all of them."""
    turns: tuple[ConversationTurn, ...] = ()
    """The conversation so far, the oldest turn first."""
    fast: bool = False
    """Choose sentences by their words alone, without the reading model."""
    with_model: bool = True
    """False answers in the books' own words even where a model is set."""
