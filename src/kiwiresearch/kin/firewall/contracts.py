"""What a verifying model may answer: every field checked, nothing more than was asked for.

`is_fact` can only be false, so that an inference that is not labelled as one is no reply at all.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from kiwiresearch.kin.fields import FieldName

Confidence = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
VerifierStatus = Literal["Verified", "Unverified", "Conflicting", "Not Found"]
Short = Annotated[str, Field(max_length=400)]


class Contract(BaseModel):
    """A reply, or a part of one."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class FieldResult(Contract):
    """What the verifier says of one field, and the words that say it."""

    field: FieldName
    value: Short
    status: VerifierStatus
    confidence: Confidence
    citation_snippet: str | None = None
    locator: str | None = None
    rationale: Short = ""

    @model_validator(mode="after")
    def _is_cited(self) -> Self:
        if self.status == "Verified" and not (self.citation_snippet or "").strip():
            raise ValueError(f"the field {self.field!r} is verified without a citation_snippet")
        return self


class HypothesisOut(Contract):
    """Something to look for."""

    type: Short
    text: Short
    evidence_hint: Short = ""
    priority: Confidence
    suggested_queries: Annotated[list[Short], Field(max_length=5)] = []
    is_fact: Literal[False]


class Contradiction(Contract):
    """Two values of one field that the source gives."""

    field: FieldName
    values: Annotated[list[Short], Field(min_length=2)]
    citation_snippets: list[str] = []
    rationale: Short = ""


class VerifierOut(Contract):
    """The whole reply of a verifier."""

    verification_results: list[FieldResult]
    hypotheses: list[HypothesisOut] = []
    contradictions: list[Contradiction] = []
    hallucination_flags: list[Short] = []

    @property
    def verified_fields(self) -> tuple[FieldResult, ...]:
        return tuple(one for one in self.verification_results if one.status == "Verified")

    @property
    def unverified_fields(self) -> tuple[FieldResult, ...]:
        return tuple(one for one in self.verification_results if one.status != "Verified")
