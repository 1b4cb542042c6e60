"""Notices shown with an answer: hidden pages, newer books, and the model's part in it."""

from __future__ import annotations

from kiwiresearch.errors import ModelError
from kiwiresearch.llm import Model, model_label, short_model_name
from kiwiresearch.messages import Message
from kiwiresearch.zim import HiddenName, HiddenPages

UNSUPPORTED = Message(
    "The passages do not support what the model wrote, so the page's own words are shown instead.",
    "answer.model_unsupported",
)
CUT_OFF = Message("The model's answer was too long, so its last sentence was removed.", "answer.model_cut_off")
REPEATED = Message("The model repeated itself and was stopped.", "answer.model_repeated")
WITHHELD = Message(
    "A model's general knowledge is not shown here because the question is about something dangerous.",
    "answer.model_withheld",
)


def newer_book(title: str, date: str) -> Message:
    text = f"Your library has this page in a newer book: {title}, {date}."
    return Message(text, "answer.newer_book", title=title, date=date)


def introductions_only(title: str) -> Message:
    text = f"The book {title!r} contains introductions only. The full book may say more."
    return Message(text, "answer.introductions_only", book=title)


def page_hidden(page: HiddenName) -> Message:
    text = (
        f"The page {page.title!r} is hidden by {page.policy_label}. What other pages say may be about something else."
    )
    return Message(text, "answer.page_hidden", page=page.title, policy=page.policy_label)


def pages_hidden(hidden: HiddenPages) -> Message:
    text = hidden.sentence("page", "that may answer this")
    return Message(text, "answer.pages_hidden", n=hidden.pages, policy=hidden.policy_label)


def model_broke_off(model: Model, why: str) -> Message:
    return Message(
        f"{model_label(model)} stopped before it finished: {why}.",
        "answer.model_broke_off",
        model=_named(model),
        why=why,
    )


def model_failed(model: Model, why: str) -> Message:
    return Message(
        f"{model_label(model)} could not be used: {why}.", "answer.model_failed", model=_named(model), why=why
    )


def model_silent(model: Model) -> Message:
    return Message(f"{model_label(model)} did not answer.", "answer.model_silent", model=_named(model))


def model_rekeyed(count: int) -> Message:
    """Sentences for which the model named a passage that does not support them."""
    sentences = "one sentence" if count == 1 else f"{count} sentences"
    supporting = "The passage that supports it is" if count == 1 else "The passages that support them are"
    text = f"The model cited the wrong passage for {sentences}. {supporting} cited instead."
    return Message(text, "answer.model_rekeyed", n=count)


def _named(model: Model) -> Message:
    """The model's name for a message, without the path of its file, which only the English text includes."""
    try:
        name = short_model_name(model.name)
    except ModelError:
        name = ""
    return Message(model_label(model), "model.named", name=name) if name else Message("The model", "model.unnamed")
