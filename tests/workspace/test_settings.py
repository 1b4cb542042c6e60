from __future__ import annotations

from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiwiresearch.errors import BadSettings
from kiwiresearch.workspace.setting_values import RANGES
from kiwiresearch.workspace.settings import Folders, Settings, folders, load

DEFAULTS = Settings(cluster_cache_mb=16, serve_timeout_s=20.0, allow_damaged=False)


@pytest.fixture
def where(tmp_path: Path) -> Folders:
    return Folders(tmp_path, tmp_path / "cache", tmp_path / "state")


def test_nothing_need_be_set(where: Folders) -> None:
    """Without a file and without variables, the defaults apply."""
    assert load(where, {}) == DEFAULTS


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("", {}),
        ("# only a comment\n", {}),
        ("cluster_cache_mb = 24\n", {"cluster_cache_mb": 24}),
        ("serve_timeout_s = 2.5\n", {"serve_timeout_s": 2.5}),
        ("serve_timeout_s = 5\n", {"serve_timeout_s": 5.0}),
        ("allow_damaged = true\n", {"allow_damaged": True}),
        ("cluster_cache_mb = 1\nallow_damaged = true\n", {"cluster_cache_mb": 1, "allow_damaged": True}),
        ("cluster_cache_mb = 65536\n", {"cluster_cache_mb": 65_536}),
    ],
)
def test_settings_come_from_the_file(where: Folders, text: str, changed: dict[str, object]) -> None:
    """Each key of settings.toml changes its own setting and no other."""
    where.settings_file.write_text(text, encoding="utf-8")
    assert load(where, {}) == replace(DEFAULTS, **changed)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "text", "changed"),
    [
        ("KIWIRESEARCH_CLUSTER_CACHE_MB", "8", {"cluster_cache_mb": 8}),
        ("KIWIRESEARCH_SERVE_TIMEOUT_S", "0.5", {"serve_timeout_s": 0.5}),
        ("KIWIRESEARCH_SERVE_TIMEOUT_S", "3", {"serve_timeout_s": 3.0}),
        ("KIWIRESEARCH_ALLOW_DAMAGED", "1", {"allow_damaged": True}),
        ("KIWIRESEARCH_ALLOW_DAMAGED", "TRUE", {"allow_damaged": True}),
        ("KIWIRESEARCH_ALLOW_DAMAGED", " yes ", {"allow_damaged": True}),
        ("KIWIRESEARCH_ALLOW_DAMAGED", "no", {}),
        ("KIWIRESEARCH_ALLOW_DAMAGED", "", {}),
        ("ALLOW_DAMAGED", "1", {}),
        ("KIWIRESEARCH_HOME", "/elsewhere", {}),
    ],
)
def test_settings_come_from_the_environment(where: Folders, name: str, text: str, changed: dict[str, object]) -> None:
    """Each variable changes its own setting; variables that are not ours change none."""
    assert load(where, {name: text}) == replace(DEFAULTS, **changed)  # type: ignore[arg-type]


def test_the_environment_wins_over_the_file(where: Folders) -> None:
    """A variable is for this one command, so it is stronger than the file."""
    where.settings_file.write_text("cluster_cache_mb = 24\nallow_damaged = true\n", encoding="utf-8")
    environment = {"KIWIRESEARCH_CLUSTER_CACHE_MB": "32", "KIWIRESEARCH_ALLOW_DAMAGED": "0"}
    assert load(where, environment) == replace(DEFAULTS, cluster_cache_mb=32)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"clustercache = 16",
            "Did you mean 'cluster_cache_mb'? The keys are: allow_damaged, atlas, branch_share,",
        ),
        (b"[allow_damaged]\na = 1", "cannot be {'a': 1}. It must be true or false."),
        (b"cluster_cache_mb = '16'", "cannot be '16'. It must be a whole number."),
        (b"cluster_cache_mb = 16.0", "cannot be 16.0. It must be a whole number."),
        (b"cluster_cache_mb = true", "cannot be True. It must be a whole number."),
        (b"serve_timeout_s = true", "cannot be True. It must be a number."),
        (b"allow_damaged = 1", "cannot be 1. It must be true or false."),
        (b"cluster_cache_mb = 0", "cannot be 0. It must be between 1 and 65536."),
        (b"cluster_cache_mb = 65537", "cannot be 65537. It must be between 1 and 65536."),
        (b"serve_timeout_s = 0.09", "cannot be 0.09. It must be between 0.1 and 3600."),
        (b"serve_timeout_s = 3601", "cannot be 3601.0. It must be between 0.1 and 3600."),
        (b"serve_timeout_s = nan", "cannot be nan. It must be between 0.1 and 3600."),
        (b"serve_timeout_s = inf", "cannot be inf. It must be between 0.1 and 3600."),
        (b"[link_filters]\nlist = 'exclude'", "Did you mean 'link_filters.lists'?"),
        (b"link_filters = 1", "is not a table."),
        (b"[link_filters]\nlists = 'no'", "cannot be 'no'. It must be one of: "),
        (b"[link_filters]\nexclude = 'ISBN'", "cannot be 'ISBN'. It must be a list of texts."),
        (b"[scoring_weights]\nnovelty = [1]", "cannot be [1]. It must be a number."),
        (b"[scoring_weights]\nnovelty = -0.5", "cannot be -0.5. It must be between 0 and 1000."),
        (b"cluster_cache_mb = ", ": Invalid value"),
        (b"allow_damaged = true\nallow_damaged = true", ": Cannot overwrite a value"),
        (b"\xff\xfe", ": 'utf-8' codec"),
    ],
)
def test_a_wrong_file_is_named(where: Folders, content: bytes, message: str) -> None:
    """A file that cannot be used is named, with what is wrong in it."""
    where.settings_file.write_bytes(content)
    with pytest.raises(BadSettings) as caught:
        load(where, {})
    assert message in str(caught.value)
    assert repr(str(where.settings_file)) in str(caught.value)


