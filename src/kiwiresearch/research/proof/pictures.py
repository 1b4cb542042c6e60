"""The pictures of a brief, held against their bytes, their pages and their books."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256

from kiwiresearch.brief.brief import Brief, Picture
from kiwiresearch.brief.images import Images, images_of, images_text, media_type_of
from kiwiresearch.ids import BookId
from kiwiresearch.page.pictures import pictures_in
from kiwiresearch.research.proof.books import RunBook
from kiwiresearch.research.proof.files import BRIEF, PICTURES, document
from kiwiresearch.research.proof.ledger import Ledger
from kiwiresearch.research.proof.pages import RunPage
from kiwiresearch.zim.archive import Archive


def prove_pictures(
    files: Mapping[str, bytes],
    brief: Brief,
    books: Mapping[BookId, RunBook],
    pages: Sequence[RunPage],
    ledger: Ledger,
    *,
    again: bool,
) -> Images:
    """The pictures that the reports show: those that the brief names, as their books and pages have them."""
    images = _images(files.get(PICTURES), brief, ledger)
    titles = {page.ref: page.title for page in pages}
    spot = ledger.at(BRIEF)
    for picture in brief.pictures:
        with spot.guarding(f"the picture {picture.caption!r:.80} cannot be proved"):
            faults = [*_faults(picture, brief, images)]
            if picture.ref not in titles:
                faults.append("is of a page that the run did not read")
            elif (archive := books[picture.ref.book].archive) is not None:
                faults += _not_in_book(picture, archive, titles[picture.ref], again=again)
            for what in faults:
                spot.fail(f"the picture {picture.caption!r:.80} {what}")
    return images


def _images(raw: bytes | None, brief: Brief, ledger: Ledger) -> Images:
    spot = ledger.at(PICTURES)
    images: Images = {}
    with spot.guarding("it does not hold pictures as a run writes them"):
        if raw is not None:
            images = images_of(document(raw))
            if raw != images_text(images).encode():
                spot.fail("it is not written as a run writes it")
        named = {picture.sha256 for picture in brief.pictures}
        if set(images) != named or (raw is None) != (not named):
            spot.fail(f"it does not hold exactly the pictures that {BRIEF} names")
    return images


def _faults(picture: Picture, brief: Brief, images: Images) -> Iterator[str]:
    content = images.get(picture.sha256)
    if content is not None and media_type_of(content) != picture.media_type:
        yield f"is not of the type {picture.media_type}"
    if picture.part is not None and picture.part not in range(len(brief.body)):
        yield f"is said to be in part {picture.part}, and there are {len(brief.body)}"
    if sum(one.sha256 == picture.sha256 for one in brief.pictures) > 1:
        yield "is shown more than once"


def _not_in_book(picture: Picture, archive: Archive, title: str, *, again: bool) -> Iterator[str]:
    if sha256(archive.read(picture.path).content).hexdigest() != picture.sha256:
        yield f"is not what the book has at {picture.path!r:.80}"
    if again:
        page = archive.read(picture.ref.path)
        there = {(one.path, one.caption, one.alt) for one in pictures_in(page.content, page.ref.path, title)}
        if (picture.path, picture.caption, picture.alt) not in there:
            yield f"does not stand so on the page {title!r:.80}"
