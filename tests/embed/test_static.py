"""The default embedder: what it promises about its data, its vectors and itself."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiwiresearch.embed import static
from kiwiresearch.embed.embedder import similarity
from kiwiresearch.embed.static import MANIFEST, SCALES, TABLE, VOCABULARY, StaticEmbedder
from kiwiresearch.errors import EmbedderError

DATA = Path(static.__file__).parent / "data"
EMBEDDER = StaticEmbedder()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A copy of the data that may be spoiled."""
    return Path(shutil.copytree(DATA, tmp_path / "data"))


def test_the_data_is_small_and_has_its_notice() -> None:
    """All that is shipped takes at most 8 MB, the teacher's licence notice included."""
    sizes = {file.name: file.stat().st_size for file in DATA.iterdir()}
    assert sum(sizes.values()) <= 8_000_000
    for name in ("NOTICE", "LICENSE-Apache-2.0.txt"):
        assert "Apache License" in (DATA / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("query", "near", "far"),
    [
        ("capital city of France", "Paris", "Photosynthesis"),
        ("the planet closest to the Sun", "Mercury is a small rocky planet", "Mercury was a Roman god of trade"),
        ("how do birds fly", "Wings and feathers give lift in flight", "A guitar has six strings"),
        ("a doctor treats illness", "physicians and medicine", "mountains and rivers"),
        ("who wrote the play", "author of a drama for the stage", "the boiling point of water"),
    ],
)
def test_alike_in_meaning_is_near(query: str, near: str, far: str) -> None:
    """Texts of one meaning are nearer than texts of another, without a word in common (R46)."""
    vectors = EMBEDDER.embed([query, near, far])
    to_near, to_far = similarity(vectors[0], vectors[1:]).tolist()
    assert to_near > to_far


def test_the_page_that_a_question_is_about_comes_first() -> None:
    """Title and lead of the right page are nearest to the question (R221)."""
    leads = [
        "Volcano. A volcano is an opening in a planet's crust through which molten rock escapes.",
        "Violin. The violin is a wooden string instrument, the smallest of its family.",
        "Vaccine. A vaccine prepares the immune system for an infectious disease.",
    ]
    questions = ["Where does lava come from?", "Which instrument is played with a bow?", "How to prevent infections?"]
    rows = EMBEDDER.embed(leads)
    found = [int(similarity(vector, rows).argmax()) for vector in EMBEDDER.embed(questions)]
    assert found == [0, 1, 2]


@given(st.lists(st.text(st.characters(), max_size=60), max_size=5))
def test_any_text_gives_a_row(texts: list[str]) -> None:
    """Any text at all, half surrogate pairs included, gives a row of length one or zeros."""
    rows = EMBEDDER.embed(texts)
    assert rows.shape == (len(texts), EMBEDDER.dimensions)
    assert rows.dtype == np.float32
    for length in np.linalg.norm(rows, axis=1):
        assert length == pytest.approx(1, abs=2e-3) or length == 0


@given(st.lists(st.text("abc de.", max_size=30), min_size=1, max_size=6))
def test_a_row_does_not_depend_on_its_neighbours(texts: list[str]) -> None:
    """A text has the same vector, bit for bit, alone and among others."""
    together = EMBEDDER.embed(texts)
    alone = np.concatenate([EMBEDDER.embed([text]) for text in texts])
    assert together.tobytes() == alone.tobytes()


def test_many_texts_are_as_good_as_one() -> None:
    """More texts than fit into one batch come back in their order."""
    texts = [f"number {number}" for number in range(300)]
    rows = EMBEDDER.embed(texts)
    assert (rows[250] == EMBEDDER.embed([texts[250]])[0]).all()


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\x00", "\ud800"])
def test_a_text_without_words_is_zero(text: str) -> None:
    """Nothing has no direction: a row of zeros, alike to nothing."""
    rows = EMBEDDER.embed([text, "something"])
    assert not rows[0].any() or text == "\ud800"
    assert np.isfinite(rows).all()


