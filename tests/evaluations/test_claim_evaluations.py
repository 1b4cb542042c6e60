"""What the evaluations of claims and briefs count: classes, verdicts on subjects, guarantees, names and numbers."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from evals import briefs, coverage
from evals.briefs import RunFiles, finder_for, run_research, tally_run
from evals.calibration import JudgedClaim, figures, fit_terms, load_judged_claims, table
from evals.claims import judge_subject, lenient_pairs, macro_f1, reading_of, strict_pairs, subject_figures, type_figures
from evals.coverage import Content, Coverage, article_content, coverage_of, figures_of, numbers_of
from evals.labelled import LabelledSentence, Row, sha_of
from tests.zim.memory import MemoryArchive

from kiwiresearch.claims.by_rule import claims_of
from kiwiresearch.claims.claim import Claim, ClaimId
from kiwiresearch.evidence import Quote
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.page.parser import open_page
from kiwiresearch.search.query import Score
from kiwiresearch.zim.libzim import LibzimArchive

LADY = (
    "<html><head><title>Ada Byron</title></head><body>"
    "<p>Ada Byron (1815–1852) was an English mathematician. She was born in 1815 in London. "
    "She married in 1835. Her notes on a machine appeared in 1843. "
    "It is known that few people read it. This was a surprise in 1843.</p></body></html>"
)


def a_page(html: str = LADY, path: str = "Ada_Byron") -> PageDoc:
    return open_page(MemoryArchive({path: html}), path)


def a_row(page: PageDoc, sentence: str, **values: object) -> LabelledSentence:
    start = page.text.index(sentence)
    place: dict[str, object] = {"p_start": start, "p_end": start + len(sentence.split()[0]), "sha": sha_of(sentence)}
    row = Row("sample", page.ref.path, start, start + len(sentence), **place | values)  # type: ignore[arg-type]
    return LabelledSentence(row, page, sentence)


def test_a_class_that_a_reader_accepts_counts_only_leniently() -> None:
    """The strict figure knows the label alone; the lenient one takes what the row allows."""
    rows = [
        (Row("b", "p", 0, 1, "", label="causal", also=("timeline",)), "timeline"),
        (Row("b", "p", 1, 2, "", label="numeric"), "numeric"),
    ]
    assert strict_pairs(rows) == [("causal", "timeline"), ("numeric", "numeric")]
    assert lenient_pairs(rows) == [("timeline", "timeline"), ("numeric", "numeric")]
    assert macro_f1(strict_pairs(rows)) == pytest.approx(1 / 3)
    assert macro_f1(lenient_pairs(rows)) == 1.0


def test_plain_rows_have_figures_of_their_own() -> None:
    """What was drawn by a hint does not count among the plain rows."""
    rows = [
        (Row("b", "p", 0, 1, "", label="causal", draw="plain"), "causal"),
        (Row("b", "p", 1, 2, "", label="numeric", draw="hinted"), "none"),
    ]
    result = type_figures(rows)
    assert result["types_plain_strict"] == 1.0
    assert result["types_strict"] == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("sentence", "stands_for", "why", "verdict"),
    [
        ("She was born in 1815 in London.", "Ada Byron", "", "named"),
        ("She was born in 1815 in London.", "Mary Shelley", "", "misnamed"),
        ("She was born in 1815 in London.", "", "expletive", "in vain"),
        ("This was a surprise in 1843.", "", "clause", "left alone"),
        ("This was a surprise in 1843.", "the book", "", "silent"),
    ],
)
def test_a_subject_is_judged_by_what_a_reader_would_see(sentence: str, stands_for: str, why: str, verdict: str) -> None:
    """The right name, a wrong one, a name where there is none, and silence are distinguished."""
    assert judge_subject(a_row(a_page(), sentence, stands_for=stands_for, why=why)) == verdict


def test_a_sentence_is_found_by_its_offset() -> None:
    """Offsets outside of all sentences have none."""
    page = a_page()
    reading = reading_of(page)
    assert [reading.at(one.start) for one in reading.sentences] == list(range(len(reading.sentences)))
    assert reading.at(len(page.text) + 5) == -1


def test_silence_is_neither_a_mistake_nor_a_success() -> None:
    """What is not claimed counts as right among all, and not among what was named."""
    named, nothing = Row("b", "p", 0, 1, "", stands_for="X"), Row("b", "p", 0, 1, "", why="clause")
    result = subject_figures([(named, "named"), (named, "silent"), (named, "misnamed"), (nothing, "in vain")])
    assert result == pytest.approx({"subjects_right": 1 / 2, "subjects_named": 1 / 3, "subjects_named_right": 1 / 3})


def some_claims() -> list[Claim]:
    return list(claims_of(a_page()))


def scored(claim: Claim, **terms: float) -> Claim:
    score = Score()
    for name, points in terms.items():
        score = score.plus(name, points)
    return replace(claim, score=score)


def test_confidence_is_compared_with_what_was_right() -> None:
    """Each row of the table has the claims of its confidence, what that says, and the share that was right."""
    claim = some_claims()[0]
    sure, unsure = scored(claim, start=3.0), scored(claim, start=0.0)
    judged = [
        JudgedClaim(sure, is_right=True, share=3.0),
        JudgedClaim(sure, is_right=False, share=1.0),
        JudgedClaim(unsure, True, 1.0),
    ]
    assert [(row.claims, row.mean_confidence, row.share_right) for row in table(judged)] == [
        (1, 0.5, 1.0),
        (2, 0.95, 0.75),
    ]
    assert figures(judged).unpinned["claims_right"] == pytest.approx(4 / 5)
    assert figures([]).pinned == {}


def test_terms_are_fitted_towards_what_was_right() -> None:
    """A term that goes with mistakes is lowered, and one that is rarely seen hardly moves."""
    claim = some_claims()[0]
    plain, doubtful, rare = scored(claim, start=1.0), scored(claim, start=1.0, doubt=-1.0), scored(claim, rare=-1.0)
    judged = [JudgedClaim(plain, is_right=number % 10 > 0, share=1.0) for number in range(400)]
    judged += [JudgedClaim(doubtful, is_right=number % 2 > 0, share=1.0) for number in range(400)]
    found = fit_terms([*judged, JudgedClaim(rare, is_right=True, share=1.0)])
    assert found["start"][1] == pytest.approx(np.log(9), abs=0.3)
    assert found["start"][1] + found["doubt"][1] == pytest.approx(0.0, abs=0.3)
    assert -1.0 < found["rare"][1] < -0.7
    assert {name: row[2] for name, row in found.items()} == {"start": 800, "doubt": 400, "rare": 1}


def test_judgements_on_claims_that_are_gone_are_left_out(tmp_path: Path, sample_zim: Path) -> None:
    """A claim is judged where its words and its quote are those that were read, and its type is accepted."""
    archive = LibzimArchive(sample_zim)
    path = sorted(archive.articles())[3]
    claim = claims_of(open_page(archive, path))[0]
    quote = claim.quotes[0]
    row = {
        "book": "sample", "path": path, "start": quote.start, "end": quote.end, "sha": sha_of(quote.text),
        "claim": sha_of(claim.text), "types": [claim.type], "share": 2.0,
    }  # fmt: skip
    gone = [row | {"claim": sha_of("other words")}, row | {"sha": "0"}, row | {"start": 0, "claim": "0"}]
    rows = [row, row | {"types": []}, row | {"why": "torn"}, *gone]
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    found = load_judged_claims(file)
    assert [(one.claim.id, one.is_right) for one in found] == [(claim.id, True), (claim.id, False), (claim.id, False)]


@pytest.fixture(scope="module")
def a_run(sample_zim: Path) -> RunFiles:
    with finder_for(sample_zim) as (finder, folder):
        return run_research(finder, "Late Bronze Age collapse", folder / "run", pages=6)


def test_a_run_keeps_its_promises(a_run: RunFiles, sample_zim: Path) -> None:
    """Every quote is a span of its page, every statement rests on claims of the run, every id comes again."""
    counts = tally_run(a_run, LibzimArchive(sample_zim))
    held, _ = briefs.figures_of(counts)
    assert counts["quotes"] > counts["claims"] > 0
    assert held == dict.fromkeys(held, 1.0)


def test_one_false_character_is_seen(a_run: RunFiles, sample_zim: Path) -> None:
    """A quote that differs in one character is not a span, wherever it is."""
    first = a_run.claims[0]
    quote = first.quotes[0]
    false = Quote(quote.ref, quote.start, quote.end, quote.text[:-1] + "#")
    forged = replace(a_run, claims=(replace(first, quotes=(false,)), *a_run.claims[1:]))
    held, _ = briefs.figures_of(tally_run(forged, LibzimArchive(sample_zim)))
    assert held["quotes_are_spans"] < 1.0
    assert held["ids_are_stable"] < 1.0


def test_a_statement_on_a_claim_that_nobody_made_is_seen(a_run: RunFiles, sample_zim: Path) -> None:
    """The brief may have a claim; the run must have made it."""
    needed = a_run.brief.summary[0].claims[0]
    kept = [(claim, one) for claim, one in zip(a_run.claims, a_run.ids, strict=True) if claim.id != needed]
    forged = replace(a_run, claims=tuple(claim for claim, _ in kept), ids=tuple(one for _, one in kept))
    held, _ = briefs.figures_of(tally_run(forged, LibzimArchive(sample_zim)))
    assert held["statements_rest_on_claims"] < 1.0
    assert ClaimId(needed) not in forged.ids


def test_a_short_summary_is_seen_where_there_was_enough_to_say(a_run: RunFiles, sample_zim: Path) -> None:
    """Fewer than six statements are a failure, unless the run has few claims."""
    archive = LibzimArchive(sample_zim)
    short = replace(a_run, brief=replace(a_run.brief, summary=a_run.brief.summary[:2]))
    assert briefs.figures_of(tally_run(short, archive))[0]["summaries_long_enough"] == 0.0
    few = replace(short, claims=a_run.claims[:5], ids=a_run.ids[:5])
    assert briefs.figures_of(tally_run(few, archive))[0]["summaries_long_enough"] == 1.0


def test_topics_are_drawn_by_the_hash_of_their_titles() -> None:
    """Only articles with enough links; the start page is none."""
    names = [f"P{number}" for number in range(60)]
    linked = "".join(f'<a href="{name}">{name}</a>' for name in names[:40])
    pages = {name: f"<p>{linked if number % 2 else 'alone'}</p>" for number, name in enumerate(names)}
    archive = MemoryArchive(pages, main_page="P1")
    order = sorted(names[3::2], key=lambda name: hashlib.sha256(name.encode()).digest())
    assert briefs.choose_titles(archive) == [archive.title(name) for name in order][: briefs.TOPICS]
    assert set(coverage.choose_articles(archive)) == set(order)


def test_names_and_numbers_of_an_article_are_those_of_its_text() -> None:
    """Linked names, quantities and dates; small counts, a second unit and lists of sources are left out."""
    html = (
        '<body><p>The river is 300 km (186 mi) long. In 1815 two ships came to <a href="B">Old  Town</a>, '
        'see <a href="C">1815</a>.</p><h2>References</h2><ol><li>Smith, 1999, 77 pages.</li></ol></body>'
    )
    result = article_content(a_page(html, "A"))
    assert result.names == {" old town "}
    assert result.numbers == numbers_of(["300 km", "in 1815"])


def test_claims_and_brief_are_counted_separately(a_run: RunFiles) -> None:
    """A name counts by whole words, a number by its value in any unit."""
    text = a_run.brief.summary[0].text
    word = max(text.split(), key=len).strip(".,;")
    article = Content(frozenset({f" {word.casefold()} ", " nowhere to be found "}), frozenset())
    covered = coverage_of(article, a_run)
    assert covered.claims.names == covered.brief.names == {f" {word.casefold()} "}
    assert numbers_of(["It is 1 km long."]) == numbers_of(["A path of 1,000 metres."]) != frozenset()


def test_shares_are_means_over_articles() -> None:
    """Each article counts the same; one without numbers lacks none."""
    nothing = Content(frozenset(), frozenset())
    rows = [
        Coverage(Content(frozenset("ab"), frozenset()), Content(frozenset("a"), frozenset()), nothing),
        Coverage(Content(frozenset("abcd"), frozenset()), Content(frozenset("abcd"), frozenset()), nothing),
    ]
    result, unpinned = figures_of(rows)
    assert result == pytest.approx(
        {"names_in_claims": 3 / 4, "numbers_in_claims": 1.0, "names_in_brief": 0.0, "numbers_in_brief": 1.0}
    )
    assert unpinned == {"names_an_article": 3.0, "numbers_an_article": 0.0}


def test_shares_of_nothing_are_whole() -> None:
    """If there was nothing to be wrong about, nothing is wrong."""
    assert set(briefs.figures_of(Counter())[0].values()) == {1.0}
