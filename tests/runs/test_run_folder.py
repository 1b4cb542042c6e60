"""The folder of a run: started, continued, finished, and refused if it is not the run's own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import pytest

from kiwiresearch.errors import CannotWrite, FolderTaken, KiwiError
from kiwiresearch.runs.manifest import seal_of
from kiwiresearch.runs.unfinished_run import append_lines
from kiwiresearch.runs.writer import RunWriter

FILES = {"graph.json": "{}\n", "run.log": "one\r\ntwo\n", "report.md": "# Größe\n"}
STEPS = 3


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs" / "stone"


def opened(path: Path | str, fingerprint: str = "f1", topic: str = "Stone") -> RunWriter:
    return RunWriter.open(path, fingerprint, topic)


def step(writer: RunWriter) -> None:
    line = f'{{"page": {len(writer.journal)}}}\n'.encode()
    result = f'{{"claim": {len(writer.journal)}}}\n'.encode()
    writer.journal.append(append_lines("corpus", writer.corpus, line) | append_lines("claims", writer.claims, result))


def run(path: Path, files: Mapping[str, str] = FILES) -> None:
    with opened(path) as writer:
        while len(writer.journal) < STEPS:
            step(writer)
        writer.finish(files, {"version": "1"})


def state_of(path: Path) -> str:
    with opened(path) as writer:
        return writer.state


def tree(path: Path) -> dict[str, bytes]:
    if not path.exists():
        return {}
    return {file.name: file.read_bytes() for file in sorted(path.iterdir()) if file.is_file()}


def names(path: Path) -> list[str]:
    return sorted(file.name for file in path.iterdir())


def test_a_run_leaves_its_outputs_and_nothing_else(path: Path) -> None:
    """The folder and those above it are made, and have whole files and a manifest at the end."""
    with opened(path) as writer:
        assert (writer.state, writer.journal.rows, writer.path) == ("new", (), path)
        for _ in range(STEPS):
            step(writer)
        assert names(path) == [".journal"]
        writer.finish(FILES, {"version": "1", "topic": "not this one"})
        assert writer.state == "finished"
    corpus = b'{"page": 0}\n{"page": 1}\n{"page": 2}\n'
    parts = {"corpus.jsonl": corpus, "claims.jsonl": corpus.replace(b"page", b"claim")}
    expected = {name: text.encode() for name, text in FILES.items()} | parts
    manifest = json.loads((path / "manifest.json").read_text())
    assert tree(path) == expected | {"manifest.json": (path / "manifest.json").read_bytes()}
    assert manifest.pop("seal") == seal_of(manifest)
    assert manifest == {
        "version": "1",
        "fingerprint": "f1",
        "topic": "Stone",
        "outputs": {n: {"sha256": sha256(b).hexdigest(), "bytes": len(b)} for n, b in expected.items()},
    }
    assert names(path) == sorted([*expected, "manifest.json"])


def test_a_run_goes_on_with_its_steps(path: Path, tmp_path: Path) -> None:
    """What was done before is there, and the end is the same as of a run in one go."""
    for done in range(STEPS):
        with opened(path) as writer:
            assert writer.state == ("unfinished" if done else "new")
            assert len(writer.journal.rows) == done
            step(writer)
    run(path)
    run(tmp_path / "other")
    assert tree(path) == tree(tmp_path / "other")


def files_of(path: Path) -> dict[str, tuple[int, int, int]]:
    """Each file with what writing it would change; when it was last read is left out, as reading is not a change."""
    return {file.name: ((result := file.stat()).st_ino, result.st_size, result.st_mtime_ns) for file in path.iterdir()}


def test_a_finished_run_is_left_as_it_is(path: Path) -> None:
    """The same command again finds nothing to do, and notes beside the outputs do not matter."""
    run(path)
    for name in ("timings.json", "report.html", "notes.txt"):
        (path / name).write_text("beside")
    (path / "pictures").mkdir()
    before = files_of(path)
    with opened(path) as writer:
        assert writer.state == "finished"
        with pytest.raises(ValueError, match=r"nothing is open of the run in .*, which is finished"):
            writer.journal.append({})
    assert files_of(path) == before


def test_a_finished_run_is_cleaned_up(path: Path) -> None:
    """A run killed after its manifest was written is finished, and what it left goes."""
    run(path)
    whole = tree(path)
    (path / ".journal" / "outputs").mkdir(parents=True)
    for name in ("steps", "lock", "outputs/half"):
        (path / ".journal" / name).write_text("left over")
    assert state_of(path) == "finished"
    assert tree(path) == whole
    assert ".journal" not in names(path)


@pytest.mark.parametrize("lost", ["report.md", "corpus.jsonl", "claims.jsonl"])
def test_a_lost_output_is_made_again(path: Path, lost: str) -> None:
    """The run is done again; until it is finished there is no manifest, and notes stay."""
    run(path)
    (path / "notes.txt").write_text("mine")
    whole = tree(path)
    (path / lost).unlink()
    with opened(path) as writer:
        assert (writer.state, writer.journal.rows) == ("new", ())
        assert names(path) == sorted({*whole, ".journal"} - {lost, "manifest.json"})
    with opened(path) as writer:
        assert writer.state == "unfinished"
    run(path)
    assert tree(path) == whole


@pytest.mark.parametrize("lose", [False, True])
def test_an_output_changed_by_a_person_is_kept(path: Path, lose: bool) -> None:
    """What somebody wrote into an output is never overwritten, even if another output is lost."""
    run(path)
    (path / "report.md").write_text("my own words")
    if lose:
        (path / "corpus.jsonl").unlink()
    before = tree(path)
    with pytest.raises(FolderTaken, match=r"report.md' was changed after the run finished\. Move it"):
        opened(path)
    assert tree(path) == before
    assert ".journal" not in names(path)


@pytest.mark.parametrize("name", ["report.md", "corpus.jsonl", "claims.jsonl", "manifest.json"])
def test_a_file_put_there_meanwhile_is_kept(path: Path, name: str) -> None:
    """If a file of an output's name appears while the run goes on, the run asks for it to be moved away."""
    with opened(path) as writer:
        for _ in range(STEPS):
            step(writer)
        (path / name).write_text("mine")
        with pytest.raises(
            FolderTaken,
            match=rf"{name}' does not belong to this run and would be overwritten\. Move it, then start again",
        ):
            writer.finish(FILES, {"version": "1"})
        assert tree(path) == {name: b"mine"}
    (path / name).rename(path / "mine")
    assert state_of(path) == "unfinished"
    run(path)
    assert tree(path).keys() == {*FILES, "corpus.jsonl", "claims.jsonl", "manifest.json", "mine"}


