"""Chooses pictures for a brief: one for the summary and one for each section, from what it quotes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256

from kiwiresearch.brief.brief import Brief, BriefPicture, Images, Statement, media_type_of
from kiwiresearch.errors import BookUnreachable, KiwiError
from kiwiresearch.ids import BookId
from kiwiresearch.page import PagePicture, pictures_in
from kiwiresearch.text import fold
from kiwiresearch.zim import Archive, EntryRef

MAX_PICTURES = 6
MIN_BYTES = 1_500
"""Smaller pictures are icons."""
MAX_BYTES = 400_000
MAX_TOTAL_BYTES = 1_500_000
MIN_SECTION_SHARE = 1 / 3
"""A section shows a picture only if this share of its sentences is from the picture's top-level section."""

ArchiveOf = Callable[[BookId], Archive]
Headings = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class IllustratedBrief:
    """A brief with its pictures, and their bytes."""

    brief: Brief
    images: Images


def illustrate(brief: Brief, archive_of: ArchiveOf) -> IllustratedBrief:
    """The brief with pictures from its pages, if they have any."""
    chooser = _PictureChooser(archive_of, {source.ref: source.title for source in brief.sources.pages})
    chooser.take(None, _summary_candidates(brief, chooser.pictures_on))
    for index, group in enumerate(brief.body):
        chooser.take(index, _part_candidates(_places(brief, group.statements), chooser.pictures_on))
    return IllustratedBrief(replace(brief, pictures=tuple(chooser.taken)), chooser.images)


@dataclass(frozen=True, slots=True)
class PictureCandidate:
    """A picture and its page."""

    ref: EntryRef
    picture: PagePicture


PicturesOn = Callable[[EntryRef], tuple[PagePicture, ...]]
SectionCounts = Counter[tuple[EntryRef, Headings]]
"""How many sentences are from which sections."""


def _places(brief: Brief, statements: Iterable[Statement]) -> SectionCounts:
    claims = (brief.claims[statement.claims[0]] for statement in statements)
    return Counter((claim.ref, _folded(claim.headings)) for claim in claims)


def _summary_candidates(brief: Brief, pictures_on: PicturesOn) -> Iterator[PictureCandidate]:
    """The pictures of the page that most of the summary is from, the infobox picture first."""
    pages = Counter(brief.claims[statement.claims[0]].ref for statement in brief.summary)
    for ref, _ in pages.most_common(1):
        yield from (
            PictureCandidate(ref, picture)
            for picture in sorted(pictures_on(ref), key=lambda picture: not picture.in_box)
        )


def _part_candidates(places: SectionCounts, pictures_on: PicturesOn) -> Iterator[PictureCandidate]:
    """The pictures of the sections that a part is from, those of its most used subsections first."""
    found: list[tuple[int, int, int, PictureCandidate]] = []
    for ref in dict.fromkeys(ref for ref, _ in places):
        for picture in pictures_on(ref):
            headings = _folded(picture.headings)
            exact = places[ref, headings]
            # Counted by top-level section, so that a picture of a subsection may illustrate what is around it.
            near = sum(count for (page, path), count in places.items() if page == ref and path[:1] == headings[:1])
            if near >= MIN_SECTION_SHARE * places.total():
                found.append((-exact, -near, len(found), PictureCandidate(ref, picture)))
    yield from (candidate for *_, candidate in sorted(found, key=lambda item: item[:3]))


def _folded(headings: Headings) -> Headings:
    return tuple(map(fold, headings))


@dataclass(slots=True)
class _PictureChooser:
    """Picks pictures that can be shown, each only once, within the limits."""

    archive_of: ArchiveOf
    titles: Mapping[EntryRef, str]
    taken: list[BriefPicture] = field(default_factory=list)
    images: dict[str, bytes] = field(default_factory=dict)
    pictures_on: PicturesOn = field(init=False)

    def __post_init__(self) -> None:
        # A cache per instance: `cache` on the method would keep every chooser alive.
        self.pictures_on = cache(self._pictures_on)

    def take(self, part: int | None, candidates: Iterator[PictureCandidate]) -> None:
        """Take the first candidate that can be shown and has not been taken yet."""
        if len(self.taken) == MAX_PICTURES:
            return
        for candidate in candidates:
            content = self._content(EntryRef(candidate.ref.book, candidate.picture.path))
            kind, sha = media_type_of(content), sha256(content).hexdigest()
            room = MAX_TOTAL_BYTES - sum(map(len, self.images.values()))
            if kind is not None and sha not in self.images and len(content) <= room:
                picture = candidate.picture
                self.images[sha] = content
                self.taken.append(
                    BriefPicture(candidate.ref, picture.path, picture.caption, picture.alt, kind, sha, part)
                )
                return

    def _pictures_on(self, ref: EntryRef) -> tuple[PagePicture, ...]:
        archive = self.archive_of(ref.book)
        try:
            entry = archive.read(ref.path)
        except BookUnreachable:
            raise
        except KiwiError:
            return ()
        return pictures_in(entry.content, entry.ref.path, self.titles.get(ref, "")) if entry.is_html else ()

    def _content(self, ref: EntryRef) -> bytes:
        """The bytes of a picture; none if it is missing, too small or too large."""
        archive = self.archive_of(ref.book)
        try:
            # Before reading, so that a huge file is not loaded only to be rejected.
            if archive.info(ref.path).size > MAX_BYTES:
                return b""
            content = archive.read(ref.path).content
        except BookUnreachable:
            raise
        except KiwiError:
            return b""
        return content if MIN_BYTES <= len(content) <= MAX_BYTES else b""
