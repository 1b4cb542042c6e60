"""The class of evidence in the words of genealogists: source, information and evidence."""

from __future__ import annotations

from kiwiresearch.kin.tree import Directness, Evidence, InformationKind, Source, SourceForm
from kiwiresearch.messages import Message

FORM_PHRASES: dict[SourceForm, Message] = {
    "original": Message("original source", "evidence.original"),
    "derivative": Message("derivative source", "evidence.derivative"),
    "authored": Message("authored source", "evidence.authored"),
}
INFORMATION_PHRASES: dict[InformationKind, Message] = {
    "primary": Message("primary information", "evidence.primary"),
    "secondary": Message("secondary information", "evidence.secondary"),
    "undetermined": Message("undetermined information", "evidence.undetermined"),
}
DIRECTNESS_PHRASES: dict[Directness, Message] = {
    "direct": Message("direct evidence", "evidence.direct"),
    "indirect": Message("indirect evidence", "evidence.indirect"),
    "negative": Message("negative evidence", "evidence.negative"),
}


def evidence_phrase(evidence: Evidence, source: Source | None, *, with_author: bool = False) -> Message:
    """The class of evidence: the form of the source, the kind of information, how directly it bears on the fact.

    `with_author` adds who wrote the source, for readers who do not see it elsewhere.
    """
    parts = [FORM_PHRASES[source.form]] if source else []
    parts += [INFORMATION_PHRASES[evidence.information], DIRECTNESS_PHRASES[evidence.directness]]
    parts += _author_phrases(source) if source and with_author else ()
    return Message(", ".join(parts), "evidence.class", parts=tuple(parts))


def source_phrases(source: Source) -> tuple[Message, ...]:
    """The form of a source, and who wrote it if that is known."""
    return FORM_PHRASES[source.form], *_author_phrases(source)


def _author_phrases(source: Source) -> tuple[Message, ...]:
    official = (Message("official", "evidence.official"),) if source.official else ()
    contributed = (Message("written by contributors", "evidence.contributed"),) if source.user_contributed else ()
    return *official, *contributed