def test_another_run_is_refused(path: Path) -> None:
    """A folder belongs to one run, unfinished or finished; the error names its topic and changes nothing."""
    with opened(path) as writer:
        step(writer)
    before = tree(path / ".journal")
    with pytest.raises(FolderTaken, match=r"already contains an unfinished run about 'Stone'\. Choose another folder"):
        opened(path, "f2", "Wood")
    with pytest.raises(
        FolderTaken, match=r"unfinished run about 'Stone' with other settings, other books or another v"
    ):
        opened(path, "f2", "Stone")
    assert tree(path / ".journal") == before
    run(path)
    with pytest.raises(FolderTaken, match=r"already contains a finished run about 'Stone'\."):
        opened(path, "f2", "Wood")
    (path / "report.md").unlink()
    with pytest.raises(FolderTaken, match=r"already contains a finished run about 'Stone'\."):
        opened(path, "f2", "Wood")
    assert "manifest.json" in names(path)


def test_a_long_topic_does_not_fill_the_screen(path: Path) -> None:
    """The error about another run stays one sentence."""
    with opened(path, "f1", "x" * 10_000) as writer:
        step(writer)
    with pytest.raises(FolderTaken) as caught:
        opened(path, "f2", "y" * 10_000)
    assert len(caught.value.message) < 300 + len(str(path))