def test_a_folder_in_place_of_the_file_is_named(where: Folders) -> None:
    """A settings.toml that is a folder is a wrong file, not a crash."""
    where.settings_file.mkdir()
    with pytest.raises(BadSettings, match=r"Could not read the settings file .*settings\.toml'"):
        load(where, {})


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("CLUSTER_CACHE_MB", "much", "cannot be 'much'. It must be a whole number."),
        ("CLUSTER_CACHE_MB", "", "cannot be ''. It must be a whole number."),
        ("CLUSTER_CACHE_MB", "1.5", "cannot be '1.5'. It must be a whole number."),
        ("CLUSTER_CACHE_MB", "-1", "cannot be -1. It must be between 1 and 65536."),
        ("SERVE_TIMEOUT_S", "soon", "cannot be 'soon'. It must be a number."),
        ("SERVE_TIMEOUT_S", "nan", "cannot be nan. It must be between 0.1 and 3600."),
        ("ALLOW_DAMAGED", "perhaps", "cannot be 'perhaps'. It must be true or false."),
    ],
)
def test_a_wrong_variable_is_named(where: Folders, name: str, text: str, message: str) -> None:
    """A variable that cannot be used is named, with the allowed values."""
    with pytest.raises(BadSettings) as caught:
        load(where, {f"KIWIRESEARCH_{name}": text})
    assert str(caught.value) == f"KIWIRESEARCH_{name} {message}"


@given(
    name=st.sampled_from(["CLUSTER_CACHE_MB", "SERVE_TIMEOUT_S", "ALLOW_DAMAGED"]),
    text=st.text() | st.integers().map(str) | st.floats().map(str),
)
def test_any_variable_is_a_setting_or_a_clear_error(name: str, text: str) -> None:
    """Whatever is in a variable, it is a value within its limits or is refused."""
    nowhere = Folders(Path("/nowhere"), Path("/nowhere"), Path("/nowhere"))
    try:
        settings = load(nowhere, {f"KIWIRESEARCH_{name}": text})
    except BadSettings:
        return
    for key, (low, high) in RANGES.items():
        assert low <= attrgetter(key)(settings) <= high


KEYS = st.sampled_from(["cluster_cache_mb", "serve_timeout_s", "allow_damaged", "other"])
VALUES = st.sampled_from(["1", "-1", "1e9", "true", "''", "[]", "{}", "1979-05-27", "nan", "", "0x10"])


@given(st.binary() | st.builds("{}={}\n{}={}".format, KEYS, VALUES, KEYS, VALUES).map(str.encode))
def test_any_file_is_settings_or_a_clear_error(content: bytes) -> None:
    """Whatever is in settings.toml, its values are within their limits or it is refused."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "settings.toml").write_bytes(content)
        try:
            settings = load(Folders(folder, folder, folder), {})
        except BadSettings:
            return
    for key, (low, high) in RANGES.items():
        assert low <= attrgetter(key)(settings) <= high


def test_one_variable_moves_everything(tmp_path: Path) -> None:
    """KIWIRESEARCH_HOME puts settings, shelf, cache and state below one folder."""
    found = folders({"KIWIRESEARCH_HOME": str(tmp_path / "stick")})
    assert found.settings_file == tmp_path / "stick" / "settings.toml"
    assert found.shelf_file == tmp_path / "stick" / "shelf.json"
    assert (found.cache, found.state) == (tmp_path / "stick" / "cache", tmp_path / "stick" / "state")


def test_a_relative_home_does_not_move_with_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative or '~' folder is made absolute when the command starts."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    assert folders({"KIWIRESEARCH_HOME": "desk"}).config == tmp_path / "desk"
    assert folders({"KIWIRESEARCH_HOME": "~/desk"}).config == tmp_path / "user" / "desk"


def test_without_that_variable_the_system_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else settings, cache and state go where this system keeps such things, below the user's home."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    found = folders({"KIWIRESEARCH_HOME": ""})
    assert all(tmp_path in folder.parents for folder in (found.config, found.cache, found.state))
    assert found.config != found.cache


def test_the_cache_of_a_program_is_that_of_the_settings() -> None:
    """Libzim's cache is the same whether a command sets it or a program leaves it alone."""
    from kiwiresearch.zim.libzim import CLUSTER_CACHE_BYTES

    assert Settings().cluster_cache_mb * 2**20 == CLUSTER_CACHE_BYTES
