"""The sentences that runs write of themselves in English, by the names under which the catalogue has them."""

from __future__ import annotations

import re

REPR_QUOTED = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
"""Words of a book, as `repr` writes them."""

QUOTED = rf"(?:{REPR_QUOTED}|“[^“”]*”|«[^«»]*»)"
"""Words of a book, as `text.plain.quoted` writes them; older runs have them all as `repr` does."""

NUMBER = r"[0-9][0-9,]*"

VERBATIM = frozenset(
    {"title", "listed", "book", "topic", "cues", "language", "share", "allowed", "said", "since", "until", "code"}
)
"""Parts of a sentence that come from a book or from the reader, and are shown as they stand."""

_FORMS = (
    # Why a job ended before it was done
    ("nothing_about", rf"There is nothing about (?P<sought>{QUOTED}) in (?P<listed>.+)\."),
    ("near_it", r"Near it are: (?P<listed>.+)\."),
    ("other_words", r"Try fewer or other words, or add a book that has it\."),
    ("server_stopped", r"The server was stopped while the run went on\."),
    ("process_stopped", r"The process of the run was told to stop\."),
    ("process_ended", r"The process of the run ended (?:by |with code )?(?P<code>[^.]+)\."),
    ("server_ended", r"The server ended while the run went on\."),
    ("cannot_write", rf"The folder (?P<place>{QUOTED}) cannot be written: (?P<said>.+)\."),
    ("make_room", r"Free some space, then start it again: it goes on where it stopped\."),
    ("make_writable", r"Make it a folder you may write to and start it again, or choose another folder\."),
    ("resume", r"Resume it: it goes on where it stopped\."),
    (
        "host_away",
        rf"The book (?P<page>{QUOTED}) cannot be asked now\. "
        rf"The host (?P<other>{QUOTED}) does not answer(?: in time)?\.",
    ),
    # What a reader should know beside an answer
    (
        "named_hidden",
        rf"The page (?P<page>{QUOTED}) is hidden by the policy of this desk: "
        r"what other pages say may not be about that\.",
    ),
    (
        "named_hidden_by",
        rf"The page (?P<page>{QUOTED}) is hidden by the policy of (?P<said>.+): "
        r"what other pages say may not be about that\.",
    ),
    ("answers_hidden", rf"(?P<n>{NUMBER}) pages? that may answer this (?:is|are) hidden by the policy of this desk\."),
    (
        "answers_hidden_by",
        rf"(?P<n>{NUMBER}) pages? that may answer this (?:is|are) hidden by the policy of (?P<said>.+)\.",
    ),
)

FORMS = tuple((name, re.compile(form, re.DOTALL)) for name, form in _FORMS)
"""The sentences, and parts of sentences, of which runs are made, by the names under which the catalogue has them.

A named group is a number, words of a book in quotes, one of VERBATIM, or again one of these forms.
"""