@pytest.mark.parametrize("name", ["thesis.docx", "manifest.json", "corpus.jsonl", ".profile"])
def test_a_folder_of_other_files_is_refused(tmp_path: Path, name: str) -> None:
    """A home folder is not a folder for a run, and nothing is written into it."""
    (tmp_path / name).write_text('{"name": "an app"}')
    with pytest.raises(
        FolderTaken, match=rf"contains files that do not belong to a run, such as '{name}'\. Choose an empty folder"
    ):
        opened(tmp_path)
    assert names(tmp_path) == [name]


def test_the_working_folder_is_like_any_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dot is fine if the folder is empty, and refused if it is not."""
    monkeypatch.chdir(tmp_path)
    run(Path())
    assert state_of(tmp_path) == "finished"
    monkeypatch.chdir(Path(__file__).parent)
    with pytest.raises(FolderTaken, match=r"The folder '\.' contains files"):
        opened(".")


def test_an_empty_folder_and_a_link_will_do(tmp_path: Path) -> None:
    """An existing folder is fine if it is empty or has what the system puts there, and a link is followed."""
    real = tmp_path / "real"
    real.mkdir()
    (real / ".DS_Store").write_bytes(b"")
    (tmp_path / "link").symlink_to(real)
    run(tmp_path / "link")
    assert state_of(real) == "finished"
    assert (tmp_path / "link").is_symlink()


def test_a_run_without_a_step_leaves_nothing(path: Path) -> None:
    """A topic that was not found does not take the folder from the next one; one that was there before stays."""
    opened(path).close()
    assert not path.exists()
    path.mkdir(parents=True)
    opened(path).close()
    assert names(path) == []
    with opened(path, "f2", "Wood") as writer:
        assert writer.state == "new"


def test_closing_twice_does_no_harm(path: Path) -> None:
    """A folder that was given back is another's, and closing it again does not take it away."""
    writer = opened(path)
    step(writer)
    writer.close()
    other = opened(path)
    writer.close()
    with pytest.raises(FolderTaken, match="Another run is writing"):
        opened(path)
    other.close()


def test_a_folder_deleted_meanwhile_is_reported(path: Path, tmp_path: Path) -> None:
    """If somebody removes the folder under the run, that is an error and no traceback."""
    writer = opened(path)
    step(writer)
    path.rename(tmp_path / "gone")
    with pytest.raises(CannotWrite, match="No such file or directory"):
        writer.finish(FILES, {})
    writer.close()


def test_text_without_bytes_can_be_written(path: Path) -> None:
    """Half a surrogate pair in a topic or a title does not stop a run at its end."""
    with opened(path, "f1", "st\udcffone \ud800") as writer:
        step(writer)
    with opened(path, "f1", "st\udcffone \ud800") as writer:
        assert writer.state == "unfinished"
        writer.finish({"report.md": "# st\udcffone\n"}, {})
    assert (path / "report.md").read_bytes() == b"# st?one\n"
    with opened(path, "f1", "st\udcffone \ud800") as writer:
        assert writer.state == "finished"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("", "a folder cannot have this name"),
        ("a\0b", "a folder cannot have this name"),
        ("half \ud800", "a folder cannot have this name"),
        ("FILE", "a file already has this name"),
        ("FILE/below", "a file already has this name, or the name of a folder above it"),
        ("FILE/below/far", "a file already has this name, or the name of a folder above it"),
        ("LINK", "a file already has this name"),
        ("x" * 5_000, "File name too long"),
    ],
    ids=lambda text: ascii(text[:20]),
)
def test_a_folder_that_cannot_be_made_is_reported(tmp_path: Path, name: str, expected: str) -> None:
    """What cannot be a folder is one clear sentence with a remedy."""
    (tmp_path / "FILE").write_text("a file")
    (tmp_path / "LINK").symlink_to("nowhere")
    with pytest.raises(CannotWrite, match=f"cannot be created: {expected}.* Choose another folder") as caught:
        opened(f"{tmp_path}/{name}" if name else "")
    assert len(str(caught.value)) < 500
    assert names(tmp_path) == ["FILE", "LINK"]


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="this system has no /proc")
def test_a_folder_of_the_system_is_reported() -> None:
    """If not even the superuser may make a folder, the error says so."""
    with pytest.raises(CannotWrite, match="The folder '/proc/nope/run' cannot be created: No such file or directory"):
        opened("/proc/nope/run")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_reported(tmp_path: Path) -> None:
    """A folder that cannot be written is an error; a finished run in it can still be looked at."""
    run(tmp_path / "run")
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "run", tmp_path / "empty", tmp_path):
        folder.chmod(0o555)
    try:
        assert state_of(tmp_path / "run") == "finished"
        for folder in (tmp_path / "empty", tmp_path / "new"):
            with pytest.raises(CannotWrite, match="Permission denied"):
                opened(folder)
    finally:
        for folder in (tmp_path, tmp_path / "run", tmp_path / "empty"):
            folder.chmod(0o755)


