"""What the routes about users, audit and policy take and give."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from kiwiresearch.store.people import Role

LONGEST_NAME = 100


class LimitsReply(BaseModel):
    """How much a user may do; 0 is no limit."""

    requests_a_minute: int
    questions_a_day: int
    running: int = Field(description="Runs that are worked on at once.")
    queued: int = Field(description="Runs that wait.")
    max_pages: int = Field(description="Pages of one run.")


class MeReply(BaseModel):
    """Who asks."""

    name: str = Field(description="Empty where the server has no users.")
    role: Role
    limits: LimitsReply


class ProfileReply(BaseModel):
    """The policy of the server, as readers are told of it."""

    name: str = Field(description="Whose policy it is; empty where nobody is named.")
    notice: str
    restricts: bool = Field(description="Whether anything is left out.")
    rules: int = Field(description="How many titles, or patterns of titles, are hidden.")
    books_left_out: int
    fingerprint: str = Field(description="A hash over the rules, which runs made under them carry.")
    hidden: list[str] | None = Field(None, description="The titles themselves, told to owners.")
    books: list[str] | None = Field(None, description="The books that are allowed, told to owners.")


class TokenReply(BaseModel):
    """A token, without what it is."""

    id: str
    user: str
    label: str
    made_at: str
    used_at: str = Field(description="When it was last seen, to the hour; empty if never.")
    revoked_at: str = Field(description="Since when it lets nobody in; empty while it does.")


class UserReply(BaseModel):
    """A user, and their tokens."""

    name: str
    role: Role
    limits: dict[str, int] = Field(description="What differs from the limits of the role.")
    made_at: str
    tokens: list[TokenReply]


class UsersReply(BaseModel):
    """All users."""

    users: list[UserReply]


class NewTokenReply(BaseModel):
    """A token that was just made: its text is told this once."""

    id: str
    token: str


class AuditRowReply(BaseModel):
    """One thing that somebody did."""

    seq: int
    at: str
    user: str
    host: str = Field(description="From where.")
    action: str
    subject: str
    outcome: str
    details: dict[str, Any]


class AuditReply(BaseModel):
    """Rows of the audit, the newest first."""

    rows: list[AuditRowReply]
    before: int | None = Field(description="Ask with this for older rows; null where there are none.")


class AuditCheckReply(BaseModel):
    """Whether every row is as it was written."""

    holds: bool
    row: int | None = Field(description="The first row that is not as it was written; null where all are.")
    why: str
    head: str = Field(description="The hash of the last row: noted elsewhere, it can be given as `head` later.")


class NewUser(BaseModel):
    """Somebody who is to come in."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(max_length=LONGEST_NAME, examples=["rita"])
    role: Role = "reader"


class UserChange(BaseModel):
    """What is to change about a user; what is left out stays."""

    model_config = ConfigDict(extra="forbid")

    role: Role | None = None
    limits: dict[str, int | None] | None = Field(None, description="Limits to set; null takes one back to the role's.")


class NewLabel(BaseModel):
    """What a new token is for."""

    model_config = ConfigDict(extra="forbid")

    label: str = Field("", max_length=100, examples=["library PC"])
