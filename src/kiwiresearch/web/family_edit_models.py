"""The changes that an owner may make to a family, as bodies of requests and as forms of the web interface."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import Body as FromBody
from pydantic import Field, StrictBool, StrictInt, TypeAdapter

from kiwiresearch.cases import MAX_TEXT, Basis, Case, EditRecord, RelativeRole, editing
from kiwiresearch.codec import Record
from kiwiresearch.kin import FieldName, InformationKind, PersonId, Qualifier, SourceForm
from kiwiresearch.kin.store import AttachmentRole
from kiwiresearch.web.bodies import REPLACE_SURROGATES, Body, Name

Id = Annotated[str, Field(min_length=1, max_length=100)]
PersonField = Annotated[Id, Field(description="The `id` of a person.")]
FactField = Annotated[Id, Field(description="The `id` of a fact or relationship.")]
LongText = Annotated[str, Field(max_length=MAX_TEXT), REPLACE_SURROGATES]
Required = Annotated[Name, Field(min_length=1)]


class EditBody(Body):
    """What every change may have: why it is made, and from which source."""

    note: Annotated[LongText, Field(description="Why you are making this change. Only owners see this.")] = ""
    source: Annotated[Name, Field(description="The title of your own source, such as a letter or a record.")] = ""
    locator: Annotated[Name, Field(description="The page or number in it.")] = ""
    dated: Annotated[Name, Field(description="When the source was made.")] = ""
    transcript: Annotated[LongText, Field(description="The words of the source.")] = ""
    page: Annotated[Name, Field(description="Instead: the title, path or address of a page of a book.")] = ""
    quote: Annotated[LongText, Field(description="The words of that page; by default the value.")] = ""
    form: SourceForm = "authored"
    information: InformationKind = "undetermined"
    seen: Annotated[
        StrictInt | None,
        Field(description="The `version` of the person when you read it; if it has changed since, the reply is 409."),
    ] = None

    def basis(self, author: str) -> Basis:
        return Basis(
            self.note,
            self.source,
            self.locator,
            self.dated,
            self.transcript,
            self.page,
            self.quote,
            self.form,
            self.information,
            author,
            self.seen,
        )

    def apply(self, case: Case, basis: Basis) -> PersonId:
        """Make the change, and return the id of a person it is about; empty if there is nobody to show."""
        raise NotImplementedError


class AddPerson(EditBody):
    """Add a person."""

    kind: Literal["add_person"]
    name: Required
    sex: Annotated[Name, Field(description="male, female, or empty.")] = ""

    def apply(self, case: Case, basis: Basis) -> PersonId:
        return editing.add_person(case, self.name, self.sex, basis)


class AddRelative(EditBody):
    """Add a person who is a relative of another."""

    kind: Literal["add_relative"]
    person: PersonField
    role: RelativeRole
    name: Required
    sex: Name = ""

    def apply(self, case: Case, basis: Basis) -> PersonId:
        return editing.add_relative(case, self.person, self.role, self.name, basis, self.sex)


class AddFact(EditBody):
    """Enter a value, or correct an entry. What books say stays beside it."""

    kind: Literal["add_fact"]
    person: PersonField
    field: FieldName
    value: Required
    instead_of: Annotated[str, Field(max_length=100, description="The `id` of the entry that is corrected.")] = ""

    def apply(self, case: Case, basis: Basis) -> PersonId:
        editing.add_fact(case, self.person, self.field, self.value, basis, instead_of=self.instead_of)
        return self.person


class AddName(EditBody):
    """Add another name of a person."""

    kind: Literal["add_name"]
    person: PersonField
    name: Required

    def apply(self, case: Case, basis: Basis) -> PersonId:
        editing.add_name(case, self.person, self.name, basis)
        return self.person


class RemoveName(EditBody):
    """Remove another name of a person."""

    kind: Literal["remove_name"]
    person: PersonField
    name: Required

    def apply(self, case: Case, basis: Basis) -> PersonId:
        editing.remove_name(case, self.person, self.name, basis)
        return self.person


class AddTie(EditBody):
    """Say that `other` is the father, child … of `person`."""

    kind: Literal["add_tie"]
    person: PersonField
    role: RelativeRole
    other: PersonField
    qualifier: Qualifier = ""
    since: Name = ""
    until: Name = ""

    def apply(self, case: Case, basis: Basis) -> PersonId:
        more = {"since": self.since, "until": self.until}
        editing.relate(case, self.person, self.role, self.other, basis, qualifier=self.qualifier, **more)
        return self.person


class Remove(EditBody):
    """Remove a fact or relationship. It stays in the case, but counts for nothing."""

    kind: Literal["remove"]
    id: FactField
    person: str = ""

    def apply(self, case: Case, basis: Basis) -> PersonId:
        editing.remove(case, self.id, basis)
        return self.person


class Accept(EditBody):
    """Accept a fact or relationship that the rules doubt, or that was removed."""

    kind: Literal["accept"]
    id: FactField
    person: str = ""

    def apply(self, case: Case, basis: Basis) -> PersonId:
        editing.accept(case, self.id, basis)
        return self.person


class Prefer(EditBody):
    """Prefer a value to all others of its field."""

    kind: Literal["prefer"]
    id: FactField
    person: str = ""

    def apply(self, case: Case, basis: Basis) -> PersonId:
        editing.prefer(case, self.id, basis)
        return self.person


class RemovePerson(EditBody):
    """Remove a person. Nothing about them is shown until this is undone."""

    kind: Literal["remove_person"]
    person: PersonField

    def apply(self, case: Case, basis: Basis) -> PersonId:
        editing.remove_person(case, self.person, basis)
        return ""


class Merge(EditBody):
    """Merge two people into the first."""

    kind: Literal["merge"]
    person: PersonField
    other: PersonField

    def apply(self, case: Case, basis: Basis) -> PersonId:
        editing.merge(case, self.person, self.other, basis)
        return self.person


class Separate(EditBody):
    """Say that two people are not the same."""

    kind: Literal["separate"]
    person: PersonField
    other: PersonField

    def apply(self, case: Case, basis: Basis) -> PersonId:
        editing.separate(case, self.person, self.other, basis)
        return self.person


class Split(EditBody):
    """Make two people of one: the facts and relationships belong to a new person of this name."""

    kind: Literal["split"]
    person: PersonField
    name: Required
    facts: Annotated[list[FactField], Field(min_length=1, max_length=1000)]

    def apply(self, case: Case, basis: Basis) -> PersonId:
        return editing.split(case, self.person, self.name, self.facts, basis)


class Detach(EditBody):
    """Detach a file from its person."""

    kind: Literal["detach"]
    id: Annotated[Id, Field(description="The `id` of an attachment.")]
    person: str = ""

    def apply(self, case: Case, basis: Basis) -> PersonId:
        editing.detach(case, self.id, basis)
        return self.person


AnyEdit = (
    AddPerson
    | AddRelative
    | AddFact
    | AddName
    | RemoveName
    | AddTie
    | Remove
    | Accept
    | Prefer
    | RemovePerson
    | Merge
    | Separate
    | Split
    | Detach
)
EditRequest = Annotated[AnyEdit, FromBody(discriminator="kind")]
EDIT_FORM: TypeAdapter[AnyEdit] = TypeAdapter(Annotated[AnyEdit, Field(discriminator="kind")])


class UndoEditBody(Body):
    """Undoing a change."""

    cascade: Annotated[StrictBool, Field(description="Also undo later changes that depend on it.")] = False


@dataclass(frozen=True, slots=True)
class EditReply(Record):
    """A change that was made."""

    edit: EditRecord
    person: str
    """The `id` of the person it is about, such as one that was added."""


@dataclass(frozen=True, slots=True)
class EditsReply(Record):
    """Changes, the latest first."""

    edits: tuple[EditRecord, ...]
    total: int


@dataclass(frozen=True, slots=True)
class AttachmentRecord(Record):
    """A file that is attached to a person."""

    id: str
    role: AttachmentRole
    name: str
    caption: str
    media_type: str
    source: str
    """The `id` of the source that it is a scan or a transcript of."""
    added_at: str
    url: str


@dataclass(frozen=True, slots=True)
class AttachmentsReply(Record):
    """The files of a person. Only the owner sees them."""

    attachments: tuple[AttachmentRecord, ...]