def test_an_endless_text_is_read_to_a_limit() -> None:
    """A text of ten million characters is fast: only its start counts."""
    text = "word " * 2_000_000
    assert (EMBEDDER.embed([text]) == EMBEDDER.embed([text[:100_000]])).all()


def test_another_process_gives_the_same_bytes() -> None:
    """The same text has the same vector in every process and for every hash seed."""
    texts = ["The quick brown fox", "naïve café", "", "Ptolemy's Almagest, c. 150"]
    code = (
        "import hashlib, json, sys; from kiwiresearch.embed.static import StaticEmbedder;"
        "print(hashlib.sha256(StaticEmbedder().embed(json.loads(sys.argv[1])).tobytes()).hexdigest())"
    )
    command = [sys.executable, "-c", code, json.dumps(texts)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": "7"})
    assert done.stdout.strip() == hashlib.sha256(EMBEDDER.embed(texts).tobytes()).hexdigest()


def test_the_data_is_read_on_first_use(data: Path) -> None:
    """Making an embedder reads a small file only; the table is read with the first text."""
    embedder = StaticEmbedder(data)
    (data / TABLE).unlink()
    assert embedder.dimensions == EMBEDDER.dimensions
    with pytest.raises(EmbedderError, match=TABLE):
        embedder.embed(["now"])


def test_a_copy_elsewhere_has_the_same_id(data: Path) -> None:
    """The id is made of the model's content, not of its place."""
    assert StaticEmbedder(data).id == EMBEDDER.id


def test_another_model_has_another_id(data: Path) -> None:
    """One changed number makes another model, whose vectors never mix with those of the first."""
    content = bytearray((data / SCALES).read_bytes())
    content[0] ^= 1
    (data / SCALES).write_bytes(content)
    manifest = json.loads((data / MANIFEST).read_text())
    manifest["sha256"][SCALES] = hashlib.sha256(content).hexdigest()
    (data / MANIFEST).write_text(json.dumps(manifest))
    assert StaticEmbedder(data).id != EMBEDDER.id


def _cut(name: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[:-1])


def _flip(name: str) -> Callable[[Path], object]:
    def spoil(folder: Path) -> None:
        content = bytearray((folder / name).read_bytes())
        content[len(content) // 2] ^= 1
        (folder / name).write_bytes(content)

    return spoil


def _unlink(name: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).unlink()


def _say(text: str) -> Callable[[Path], object]:
    return lambda folder: (folder / MANIFEST).write_text(text)


def _dimensions(wrong: object) -> Callable[[Path], object]:
    def spoil(folder: Path) -> None:
        manifest = json.loads((folder / MANIFEST).read_text())
        (folder / MANIFEST).write_text(json.dumps(manifest | {"dimensions": wrong}))

    return spoil


SPOILT: dict[str, Callable[[Path], object]] = {
    **{f"{name} cut short": _cut(name) for name in (TABLE, SCALES, VOCABULARY)},
    **{f"a flipped bit in {name}": _flip(name) for name in (TABLE, SCALES, VOCABULARY)},
    **{f"{name} missing": _unlink(name) for name in (TABLE, VOCABULARY, MANIFEST)},
    "a manifest that is no JSON": _say("{"),
    "a manifest of another kind": _say("[1, 2]"),
    "a manifest without sums": _say('{"name": "x", "dimensions": 256, "sha256": {}}'),
    "dimensions that do not fit": _dimensions(255),
    "dimensions that are none": _dimensions("many"),
    "no dimensions": _dimensions(0),
}


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT.keys())
def test_spoilt_data_is_one_clear_error(spoil: Callable[[Path], object], data: Path) -> None:
    """Data that is not what was shipped gives an error that says what to do, never a wrong vector."""
    spoil(data)
    with pytest.raises(EmbedderError) as caught:
        StaticEmbedder(data).embed(["a text"])
    assert str(data) in caught.value.message
    assert caught.value.remedy
