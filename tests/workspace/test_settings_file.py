"""Changes to the settings file keep everything that was not changed, comments too."""

from __future__ import annotations

import stat
import tomllib
from pathlib import Path

import pytest

from kiwiresearch.errors import BadSettings
from kiwiresearch.workspace.settings_file import save_settings, setting_origins, toml_value, with_key
from kiwiresearch.workspace.workspace import open_workspace

FILE = """\
# My own settings.
max_pages = 40  # enough for us
model_url = "http://127.0.0.1:8080/v1"
atlas = [
  "/a", # the first
  "/b",
]

[serve]
# Only this machine.
port = 9000

[limits]
researcher_running = 1
"""

CHANGES = [
    ("max_pages", 60, "max_pages = 60  # enough for us", "max_pages = 40"),
    ("model_name", "small", 'model_name = "small"', ""),
    ("model_url", None, "max_pages = 40", "model_url"),
    ("atlas", ("/c",), 'atlas = ["/c"]', "/b"),
    ("serve.theme", "dark", 'theme = "dark"', ""),
    ("serve.port", 9001, "port = 9001", "port = 9000"),
    ("policy.name", 'Lycée "P" # 1', 'name = "Lycée \\"P\\" # 1"', ""),
]


def others(text: str, key: str) -> dict[str, object]:
    """All values of a file but that of one key."""
    table, _, name = key.rpartition(".")
    values = tomllib.loads(text)
    (values.get(table, {}) if table else values).pop(name, None)
    return {name: part for name, part in values.items() if part != {}}


@pytest.mark.parametrize(("key", "value", "there", "gone"), CHANGES, ids=[row[0] for row in CHANGES])
def test_one_key_is_changed_and_nothing_else(key: str, value: object, there: str, gone: str) -> None:
    text = with_key(FILE, key, value)
    assert there in text
    assert not gone or gone not in text
    assert "# My own settings." in text
    assert "# Only this machine." in text
    assert others(text, key) == others(FILE, key)


@pytest.mark.parametrize("value", ["", "a\nb", "tab\t", "\x7f\x01", "\\", "日本", True, 0, 1.5, ("a", 'b"')])
def test_every_value_is_read_back_as_it_was(value: object) -> None:
    read = tomllib.loads(f"key = {toml_value(value)}")["key"]
    assert (tuple(read) if isinstance(read, list) else read) == value


def test_saved_settings_count_and_say_where_they_come_from(tmp_path: Path) -> None:
    """The environment stays above the file."""
    (tmp_path / "settings.toml").write_text(FILE, encoding="utf-8")
    environment = {"KIWIRESEARCH_HOME": str(tmp_path), "KIWIRESEARCH_MAX_DEPTH": "3"}
    workspace = open_workspace(environment=environment)
    settings = save_settings(workspace, {"max_pages": 60, "serve.theme": "dark", "max_depth": 1})
    assert (settings.max_pages, settings.serve.theme, settings.max_depth) == (60, "dark", 3)
    assert settings.serve.port == 9000
    again = open_workspace(environment=environment)
    assert (again.settings.max_pages, again.settings.serve.theme) == (60, "dark")
    origins = setting_origins(again)
    assert [origins[key] for key in ("max_depth", "max_pages", "max_seeds")] == ["environment", "file", "default"]


@pytest.mark.parametrize(("there", "kept"), [(0o640, 0o640), (None, 0o600)], ids=["existing", "new"])
def test_a_file_with_secrets_stays_private(tmp_path: Path, there: int | None, kept: int) -> None:
    """A file keeps its permissions, and a new one can be read by its owner only."""
    file = tmp_path / "settings.toml"
    if there is not None:
        file.write_text(FILE, encoding="utf-8")
        file.chmod(there)
    save_settings(open_workspace(environment={"KIWIRESEARCH_HOME": str(tmp_path)}), {"model_key": "secret"})
    assert stat.S_IMODE(file.stat().st_mode) == kept
    assert "secret" in file.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "text", ["serve.port = 9000\n", "serve = {port = 9000}\n", '"max_pages" = 4\n'], ids=["dotted", "inline", "quoted"]
)
def test_a_file_that_cannot_be_changed_safely_stays_as_it_is(tmp_path: Path, text: str) -> None:
    """What is written in another way is left to a text editor, not written twice."""
    file = tmp_path / "settings.toml"
    file.write_text(text, encoding="utf-8")
    workspace = open_workspace(environment={"KIWIRESEARCH_HOME": str(tmp_path)})
    with pytest.raises(BadSettings, match="cannot be changed here"):
        save_settings(workspace, {"serve.port": 9001, "max_pages": 5})
    assert file.read_text(encoding="utf-8") == text


def test_a_value_that_is_not_allowed_is_not_written(tmp_path: Path) -> None:
    workspace = open_workspace(environment={"KIWIRESEARCH_HOME": str(tmp_path)})
    with pytest.raises(BadSettings):
        save_settings(workspace, {"max_pages": 0})
    assert not (tmp_path / "settings.toml").exists()
