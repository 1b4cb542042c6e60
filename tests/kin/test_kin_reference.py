"""The reference of family research matches the code."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import yaml

from kiwiresearch.codec import plain
from kiwiresearch.kin.firewall.violations import CODES, Violation
from kiwiresearch.kin.loop.progress import STOP_CONDITIONS
from kiwiresearch.kin.loop.settings import BOUNDS, CaseSettings
from kiwiresearch.kin.privacy.redaction import PRIVACY_MODES
from kiwiresearch.kin.sources.plugin import PLACEHOLDERS, Compliance, FieldRule, Plugin, Reliability
from kiwiresearch.kin.tree import (
    Directness,
    FieldName,
    InformationKind,
    LivingStatus,
    Method,
    Qualifier,
    SourceForm,
    Status,
)

DOCS = Path(__file__).parent.parent.parent / "docs"
PAGE = (DOCS / "reference" / "kin.md").read_text(encoding="utf-8")


def test_every_setting_of_a_case_has_its_row() -> None:
    """docs/reference/kin.md gives each setting of a case with its default and its bounds."""
    for name, value in plain(CaseSettings()).items():
        default = f"{value}" if isinstance(value, int) else ", ".join(f"`{one}`" for one in value)
        bounds = " – ".join(f"{bound:,}" for bound in BOUNDS.get(name, ()))
        cells = f"| `{name}` | {default} | {bounds} |"
        assert re.sub(" +", " ", cells) in PAGE


def test_every_word_of_a_case_is_explained() -> None:
    """docs/reference/kin.md has each field, status, method, class of evidence and privacy mode."""
    kinds = (FieldName, Status, Method, SourceForm, InformationKind, Directness, LivingStatus, Qualifier)
    words = {word for kind in kinds for word in get_args(kind) if word} | set(PRIVACY_MODES)
    assert {word for word in words if f"`{word}`" not in PAGE} == set()


def test_every_code_of_the_firewall_has_its_row() -> None:
    """docs/reference/kin.md gives each code with its check and its meaning."""
    for code, meaning in CODES.items():
        assert re.search(
            rf"^\| `{code}` \| {Violation(code, '').check_number} [^|]+ \| {meaning} \|$", PAGE, re.MULTILINE
        )


def test_every_key_of_a_plugin_is_explained() -> None:
    """docs/reference/kin.md has each key that the file of a plugin may have, and its example is one."""
    keys = {name for part in (Plugin, Compliance, Reliability, FieldRule) for name in part.model_fields}
    assert {key for key in keys if f"`{key}`" not in PAGE} == set()
    assert {name for name in PLACEHOLDERS if f"`{{{name}}}`" not in PAGE} == set()
    example = re.search(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    assert example is not None
    Plugin.model_validate(yaml.safe_load(example[1]))


def test_every_command_and_option_is_in_the_reference(kiwi: Callable[..., tuple[int, str, str]]) -> None:
    """docs/reference/kin-commands.md names each command of family research and each of its options."""
    page = (DOCS / "reference" / "kin-commands.md").read_text(encoding="utf-8")
    listed = kiwi("kin", "--help")[1].partition("Commands:")[2]
    commands = re.findall(r"^  ([a-z]+) ", listed, re.MULTILINE)
    assert len(commands) > 15
    for command in commands:
        options = re.findall(r"(?<!\S)--[a-z-]+", kiwi("kin", command, "--help")[1])
        assert f"| `{command}" in page
        assert {option for option in options if f"`{option}" not in page} == set()


def test_every_stop_condition_is_explained() -> None:
    """docs/design/kin.md says what each of the five stop conditions means."""
    page = (DOCS / "design" / "kin.md").read_text(encoding="utf-8")
    assert {name for name in STOP_CONDITIONS if f"| `{name}` |" not in page} == set()
