"""From what a person types to a page of one book: exact first, then forgiving."""

from __future__ import annotations

import difflib

from kiwiresearch.zim.archive import Archive
from kiwiresearch.zim.paths import EXTENSIONS

NEAR = 8


def find_path(archive: Archive, words: str) -> str | None:
    """The page of this title or path; case, underscores and file endings may differ."""
    words = " ".join(words.split()) if "\n" in words else words.strip()
    if not words:
        return None
    for title in dict.fromkeys((words, words.replace("_", " "), words[:1].upper() + words[1:])):
        found = archive.by_title(title)
        if found:
            return found
    underscored = words.replace(" ", "_")
    for name in dict.fromkeys((words, underscored, underscored[:1].upper() + underscored[1:])):
        for path in (name, *(f"{name}{extension}" for extension in EXTENSIONS)):
            found = archive.resolve(path)
            if found:
                return found
    spaced = words.replace("_", " ")
    folded = spaced.casefold()
    for match in archive.suggest(spaced, NEAR):
        if folded in (match.title.casefold(), match.alias.casefold()):
            return archive.resolve(match.path)
    for first in spaced.split()[:1]:  # a title whose markup the index keeps
        for match in archive.suggest(first, 4 * NEAR):
            if match.title.casefold() == folded:
                return match.path
    return None


def near_titles(archive: Archive, words: str) -> list[str]:
    """Titles that a person may have meant, nearest first."""
    words = words.replace("_", " ")
    titles = [match.title for match in archive.suggest(words, NEAR)]
    for length in (5, 4, 3, 2):  # a slip of the finger is seldom in the first letters
        if len(words) > length:
            titles += [match.title for match in archive.suggest(words[:length], 4 * NEAR)]
    for word in sorted(words.split(), key=len, reverse=True)[:2]:
        titles += [match.title for match in archive.suggest(word, NEAR)]
    titles += [match.title for match in archive.search(words, NEAR)]
    unique = list(dict.fromkeys(titles))
    ranked = difflib.get_close_matches(words, unique, n=3, cutoff=0.3)
    return ranked or unique[:3]
