"""Changes to the settings file: only the lines of changed keys are rewritten, so that comments stay."""

from __future__ import annotations

import json
import re
import stat
import threading
import tomllib
from collections.abc import Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal

from kiwiresearch.codec import JsonDict
from kiwiresearch.errors import BadSettings
from kiwiresearch.system import write_atomically
from kiwiresearch.workspace import settings as settings_module
from kiwiresearch.workspace.settings import Settings, defaults, environment_variable
from kiwiresearch.workspace.workspace import Workspace

SettingOrigin = Literal["environment", "file", "start", "default"]
"""Where a value comes from; 'start' is an option of the command that started the program."""

BY_HAND = "Change it in the file with a text editor."
# A line such as "[serve]  # for the school"; not "[[serve]]" or "hosts = [", which are not headers of tables.
HEADER = re.compile(r"\s*\[\s*(?P<name>[A-Za-z0-9_.\"' -]+?)\s*\]\s*(?:#.*)?$")
ARRAY_HEADER = re.compile(r"\s*\[\[")
# In `theme = "a # b"  # mine` only '  # mine' is the comment: quoted parts are skipped as a whole.
COMMENT_AFTER = re.compile(r"""(?:[^#"']|"(?:[^"\\]|\\.)*"|'[^']*')*?(?P<comment>\s*#.*)$""")

_lock = threading.Lock()


def setting_value(settings: Settings, key: str) -> Any:
    """The value of a key such as 'model_url' or 'serve.theme'."""
    return attrgetter(key)(settings)


def setting_origins(workspace: Workspace) -> dict[str, SettingOrigin]:
    """Where the value of each key comes from."""
    in_file = _values_in(_read(workspace)) or {}
    found: dict[str, SettingOrigin] = {}
    for key, default in defaults().items():
        if environment_variable(key) in workspace.environment:
            found[key] = "environment"
        elif key in in_file:
            found[key] = "file"
        else:
            found[key] = "default" if setting_value(workspace.settings, key) == default else "start"
    return found


def save_settings(workspace: Workspace, changes: Mapping[str, Any]) -> Settings:
    """Write keys to the settings file, and return the settings with them; a value of None removes the key.

    The new file is checked before it replaces the old one: it must be valid, and nothing else may have changed.
    """
    with _lock:
        before = _read(workspace)
        text = before
        for key, value in changes.items():
            text = with_key(text, key, value)
        expected = dict(_values_in(before) or {})
        for key, value in changes.items():
            expected.pop(key, None)
            if value is not None:
                expected[key] = list(value) if isinstance(value, tuple) else value
        if _values_in(text) != expected:
            raise BadSettings(
                "This setting cannot be changed here, because of how the settings file is written.", remedy=BY_HAND
            )
        settings_module.with_values(Settings(), {key: (repr(key), value) for key, value in expected.items()})
        try:
            _write(workspace.folders.settings_file.resolve(), text)
        except OSError as problem:
            raise BadSettings(
                f"The settings file cannot be written: {problem.strerror}.",
                remedy="Check the permissions of its folder.",
            ) from problem
        # Variables of the environment stay above the file, and so do options that the program was started with.
        free = {key: value for key, value in changes.items() if environment_variable(key) not in workspace.environment}
        values = {key: (repr(key), defaults()[key] if value is None else value) for key, value in free.items()}
        return settings_module.with_values(workspace.settings, values)


def _write(file: Path, text: str) -> None:
    """Write the file with the permissions it has. A new one may contain a key, so it is for its owner only."""
    write_atomically(file, text, stat.S_IMODE(file.stat().st_mode) if file.exists() else 0o600)


def with_key(text: str, key: str, value: Any) -> str:
    """The text of a settings file with one key set, or removed if the value is None."""
    table, dot, name = key.rpartition(".")
    lines = text.splitlines()
    start, end = _section(lines, table if dot else "")
    if start < 0:
        if value is None:
            return text
        head = [*lines, ""] if lines and lines[-1].strip() else lines
        return "\n".join([*head, f"[{table}]", f"{name} = {toml_value(value)}"]) + "\n"
    found = _assignment(lines, start, end, name)
    if found is None:
        if value is None:
            return text
        at = end
        while at > start and not lines[at - 1].strip():
            at -= 1  # before the empty lines that separate sections
        lines.insert(at, f"{name} = {toml_value(value)}")
    else:
        first, last = found
        comment = COMMENT_AFTER.match(lines[first]) if first + 1 == last else None
        new = [] if value is None else [f"{name} = {toml_value(value)}{comment['comment'] if comment else ''}"]
        lines[first:last] = new
    return "\n".join(lines) + "\n"


def toml_value(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, str):
        # The escapes of JSON are those of TOML; the one character that JSON leaves alone is DEL.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)


def _section(lines: list[str], table: str) -> tuple[int, int]:
    """The lines of a table, from the first after its header; -1 if it is not there. The top has no header."""
    start = 0 if not table else -1
    for index, line in enumerate(lines):
        header = HEADER.match(line)
        if header is None and not ARRAY_HEADER.match(line):
            continue
        if start >= 0:
            return start, index
        if header is not None and header["name"] == table:
            start = index + 1
    return start, len(lines)


def _assignment(lines: list[str], start: int, end: int, name: str) -> tuple[int, int] | None:
    """The first line of the assignment to a name, and the line after its value, which may take several."""
    for first in range(start, end):
        if re.match(rf"\s*{re.escape(name)}\s*=", lines[first]):
            # Lines are added until they are valid TOML, because a list or a text may take several.
            for last in range(first + 1, end + 1):
                try:
                    tomllib.loads("\n".join(lines[first:last]))
                except tomllib.TOMLDecodeError:
                    continue
                return first, last
    return None


def _read(workspace: Workspace) -> str:
    try:
        return workspace.folders.settings_file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as problem:
        raise BadSettings(f"The settings file cannot be read: {problem}.", remedy="Check the file.") from problem


def _flat(table: Mapping[str, object]) -> JsonDict:
    found: JsonDict = {}
    for key, value in table.items():
        if isinstance(value, dict):
            found |= {f"{key}.{inner}": item for inner, item in value.items()}
        else:
            found[key] = value
    return found


def _values_in(text: str) -> JsonDict | None:
    """The values of a settings file by key; None if it is not valid."""
    try:
        return _flat(tomllib.loads(text))
    except ValueError:
        return None
