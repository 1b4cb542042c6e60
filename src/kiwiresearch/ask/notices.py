"""Notices shown with an answer: hidden pages, newer books, and the model's part in it."""

from __future__ import annotations

from kiwiresearch.errors import ModelError
from kiwiresearch.llm import Model, model_label, short_model_name
from kiwiresearch.messages import Message
from kiwiresearch.zim import HiddenName, HiddenPages

UNSUPPORTED = Message(
    "The model's words were not borne out by the passages; these are the page's own.", "answer.model_unsupported"
)
CUT_OFF = Message(
    "The answer of the model was longer than allowed; its last sentence is left out.", "answer.model_cut_off"
)
REPEATED = Message("The model repeated itself and was stopped.", "answer.model_repeated")
WITHHELD = Message(
    "General words of a model are withheld here: the question is about something dangerous.", "answer.model_withheld"
)


def newer_book(title: str, date: str) -> Message:
    text = f"A newer book on the shelf has this page too: {title}, {date}."
    return Message(text, "answer.newer_book", title=title, date=date)


def introductions_only(title: str) -> Message:
    text = f"The book {title!r} holds introductions only: what it lacks, the full book may have."
    return Message(text, "answer.introductions_only", book=title)


def page_hidden(page: HiddenName) -> Message:
    text = f"The page {page.title!r} is hidden by {page.policy_name}: what other pages say may not be about that."
    return Message(text, "answer.page_hidden", page=page.title, policy=page.policy_name)


def pages_hidden(hidden: HiddenPages) -> Message:
    text = hidden.sentence("page", "that may answer this")
    return Message(text, "answer.pages_hidden", n=hidden.pages, policy=hidden.policy_name)


def model_broke_off(model: Model, why: str) -> Message:
    return Message(f"{model_label(model)} broke off: {why}.", "answer.model_broke_off", model=_named(model), why=why)


def model_failed(model: Model, why: str) -> Message:
    return Message(f"{model_label(model)} did not help: {why}.", "answer.model_failed", model=_named(model), why=why)


def model_silent(model: Model) -> Message:
    return Message(f"{model_label(model)} gave no answer.", "answer.model_silent", model=_named(model))


def model_rekeyed(count: int) -> Message:
    """Sentences for which the model named a passage that does not support them."""
    sentences = "one sentence" if count == 1 else f"{count} sentences"
    text = f"The model named the wrong passage for {sentences}; the one that bears it out is cited instead."
    return Message(text, "answer.model_rekeyed", n=count)


def _named(model: Model) -> Message:
    """The model's name for a message, without the path of its file, which only the English text includes."""
    try:
        name = short_model_name(model.name)
    except ModelError:
        name = ""
    return Message(model_label(model), "model.named", name=name) if name else Message("The model", "model.unnamed")