CHILD = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from kiwiresearch.errors import KiwiError
from test_run_folder import opened, run, step
path, task = Path(sys.argv[2]), sys.argv[3]
if task == "hold":
    writer = opened(path)
    step(writer)
    print("held", flush=True)
    sys.stdin.readline()
else:
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(task), int(task)))
    try:
        run(path)
        print("done")
    except KiwiError as problem:
        print(type(problem).__name__, problem)
"""


def child(path: Path, task: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", CHILD, str(Path(__file__).parent), str(path), task]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_two_processes_do_not_share_a_folder(path: Path) -> None:
    """While one runs, another is refused; when it was killed, the next one goes on with its steps."""
    with child(path, "hold") as process:
        assert process.stdout
        assert process.stdout.readline() == "held\n"
        with pytest.raises(FolderTaken, match="Another run is writing to the folder"):
            opened(path)
        process.kill()
    with opened(path) as writer:
        assert (writer.state, len(writer.journal.rows)) == ("unfinished", 1)


def test_one_process_does_not_open_a_folder_twice(path: Path) -> None:
    """The second is refused, and the first goes on undisturbed."""
    with opened(path) as writer:
        with pytest.raises(FolderTaken, match="Another run is writing to the folder"):
            opened(path)
        step(writer)
    assert state_of(path) == "unfinished"


@pytest.mark.skipif(sys.platform == "win32", reason="there are no limits on the size of files")
@pytest.mark.parametrize("room", [0, 75, 120, 200, 500])
def test_a_full_disk_loses_nothing(path: Path, tmp_path: Path, room: int) -> None:
    """Wherever the room ends, no half file appears, the error says what to do, and the same command goes on."""
    with child(path, str(room)) as process:
        result = process.communicate()[0]
    assert result.startswith("CannotWrite Could not write to the folder ")
    assert str(path) in result
    assert result.endswith("Free up disk space, then start again. Work continues where it stopped.\n")
    assert tree(path) == {}
    run(path)
    run(tmp_path / "other")
    assert tree(path) == tree(tmp_path / "other")


def test_a_failed_finish_can_be_retried(path: Path, tmp_path: Path) -> None:
    """A finish that fails leaves nothing behind, and the same run can be finished after it."""
    with opened(path) as writer:
        for _ in range(STEPS):
            step(writer)
        with pytest.raises(KiwiError):
            writer.finish(FILES | {"no such folder/x": ""}, {"version": "1"})
        assert names(path) == [".journal"]
        assert names(path / ".journal") == ["claims", "corpus", "lock", "steps"]
        writer.finish(FILES, {"version": "1"})
    run(tmp_path / "other")
    assert tree(path) == tree(tmp_path / "other")
