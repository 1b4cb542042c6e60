"""The sentences that runs write of themselves in English, by the names under which the catalogue has them."""

from __future__ import annotations

import re

REPR_QUOTED = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
"""Words of a book, as `repr` writes them."""

QUOTED = rf"(?:{REPR_QUOTED}|“[^“”]*”|«[^«»]*»)"
"""Words of a book, as `text.plain.quoted` writes them; older runs have them all as `repr` does."""

NUMBER = r"[0-9][0-9,]*"
SHARE = r"[0-9.]+%"
LEFT_TO_RIGHT = r"from left to right by how many links they are away from the pages the search began with\."

VERBATIM = frozenset(
    {"title", "listed", "book", "topic", "cues", "language", "share", "allowed", "said", "since", "until", "code"}
)
"""Parts of a sentence that come from a book or from the reader, and are shown as they stand."""

_FORMS = (
    # What a brief says of itself
    ("only_words", r"No page names the topic as it stands: these pages only share its words\."),
    (
        "only_parts",
        r"No page is about the topic as a whole: these pages only speak of it, or of a part of it\.",
    ),
    (
        "no_rules",
        r"There are no rules yet for claims in the language of the book \((?P<language>[^)]*)\): "
        r"only first sentences and tables were read\.",
    ),
    ("introductions", r"“(?P<book>.+)” holds the introductions of its articles only\."),
    # What is left open
    (
        "gap_introductions",
        r"“(?P<book>.+)” holds the introductions of its articles only: "
        r"what the later sections say is missing here, and is no gap in knowledge\.",
    ),
    (
        "gap_concept",
        rf"(?P<title>.+): (?P<n>{NUMBER}) of the pages read link to it, but hardly anything is claimed of it\.",
    ),
    (
        "gap_hedged",
        rf"(?P<title>.+): (?P<n>{NUMBER}) claims are hedged \((?P<cues>.*)\) and have no reference beside them\.",
    ),
    (
        "gap_question",
        rf"“(?P<title>.+)”: (?P<n>{NUMBER}) pages of the same kind have a section on it; "
        r"nothing here answers it for (?P<topic>.*)\.",
    ),
    (
        "gap_missing",
        r"Pages that the most relevant articles link to and that [\w ]+ used here do not hold: (?P<listed>.+)\. "
        r"That is a gap of this selection, not of knowledge\.",
    ),
    # Why two values do not agree
    ("of_other_times", r"They are of different times\."),
    ("of_other_groups", r"They are of different groups, places or measures\."),
    ("of_other_places", r"They are of different places\."),
    ("rounded", rf"They differ by (?P<share>{SHARE}), which rounding or estimating explains\."),
    ("within_rounding", r"The difference is within what rounding or estimating explains\."),
    ("too_far", rf"They differ by (?P<share>{SHARE}), more than the (?P<allowed>{SHARE}) allowed\."),
    ("none_alike", r"Both speak of the same thing, and no value of this kind is the same\."),
    ("no_common_day", r"Both date the same, and no day is within both\."),
    ("list_length", r"The list has (?P<n>[0-9]+) items, and the number said is (?P<said>[0-9.e+]+)\."),
    ("other_rank", r"One ranks it (?P<one>[0-9]+), the other (?P<other>[0-9]+)\."),
    ("denied", r"One says what the other denies\."),
    ("opposed", rf"One says (?P<one>{QUOTED}), the other (?P<other>{QUOTED})\."),
    ("but_for", rf"Word for word the same, but for (?P<one>{QUOTED}) and (?P<other>{QUOTED})\."),
    # What a picture is labelled with
    ("picture_links", r"How the pages are linked"),
    ("picture_time", r"Timeline"),
    ("pages_drawn", rf"(?P<n>{NUMBER}) pages, {LEFT_TO_RIGHT}"),
    ("some_pages_drawn", rf"(?P<n>{NUMBER}) of (?P<all>{NUMBER}) pages, {LEFT_TO_RIGHT}"),
    ("began_here", r"The search began here"),
    ("away", rf"(?P<n>{NUMBER}) links? away"),
    ("away_or_more", rf"(?P<n>{NUMBER}) links? or more away"),
    (
        "moments_drawn",
        rf"From (?P<since>.+) to (?P<until>.+): (?P<n>{NUMBER}) moments, "
        rf"of which (?P<labelled>{NUMBER}) are labelled\.",
    ),
    (
        "axis_broken",
        r"(?P<drawn>From .+ labelled\.) The axis is broken where no date falls for a long time; "
        r"its parts have scales of their own\.",
    ),
    ("year_bc", rf"(?P<year>{NUMBER}) BC"),
    ("year_ad", rf"AD (?P<year>{NUMBER})"),
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
    ("began_without", rf"Not asked: (?P<listed>.+)\. The host (?P<other>{QUOTED}) was away when the run began\."),
    ("made_under", r"Made under the policy of this desk: some pages or books are hidden by it\."),
    ("made_under_that_of", r"Made under the policy of (?P<said>.+): some pages or books are hidden by it\."),
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
