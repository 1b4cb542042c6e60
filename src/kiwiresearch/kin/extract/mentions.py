"""Whether a name in a sentence means the page's person, and whom the sentence is about by its first words."""

from __future__ import annotations

from kiwiresearch.kin.extract.name_lists import TextSpan, is_name
from kiwiresearch.kin.extract.pronouns import CapitalizedWords, Referent
from kiwiresearch.kin.extract.subject import ArticlePerson, SentenceSpan
from kiwiresearch.kin.language import ENGLISH, Match, regex
from kiwiresearch.kin.names import name_words, parse_name, sex_of_name
from kiwiresearch.page import PageDoc
from kiwiresearch.text import fold


def is_mention(
    page: PageDoc, sentence: SentenceSpan, found: Match, subject: ArticlePerson, capitals: CapitalizedWords
) -> bool:
    """Whether a match of the subject's name is not part of another person's."""
    text, start, at = page.text, sentence.start, found.start()
    if not _is_complete_name(text, start, at, capitals) or _is_of_spouse(found[0], subject):
        return False
    if _is_otherwise_titled(page, start, at, subject):
        return False
    relative = ENGLISH.relative_named.search(text, start, at)
    return not (relative and "," not in relative[0]) and not ENGLISH.wife_named.search(text[start:at])


def _is_complete_name(text: str, start: int, at: int, capitals: CapitalizedWords) -> bool:
    """Whether a name is not the end of another person's: 'Hulagu Khan', 'Dafydd ap Llywelyn'."""
    before = regex.search(r"([\p{L}\p{M}'’\-]+\.?)\s+$", text[start:at])
    if not before:
        return True
    word = before[1]
    if word in ENGLISH.words["joining_particles"]:
        return False
    plain = fold(word)
    known = name_words()
    if not word[0].isupper() or plain in known.honorifics or plain in known.particles:
        return True
    return (
        before.start() == 0
        and plain in capitals.also_lowercase
        and plain not in known.male
        and plain not in known.female
    )


def _is_of_spouse(mention: str, subject: ArticlePerson) -> bool:
    """'Mrs. Carter', on the page of Mr. Carter."""
    title = mention.split()[0].rstrip(".").lower()
    known = name_words()
    return title in {"male": known.female_titles, "female": known.male_titles}.get(subject.sex, frozenset())


def _is_otherwise_titled(page: PageDoc, start: int, at: int, subject: ArticlePerson) -> bool:
    """'Earl Carter', on the page of a Carter whom the lead does not call an earl: it may be a first name."""
    before = regex.search(r"(\p{Lu}\p{Ll}+)\s+$", page.text[start:at])
    if not before or fold(before[1]) not in name_words().honorifics:
        return False
    return before[1].lower() not in page.text[subject.opening.start : subject.opening.end].lower()


def sentence_referent(text: str, state: Referent, subject: ArticlePerson, capitals: CapitalizedWords) -> Referent:
    """Whom the sentence is about, by its first words."""
    # The order matters: pronouns come before names, and what opens the sentence before what follows.
    first = regex.match(r"[\"“'(\s]*(\p{L}[\p{L}\p{M}'’\-]*)", text)
    word = first[1].lower() if first else ""
    if word == subject.pronoun:
        return "subject" if state == "subject" and not _is_about_another(text, subject) else "other"
    if word == subject.possessive:
        kin = ENGLISH.kin_noun.match(text, first.end() if first else 0)
        if state == "other" or (state == "relative" and kin and ENGLISH.of_either.match(kin["kind"])):
            return "other"
        return "relative" if kin else state
    if word in ("he", "she", "his"):
        return "other"
    mention = subject.mention.search(text)
    named = ENGLISH.name.match(text)
    if mention and mention.start() == 0:
        owner = regex.match(r"['’]s?\s", text[mention.end() :])
        return "relative" if owner else "subject"
    reported = ENGLISH.reported.match(text)
    if reported and subject.mention.match(text, reported.end()):
        return sentence_referent(text[reported.end() :], state, subject, capitals)
    joint = ENGLISH.joint.match(text)
    partner = subject.mention.match(text, joint.end()) if joint else None
    if partner and ENGLISH.couple_verb.match(text[partner.end() :]):
        return "subject"
    ruler = ENGLISH.somebody.match(text)
    if ruler and state == "subject" and not subject.role.match(f"the {ruler[1]}'s") and not mention:
        return "other"
    fronted = ENGLISH.fronted_by.match(text)
    named_after = subject.mention.match(text, fronted.end()) if fronted else None
    if named_after and regex.match(r"\s+\p{Ll}", text[named_after.end() :]):
        return "subject"
    if named and word != "born" and _is_other(named[0], subject, capitals):
        return "other"
    if named and _is_called_human(text, named.end(), named[0], subject, capitals):
        return "other"
    rival = ENGLISH.rival_regnal.search(text)
    if rival and (not mention or rival.start() < mention.start()):
        return "other"  # 'In 1810, George III was', on the page of George IV
    if mention and not any(
        found.start() > 0 and fold(found[0]) in capitals.persons and not ENGLISH.placed.search(text[: found.start()])
        for found in ENGLISH.cap.finditer(text[: mention.start()])
    ):
        return "subject"  # nobody else is named before
    return "other" if state == "relative" else state


