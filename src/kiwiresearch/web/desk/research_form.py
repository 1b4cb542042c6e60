"""The form that starts a run: the typed values, their faults, and the resulting request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict, Field

from kiwiresearch.codec import JsonDict
from kiwiresearch.crawl import STRATEGIES
from kiwiresearch.jobs import SETTING_OF_OPTION, ResearchRequest
from kiwiresearch.web.desk.shelf import BookChoice
from kiwiresearch.web.job_requests import MAX_BOOKS, MAX_WORDS
from kiwiresearch.workspace import RANGES, Settings

MAX_TYPED = 5_000
"""More than any field accepts, so that a text that is too long is shown again instead of just being refused."""

NUMBERS = {name: SETTING_OF_OPTION[name] for name in ("max_pages", "depth", "max_links")}
"""Integer fields, and the settings that give their defaults and bounds."""

SizeName = Literal["small", "medium", "large"]
SIZES: tuple[SizeName, ...] = ("small", "medium", "large")
MINUTE_S = 60
SMALL_PAGES = 10

MAX_DIGITS = 9

TypedField = Annotated[str, Field(max_length=MAX_TYPED)]


class ResearchForm(BaseModel):
    """What was typed, as text."""

    model_config = ConfigDict(extra="ignore")

    topic: TypedField = ""
    q: TypedField = ""
    """Another name for the topic, used by links from the box of the home page."""
    focus: TypedField = ""
    aspect: TypedField = ""
    size: TypedField = ""
    """One of SIZES, which counts if no number of pages was typed."""
    max_pages: TypedField = ""
    depth: TypedField = ""
    max_links: TypedField = ""
    strategy: TypedField = ""
    model: TypedField = ""
    critic: TypedField = ""
    books: Annotated[list[TypedField], Field(max_length=1_000)] = []


class ResearchQuery(ResearchForm):
    """The values that a link fills into the form, and the page of the list of runs."""

    page: Annotated[int, Field(ge=1, le=1_000_000)] = 1


@dataclass(frozen=True, slots=True)
class FieldFault:
    """The fault of a field: a key of the catalogue, and its values."""

    key: str
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FormOptions:
    """The choices of the form on this server."""

    settings: Settings
    books: tuple[BookChoice, ...]
    page_s: float = 0.0
    """How many seconds a page has taken in earlier research on this server; 0 if that is not known."""

    @property
    def sizes(self) -> Mapping[SizeName, int]:
        """The number of pages of each size: a large one has as many as the settings say."""
        large = self.settings.max_pages
        return {"small": min(SMALL_PAGES, max(large // 4, 1)), "medium": max(large // 2, 1), "large": large}

    def seconds(self, size: SizeName) -> float:
        return self.sizes[size] * self.page_s

    @property
    def is_quick(self) -> bool:
        """Whether even the largest size is known to take less than a minute, so that nobody needs a smaller one."""
        return bool(self.page_s) and self.seconds("large") < MINUTE_S

    def pages_of(self, form: ResearchForm) -> str:
        """The number of pages as text: the typed one, or that of the chosen size; empty if neither was given."""
        if form.max_pages.strip():
            return form.max_pages.strip()
        return next((str(pages) for name, pages in self.sizes.items() if name == form.size), "")

    def size_of(self, form: ResearchForm) -> SizeName | None:
        """The size that is chosen; None for another number of pages."""
        wanted = self.pages_of(form) or str(self.settings.max_pages)
        return next((name for name in reversed(SIZES) if str(self.sizes[name]) == wanted), None)

    def has_more(self, form: ResearchForm) -> bool:
        """Whether anything besides the topic and the size differs from what is usual."""
        usual, typed = self.field_values(ResearchForm()), self.field_values(form)
        return any(usual[name] != typed[name] for name in usual if name not in ("topic", "size"))

    @property
    def alike(self) -> frozenset[str]:
        """The books that share their title and date with another one."""
        counts = Counter((book.title, book.date) for book in self.books)
        return frozenset(book.id for book in self.books if counts[book.title, book.date] > 1)

    @property
    def has_model(self) -> bool:
        return bool(self.settings.model_url.strip())

    def bounds(self, name: str) -> tuple[int, int]:
        low, high = RANGES[NUMBERS[name]]
        return int(low), int(high)

    def field_values(self, form: ResearchForm) -> JsonDict:
        """The value of each field: the typed one, else the default of the settings."""
        numbers: JsonDict = {
            name: getattr(form, name) or str(getattr(self.settings, key)) for name, key in NUMBERS.items()
        }
        size = self.size_of(form)
        return numbers | {
            "topic": form.topic or form.q,
            "size": size,
            "max_pages": "" if size else form.max_pages,
            "focus": form.focus,
            "aspect": form.aspect,
            "strategy": form.strategy if form.strategy in STRATEGIES else self.settings.crawl_strategy,
            "model": "without" if form.model == "without" else "with",
            "critic": bool(form.critic),
            "books": set(form.books) or {book.id for book in self.books},
        }


def form_address(fields: Mapping[str, object]) -> str:
    """The address of the form with some fields filled in."""
    said = {name: value for name, value in fields.items() if value or value == 0}
    return f"/research?{urlencode(said, doseq=True, errors='replace')}"


def request_address(request: ResearchRequest) -> str:
    """The address of the form with an earlier request filled in."""
    ticked = {"model": "" if request.model else "without", "critic": "yes" if request.critic else ""}
    return form_address(asdict(request) | ticked)


@dataclass(frozen=True, slots=True)
class CheckedForm:
    """A submitted form: the request it makes, or the faults of its fields."""

    request: ResearchRequest | None
    faults: Mapping[str, FieldFault]


def check_form(form: ResearchForm, options: FormOptions) -> CheckedForm:
    """Check a submitted form."""
    faults = dict(_faults(form, options))
    if faults:
        return CheckedForm(None, faults)
    typed = {name: getattr(form, name).strip() for name in NUMBERS} | {"max_pages": options.pages_of(form)}
    numbers = {name: int(text) if text else None for name, text in typed.items()}
    is_every_book = {book.id for book in options.books} <= set(form.books)
    request = ResearchRequest(
        topic=form.topic,
        focus=form.focus,
        strategy=form.strategy or None,
        books=() if is_every_book else tuple(dict.fromkeys(form.books)),
        critic=bool(form.critic) and form.model != "without",
        model=form.model != "without",
        aspect=form.aspect,
        read_no_more=False,
        **numbers,
    )
    return CheckedForm(request, {})


def _faults(form: ResearchForm, options: FormOptions) -> Iterator[tuple[str, FieldFault]]:
    if not any(map(str.isalnum, form.topic)):
        yield "topic", FieldFault("research.problems.no_topic")
    for name in ("topic", "focus", "aspect"):
        if len(getattr(form, name)) > MAX_WORDS:
            yield name, FieldFault("research.problems.too_long", {"n": MAX_WORDS})
    for name in NUMBERS:
        low, high = options.bounds(name)
        if not _is_within(getattr(form, name).strip(), low, high):
            yield name, FieldFault("research.problems.number", {"low": low, "high": high})
    if form.size and form.size not in SIZES:
        yield "size", FieldFault("research.problems.choice")
    if form.strategy and form.strategy not in STRATEGIES:
        yield "strategy", FieldFault("research.problems.choice")
    yield from _faults_of_books(form, options)


def _is_within(text: str, low: int, high: int) -> bool:
    if not text:
        return True
    return text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS and low <= int(text) <= high


def _faults_of_books(form: ResearchForm, options: FormOptions) -> Iterator[tuple[str, FieldFault]]:
    there = {book.id for book in options.books}
    if len(there) > 1 and not form.books:
        yield "books", FieldFault("research.problems.no_book")
    elif not set(form.books) <= there:
        yield "books", FieldFault("research.problems.gone_book")
    # All books of the library may be more: they are not listed in the request.
    elif MAX_BOOKS < len(set(form.books)) < len(there):
        yield "books", FieldFault("research.problems.many_books", {"n": MAX_BOOKS})
