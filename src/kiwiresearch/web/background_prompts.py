"""What Open WebUI asks a model beside the chat: titles, tags and the like need no book."""

from __future__ import annotations

import json
import re

OPENING = "### Task:"
HISTORY = "<chat_history>"
TOOLS = "Available Tools:"
SAID = re.compile(r"^(USER|ASSISTANT|SYSTEM|TOOL):[ \t]*", re.MULTILINE)
ASKED_KEY = re.compile(r'"(title|tags|follow_ups|queries|text|prompt)"\s*:')
USER_QUERY = re.compile(r"<user_query>(.*?)</user_query>", re.DOTALL)
CONTEXT_END = "</context>"
TITLE_WORDS = 6


def reply_to(prompt: str, system: str = "") -> str | None:
    """The answer to such a prompt, in the form it wants; None for a question of a person.

    A prompt is known by its opening, the conversation it carries and the key it wants: the words
    between them differ by version and can be set by the user.
    """
    if system.lstrip().startswith(TOOLS):
        return json.dumps({"tool_calls": []})
    instructions, carries, conversation = prompt.partition(HISTORY)
    if not instructions.lstrip().startswith(OPENING) or not carries:
        return None
    # An autocompletion prompt names its key before the conversation like all others.
    wanted = ASKED_KEY.search(instructions)
    if wanted is None:
        return None
    asked = _questions(conversation)
    replies: dict[str, object] = {
        "title": _title(asked[0] if asked else ""),
        "tags": [],
        "follow_ups": [],
        "queries": asked[-1:],
        "text": "",
        "prompt": asked[-1] if asked else "",
    }
    return json.dumps({wanted[1]: replies[wanted[1]]}, ensure_ascii=False)


def question_in(text: str) -> str:
    """The question of a person: Open WebUI puts it behind or below what it found itself."""
    if not text.lstrip().startswith(OPENING):
        return text
    quoted = USER_QUERY.search(text)
    if quoted:
        return quoted[1].strip()
    _, found, behind = text.rpartition(CONTEXT_END)
    return behind.strip() if found and behind.strip() else text


def _questions(conversation: str) -> list[str]:
    """What the user said, in order."""
    _, *parts = SAID.split(conversation.partition("</chat_history>")[0])
    turns = zip(parts[::2], parts[1::2], strict=True)
    return [" ".join(words.split()) for role, words in turns if role == "USER" and words.strip()]


def _title(question: str) -> str:
    words = question.rstrip("?!. ").split()
    return " ".join(words[:TITLE_WORDS]) + ("…" if len(words) > TITLE_WORDS else "")