def birth_name_in(text: str, sentence: SentenceSpan, heading: str, subject: ArticlePerson) -> TextSpan | None:
    """The name at birth, with which the first sentence of a section 'Early life' speaks of the person."""
    if sentence.kind != "paragraph" or not ENGLISH.birth_headings.search(heading):
        return None
    found = ENGLISH.begins_life.match(text, sentence.start, sentence.end)
    if not found or " " not in found["name"] or not is_name(found["name"]):
        return None
    words = {fold(word) for word in ENGLISH.cap.findall(found["name"])}
    lead = {fold(word) for word in ENGLISH.cap.findall(text[subject.opening.start : subject.opening.end])}
    is_known = bool(words & (subject.name_tokens | lead)) or bool(
        subject.mention.search(text, found.end("name"), found.end())
    )
    return TextSpan(*found.span("name")) if is_known and sex_of_name(found["name"]) in ("", subject.sex) else None


def _is_about_another(text: str, subject: ArticlePerson) -> bool:
    """Whether 'he' does something to the subject, and so is not the subject: 'He invited Verdi', 'He, in turn'."""
    done = ENGLISH.done_to.match(text)
    mention = subject.mention.match(text, done.end()) if done else None
    return bool(ENGLISH.in_turn.match(text) or (mention and text[mention.end() : mention.end() + 1] not in ("'", "’")))


def opening_kin(text: str, subject: ArticlePerson) -> Match | None:
    """The noun for the relative with whom a sentence opens: 'His younger sister', "Carter's father"."""
    mention = subject.mention.match(text)
    owner = regex.match(r"['’]s?", text[mention.end() :]) if mention else regex.match(r"\w+", text)
    return ENGLISH.kin_noun.match(text, (mention.end() if mention else 0) + (owner.end() if owner else 0))


def leaves_pronoun_to_subject(text: str, subject: ArticlePerson, capitals: CapitalizedWords) -> bool:
    """Whether a sentence about a relative leaves 'he' to the subject: 'Her father was a smith. She …'."""
    kin = opening_kin(text, subject)
    if not kin:
        return True
    sex = ENGLISH.kin_sex.get(kin["kind"].lower().split("-")[-1], "")
    if kin["kind"].endswith(("s", "ren", "family")) or ENGLISH.other_parent_too.search(text, kin.end()):
        return True
    if not sex or sex == subject.sex:
        return False
    own = ENGLISH.was_named.match(text, pos=kin.end())
    return not any(
        fold(found[0].split()[0]) in capitals.persons and not ENGLISH.placed.search(text[: found.start()])
        for found in ENGLISH.capital_run.finditer(text, own.end() if own else kin.end())
    )


def names_only_other_sex(text: str, subject: ArticlePerson, capitals: CapitalizedWords) -> bool:
    """Whether a sentence on the page of a man names only women: 'he' in the next one is still that man."""
    named = ENGLISH.name.match(text)
    opposite = subject.opposite
    pronoun = subject.opposite_opens(text)
    if not pronoun and not (named and opposite and sex_of_name(named[0]) == opposite):
        return False
    return all(
        subject.mention.match(found[0])
        or sex_of_name(found[0]) == opposite
        or fold(found[0].split()[0]) in capitals.place_names
        or ENGLISH.placed.search(text[: found.start()])
        for found in ENGLISH.capital_run.finditer(text, pronoun.end() if pronoun else 0)
    )


def _is_other(name: str, subject: ArticlePerson, capitals: CapitalizedWords) -> bool:
    plain = regex.sub(r"[\"“][^\"“”]*[\"”]", " ", name)
    tokens = [fold(token) for token in regex.findall(r"[\p{L}\p{M}'’\-]+", plain)]
    known = name_words()
    skipped = ENGLISH.words["conjunctions"] | ENGLISH.words["opening_particles"] | known.honorifics
    while len(tokens) > 1 and tokens[0] not in ENGLISH.nobody and tokens[0] in skipped:
        tokens = tokens[1:]
    if not tokens or tokens[0] in ENGLISH.nobody or tokens[0] in ENGLISH.places or tokens[0] in capitals.place_names:
        return False
    if set(tokens) <= subject.name_tokens or _is_written_out(tokens, subject):
        return False
    return len(tokens) > 1 or tokens[0] in capitals.persons or tokens[0] in known.male or tokens[0] in known.female


def _is_written_out(tokens: list[str], subject: ArticlePerson) -> bool:
    """'Tom Hay Carter', on the page of Tom Carter: with a middle name that the title lacks."""
    own = {fold(word) for word in parse_name(subject.name).given}
    return (
        len(own) == 1
        and len(tokens) > 2
        and tokens[0] != tokens[-1]
        and {tokens[0], tokens[-1]} <= subject.name_tokens
        and tokens[0] in own
    )


def _is_called_human(text: str, at: int, name: str, subject: ArticlePerson, capitals: CapitalizedWords) -> bool:
    """'Andrey was a musician': a person whom the page names only here."""
    if " " in name or fold(name) in subject.name_tokens | ENGLISH.nobody | ENGLISH.places | capitals.also_lowercase:
        return False
    noun = ENGLISH.was_a_noun.match(text[at:])
    return bool(noun and (ENGLISH.human.fullmatch(noun[1]) or noun[1].endswith("ist")))
