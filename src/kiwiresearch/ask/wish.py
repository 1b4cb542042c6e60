"""How a question is to be answered."""

from __future__ import annotations

from dataclasses import dataclass

from kiwiresearch.ask.settings import Mode


@dataclass(frozen=True, slots=True)
class Turn:
    """An earlier question of the conversation, what it was about, and what was answered."""

    question: str
    subject: str = ""
    answer: str = ""


@dataclass(frozen=True, slots=True)
class AskWish:
    """What a user may ask for beside the question itself."""

    mode: Mode = "default"
    passages: int = 0
    """How many passages to show at most; 0 leaves it to the settings."""
    page: str = ""
    """Answer from the page of this title or path alone."""
    book: str = ""
    """The UUID of the book that page is in; empty looks in all of them."""
    turns: tuple[Turn, ...] = ()
    """The conversation so far, the oldest turn first."""
    fast: bool = False
    """Choose sentences by their words alone, without the reading model."""
    with_model: bool = True
    """False answers in the books' own words even where a model is set."""
