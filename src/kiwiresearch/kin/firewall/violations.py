"""The reasons for which the firewall rejects a fact, by code, and the reply that a verifying model must give.

In a code such as `HF_043`, HF is the hallucination firewall of the specification; each of its ten checks has five
numbers, and `HF_051` and `HF_052` are checks that were added. docs/reference/kin.md lists them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from kiwiresearch.kin.tree import FieldName

Code = Literal[
    "HF_001", "HF_002", "HF_006", "HF_007", "HF_008", "HF_011", "HF_012", "HF_013", "HF_014", "HF_015",
    "HF_016", "HF_017", "HF_018", "HF_019", "HF_021", "HF_022", "HF_023", "HF_026", "HF_027", "HF_028",
    "HF_031", "HF_032", "HF_036", "HF_037", "HF_041", "HF_042", "HF_043", "HF_044", "HF_045", "HF_046",
    "HF_051", "HF_052",
]  # fmt: skip

CODES: dict[Code, str] = {
    "HF_001": "there is no quote",
    "HF_002": "the quote is too long to prove anything",
    "HF_006": "the position of the quote is outside the source",
    "HF_007": "the quote is at another position in the source",
    "HF_008": "the source does not contain this quote",
    "HF_011": "the value is not a date, or not the date that was read",
    "HF_012": "the quote does not contain this date",
    "HF_013": "the date is more exact than the quote",
    "HF_014": "the quote gives this date to another event or person",
    "HF_015": "the quote does not contain this date for the marriage or its end",
    "HF_016": "the quote does not contain this name",
    "HF_017": "the value does not look like a name",
    "HF_018": "the value is a title or a country, not a name",
    "HF_019": "the quote does not say that this is the person's name",
    "HF_021": "the quote does not contain this place",
    "HF_022": "the quote gives this place to another event or person",
    "HF_023": "the value does not look like a place",
    "HF_026": "an inference is presented as a fact",
    "HF_027": "an inference is not labelled as one",
    "HF_028": "the source denies it, corrects it or presents it as a story",
    "HF_031": "the confidence is not between 0 and 1",
    "HF_032": "the confidence is not a number",
    "HF_036": "the address was not among those given",
    "HF_037": "the source does not link to this page",
    "HF_041": "the quote does not say that they are related in this way",
    "HF_042": "the quote says that they are related in another way",
    "HF_043": "the quote says it about someone else",
    "HF_044": "a person cannot be their own relative",
    "HF_045": "the quote is about a person of the other sex",
    "HF_046": "a competing value would be lost",
    "HF_051": "this cannot have happened",
    "HF_052": "this is about a living person",
}

CHECKS = (
    "citation required", "citation verbatim", "no invented dates", "no invented names", "no invented places",
    "hypotheses labelled", "confidence bounds", "no fabricated addresses", "relationships grounded",
    "conflicts preserved", "plausible", "living people",
)  # fmt: skip
"""The checks as the specification names them; a test ties each code to one of them."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A reason to reject a fact: its code, and the value or quote it is about."""

    code: Code
    about: str

    @property
    def check_number(self) -> int:
        """The number of the check in `CHECKS`, from 1; each of the first ten has five codes."""
        number = int(self.code[3:])
        return number - 40 if number > 50 else (number + 4) // 5

    def __str__(self) -> str:
        return f"{self.code}: {self.about!r}: {CODES[self.code]}."


Confidence = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
VerifierStatus = Literal["Verified", "Unverified", "Conflicting", "Not Found"]
Short = Annotated[str, Field(max_length=400)]


class Contract(BaseModel):
    """Base of the parts of a reply: strict, with no unknown fields."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class FieldResult(Contract):
    """The verdict on one field, and the quote it rests on."""

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
    """A guess worth a search; never a fact."""

    type: Short
    text: Short
    evidence_hint: Short = ""
    priority: Confidence
    suggested_queries: Annotated[list[Short], Field(max_length=5)] = []
    is_fact: Literal[False]


class Contradiction(Contract):
    """Values of one field that exclude each other."""

    field: FieldName
    values: Annotated[list[Short], Field(min_length=2)]
    citation_snippets: list[str] = []
    rationale: Short = ""


class VerifierOut(Contract):
    """The reply of a verifier."""

    verification_results: list[FieldResult]
    hypotheses: list[HypothesisOut] = []
    contradictions: list[Contradiction] = []
    hallucination_flags: list[Short] = []


def hallucination_firewall(llm_output: Mapping[str, Any], source_text: str) -> tuple[bool, list[str]]:
    """Whether a model's reply passes, and what is wrong with it; never raises.

    The specification requires this function under this name (R418). The program itself checks with `firewall.check`,
    which reads the quote; this accepts any JSON, unlike `VerifierOut`.
    """
    problems = [
        *(said for row in _rows(llm_output, "verification_results") for said in _result_problems(row, source_text)),
        *(said for row in _rows(llm_output, "hypotheses") for said in _hypothesis_problems(row)),
    ]
    return not problems, problems


def _rows(reply: Mapping[str, Any], name: str) -> Iterable[object]:
    rows = reply.get(name)
    return rows if isinstance(rows, list | tuple) else ()


def _result_problems(result: object, source_text: str) -> Iterator[str]:
    if not isinstance(result, Mapping):
        yield f"Result is not an object: '{str(result)[:50]}'"
        return
    snippet = result.get("citation_snippet") or ""
    if result.get("status") == "Verified" and not str(snippet).strip():
        yield f"Field '{result.get('field', '')}' verified without citation"
    if snippet and (not isinstance(snippet, str) or snippet not in source_text):
        yield f"Citation not found in source: '{str(snippet)[:50]}...'"
    confidence = result.get("confidence", 0.0)
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0.0 <= confidence <= 1.0:
        yield f"Confidence of field '{result.get('field', '')}' is not between 0.0 and 1.0"


def _hypothesis_problems(row: object) -> Iterator[str]:
    text = str(row.get("text", ""))[:50] if isinstance(row, Mapping) else str(row)[:50]
    label = row.get("is_fact") if isinstance(row, Mapping) else None
    if label is None:
        yield f"Hypothesis not marked as one: '{text}'"
    elif label is not False:
        yield f"Hypothesis incorrectly marked as fact: '{text}'"
