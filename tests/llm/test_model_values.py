"""The values that are sent to models are checked when they are made."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiwiresearch.errors import BadSettings
from kiwiresearch.llm.model import (
    EXTRACTION,
    WRITE_UP,
    ChatMessage,
    Options,
    ReplySchema,
    estimate_prompt,
    estimate_tokens,
    extraction_options,
    write_up_options,
)


@pytest.mark.parametrize("value", [0.0, 0.15, 0.3])
def test_extraction_is_cool(value: float) -> None:
    """Extraction takes temperatures from 0 to 0.3 (R22)."""
    assert extraction_options(value).temperature == EXTRACTION.checked(value) == value


@pytest.mark.parametrize("value", [-0.1, 0.31, 0.5, float("nan")])
def test_extraction_is_never_warm(value: float) -> None:
    """Any other temperature for extraction is a wrong setting that names its range (R22)."""
    with pytest.raises(BadSettings, match=r"extraction cannot be .* between 0 and 0\.3"):
        extraction_options(value)


@pytest.mark.parametrize("value", [0.4, 0.5, 0.7])
def test_a_write_up_is_warmer(value: float) -> None:
    """A write-up takes temperatures from 0.4 to 0.7 (R23)."""
    assert write_up_options(value).temperature == WRITE_UP.checked(value) == value


@pytest.mark.parametrize("value", [0.0, 0.39, 0.71, 1.0])
def test_a_write_up_is_neither_cold_nor_hot(value: float) -> None:
    """Any other temperature for a write-up is a wrong setting that names its range (R23)."""
    with pytest.raises(BadSettings, match=r"write-up cannot be .* between 0\.4 and 0\.7"):
        write_up_options(value)


def test_the_defaults_are_within_their_ranges() -> None:
    """What is used when nobody sets anything is allowed, and thinks little (R240)."""
    assert extraction_options().temperature == 0.0
    assert write_up_options().temperature == 0.5
    assert {options.reasoning_effort for options in (Options(), extraction_options(), write_up_options())} == {"low"}


def test_options_that_make_no_sense_are_refused() -> None:
    """No reply of no tokens, no unknown effort, no temperature beyond all reason, no strange role."""
    with pytest.raises(BadSettings, match="0 tokens"):
        Options(max_tokens=0)
    with pytest.raises(BadSettings, match="reasoning effort"):
        Options(reasoning_effort="huge")  # type: ignore[arg-type]
    with pytest.raises(BadSettings, match="temperature"):
        Options(temperature=3)
    with pytest.raises(BadSettings, match="'robot' is not the role of a message"):
        ChatMessage("robot", "beep")  # type: ignore[arg-type]


def test_equal_options_are_equal_however_they_were_written() -> None:
    """A whole number is the same temperature, and the order of a schema's keys is not a difference."""
    assert repr(Options(temperature=0)) == repr(Options(temperature=0.0))
    assert ReplySchema.of("a", {"x": 1, "y": 2}) == ReplySchema.of("a", {"y": 2, "x": 1})
    assert hash(Options(schema=ReplySchema.of("a", {"x": 1}))) == hash(Options(schema=ReplySchema.of("a", {"x": 1})))


@given(st.text(), st.text())
def test_more_text_is_never_fewer_tokens(one: str, two: str) -> None:
    """The guess grows with the text, and two texts together take hardly more than each alone."""
    assert estimate_tokens(one + two) >= estimate_tokens(one)
    assert estimate_prompt([one, two]) >= estimate_tokens(one) + estimate_tokens(two)


def test_the_gateways_weight_is_carried_only_by_those_who_use_it() -> None:
    """Neither the values nor recorded replies import an HTTP client or a validator."""
    code = (
        "import sys, kiwiresearch.llm.replay, kiwiresearch.llm.model;"
        "print([name for name in ('httpx2', 'pydantic') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
