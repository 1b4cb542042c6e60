"""Questions for passages, written by a language model on an accelerator; what is not in the passage is dropped.

The model is Qwen2.5-Coder-1.5B-Instruct (Apache-2.0), joined by `tools/fetch_test_model.py`. An answer must be
copied from the passage, letter by letter, or the question is thrown away; so is one that holds its own answer.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

BATCH_TOKENS = 420_000
NEW_TOKENS = 150
MOST_PROMPT = 620
SEED = 20261116

SYSTEM = (
    "You write quiz questions for an encyclopedia. Every question must make sense alone, without the text: it names "
    "the person, place or thing it is about and never says 'he', 'it', 'the text' or 'the passage'. Every answer is "
    "short and copied word for word from the text. Ask in your own words, not in the words of the text."
)
EXAMPLE_TEXT = (
    "Title: Marie Curie\nText: Marie Curie was born in Warsaw in 1867. In 1903 she shared the Nobel Prize in Physics "
    "with her husband Pierre and Henri Becquerel. She died of aplastic anaemia, probably because of her long exposure "
    "to radiation, and left two daughters."
)
EXAMPLE_QUESTIONS = {
    "plain": (
        "Q: In which city did Marie Curie come into the world?\nA: Warsaw\n"
        "Q: How many daughters did Marie Curie have?\nA: two\n"
        "Q: Who received the 1903 physics Nobel Prize together with the Curies?\nA: Henri Becquerel\n"
        "Q: Why did Marie Curie fall ill and die?\nA: because of her long exposure to radiation"
    ),
    "typed": (
        "Q: where was marie curie born\nA: Warsaw\n"
        "Q: number of children of marie curie\nA: two daughters\n"
        "Q: when did marie curie win the nobel prize\nA: 1903\n"
        "Q: what did marie curie die of\nA: aplastic anaemia"
    ),
}
ASK = {
    "plain": "Write four different questions (who, what, when, where, why, how, how many, which) and their answers.",
    "typed": "Write four different questions as people type them into a search engine, and their answers.",
}
PAIR = re.compile(r"Q:\s*(.+?)\s*\n\s*A:\s*(.+?)\s*(?=\n|$)")


def prompt(title: str, heading: str, text: str, style: str) -> list[dict[str, str]]:
    """A chat with one example and the passage."""
    place = f"{title}, {heading}" if heading else title
    return [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": f"{EXAMPLE_TEXT}\n\n{ASK[style]}"},
        {"role": "assistant", "content": EXAMPLE_QUESTIONS[style]},
        {"role": "user", "content": f"Title: {place}\nText: {text}\n\n{ASK[style]}"},
    ]


def style_of(number: int) -> str:
    return "typed" if number % 2 else "plain"


def pairs_in(reply: str) -> list[tuple[str, str]]:
    return [(question, answer.rstrip(".")) for question, answer in PAIR.findall(reply)]


def open_tokenizer(file: Path) -> Any:
    """The tokenizer of a GGUF file, which is kept beside it since taking it out takes a minute."""
    from transformers import AutoTokenizer

    kept = file.parent / "tokenizer"
    if not kept.is_dir():
        AutoTokenizer.from_pretrained(str(file.parent), gguf_file=file.name).save_pretrained(str(kept))
    return AutoTokenizer.from_pretrained(str(kept))


def open_model(file: Path, device: str) -> tuple[Any, Any]:
    """The model out of a GGUF file, and its tokenizer."""
    import torch
    from transformers import AutoModelForCausalLM

    tokenizer = open_tokenizer(file)
    tokenizer.padding_side = "left"
    kind = torch.bfloat16
    model = AutoModelForCausalLM.from_pretrained(str(file.parent), gguf_file=file.name, dtype=kind).to(device).eval()
    return model, tokenizer


def batches(sizes: Sequence[int], most: int = BATCH_TOKENS) -> Iterator[list[int]]:
    """Rows of about the same length together."""
    batch: list[int] = []
    for row in sorted(range(len(sizes)), key=lambda row: (sizes[row], row)):
        if batch and (len(batch) + 1) * (sizes[row] + NEW_TOKENS) > most:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch


def write_all(model: Any, tokenizer: Any, rows: Sequence[dict[str, Any]], out: Path, seconds: float) -> None:
    """The model's reply to each passage, until the time is up; batches in an order that mixes lengths."""
    import torch

    prompts = [
        tokenizer.apply_chat_template(
            prompt(row["title"], row["heading"], " ".join(row["units"]), style_of(number)),
            tokenize=False,
            add_generation_prompt=True,
        )
        for number, row in enumerate(rows)
    ]
    ids = tokenizer(prompts)["input_ids"]
    fit = [number for number, one in enumerate(ids) if len(one) <= MOST_PROMPT]
    groups = list(batches([len(ids[number]) for number in fit]))
    torch.manual_seed(SEED)
    order = torch.randperm(len(groups)).tolist()
    started = time.monotonic()
    with out.open("w", encoding="utf-8") as lines, torch.inference_mode():
        for done, at in enumerate(order):
            if time.monotonic() - started > seconds:
                break
            chosen = [fit[place] for place in groups[at]]
            inputs = tokenizer.pad({"input_ids": [ids[number] for number in chosen]}, return_tensors="pt")
            inputs = inputs.to(model.device)
            made = model.generate(
                **inputs, max_new_tokens=NEW_TOKENS, do_sample=True, temperature=0.7, top_p=0.9, top_k=50
            )
            replies = tokenizer.batch_decode(made[:, inputs["input_ids"].shape[1] :], skip_special_tokens=True)
            for number, reply in zip(chosen, replies, strict=True):
                lines.write(json.dumps({"id": rows[number]["id"], "pairs": pairs_in(reply)}, ensure_ascii=False) + "\n")
            lines.flush()
            print(f"{done + 1}/{len(order)} batches, {time.monotonic() - started:.0f} s", flush=True)


def main(arguments: list[str]) -> None:
    """MODEL.gguf PASSAGES.jsonl OUT.jsonl DEVICE SECONDS"""
    file, passages, out, device, seconds = arguments
    rows = [json.loads(line) for line in Path(passages).read_text(encoding="utf-8").splitlines()]
    model, tokenizer = open_model(Path(file), device)
    write_all(model, tokenizer, rows, Path(out), float(seconds))


if __name__ == "__main__":
    main(sys.argv[1:])
