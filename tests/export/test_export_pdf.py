"""A brief as a PDF: printed by an installed browser, without a network, and the same bytes each time."""

from __future__ import annotations

import os
import re
import stat
import sys
import tempfile
from pathlib import Path

import pytest
from tests.brief.briefs import of_words
from tests.export.exported_runs import a_read_run

from kiwiresearch.errors import BadSettings, CannotWrite, ProgramMissing
from kiwiresearch.export import pdf
from kiwiresearch.export.exporter import export, make_files

BROWSER = pytest.mark.skipif(not pdf.has_browser(), reason="no Chromium or Chrome is installed")
POSIX = pytest.mark.skipif(os.name != "posix", reason="the stand-in for a browser is a shell script")


def stand_in(folder: Path, script: str) -> str:
    """A program in place of a browser."""
    file = folder / "browser"
    file.write_text(f"#!{sys.executable}\nimport sys, time, pathlib\n{script}\n", encoding="utf-8")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return str(file)


def test_elements_are_counted_without_gaps() -> None:
    """Chromium's own numbers vary from run to run; the offsets in the file and the order of its index stay."""
    once = pdf._with_own_ids(b"/ID (node00000731) (node00000733) (node00000731)")
    assert once == pdf._with_own_ids(b"/ID (node00000812) (node00000820) (node00000812)")
    assert once == b"/ID (node00000001) (node00000002) (node00000001)"


@BROWSER
def test_a_brief_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same run gives the same bytes; the date inside is the book's, pages are A4, and no profile is left."""
    rest = tmp_path / "temporary"
    rest.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(rest))
    run = a_read_run(tmp_path / "run")
    content = export(run, "pdf")[0].read_bytes()
    assert content.startswith(b"%PDF-")
    assert set(re.findall(rb"/(?:CreationDate|ModDate) \(D:(\d{14})", content)) == {b"20260101000000"}
    assert set(re.findall(rb"/MediaBox \[0 0 (\d+)[.\d]* (\d+)", content)) <= {(b"594", b"841"), (b"595", b"842")}
    assert b"/Outlines" in content
    assert re.search(rb"/Title \(.+\)\n/Author \(kiwiresearch\)\n/Creator \(kiwiresearch ", content)
    assert b"/Lang (en)" in content
    at = int(content.rpartition(b"startxref\n")[2].split()[0])
    assert content[at:].startswith(b"xref\n"), "a reader finds the update by its place in the file"
    place = int(content[at:].split()[3])
    assert content[place:].split(b" obj")[0].endswith(b" 0")
    assert make_files(run, "pdf")[0].content == content
    assert not [one for one in rest.iterdir() if one.name.startswith("kiwiresearch-")]


def test_without_a_browser_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And names formats that need none."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(pdf, "PLACES", {})
    assert not pdf.has_browser()
    with pytest.raises(ProgramMissing, match="Chromium, Google Chrome or Microsoft Edge") as caught:
        export(a_read_run(tmp_path / "run"), "pdf")
    assert "'docx'" in caught.value.remedy


def test_a_setting_that_names_no_program_is_an_error(tmp_path: Path) -> None:
    """It is named, and the browser on the PATH is not used silently."""
    with pytest.raises(BadSettings, match=r"The setting 'browser' is '.*none', which was not found"):
        make_files(a_read_run(tmp_path), "pdf", browser=str(tmp_path / "none"))
    assert not pdf.has_browser(str(tmp_path / "none"))


@POSIX
def test_the_browser_has_no_network_and_its_own_profile(tmp_path: Path) -> None:
    """What is printed loads nothing, and the topic cannot end the style that it is in."""
    seen = tmp_path / "seen"
    script = (
        "given = dict(one.partition('=')[::2] for one in sys.argv[1:])\n"
        f"pathlib.Path({str(seen)!r}).write_text('\\n'.join(sys.argv[1:]) + '\\n' + "
        "pathlib.Path(sys.argv[-1].removeprefix('file://')).read_text())\n"
        "pathlib.Path(given['--print-to-pdf']).write_bytes(b'%PDF-1.4 made')"
    )
    run = a_read_run(tmp_path / "run", of_words('"; } </style><script>alert(1)</script>'))
    assert make_files(run, "pdf", browser=stand_in(tmp_path, script))[0].content == b"%PDF-1.4 made"
    text = seen.read_text(encoding="utf-8")
    assert "--host-resolver-rules=MAP * ~NOTFOUND" in text
    assert "--proxy-server=127.0.0.1:9" in text
    assert "--user-data-dir=" in text
    assert "default-src 'none'" in text
    assert "<script" not in text
    assert "\\000022\\00003b" in text


@POSIX
@pytest.mark.parametrize("script", ["sys.exit(1)", "time.sleep(60)"])
def test_a_browser_that_fails_or_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """The error names it, and nothing is written."""
    monkeypatch.setattr(pdf, "TIMEOUT_S", 0.5)
    run = a_read_run(tmp_path / "run")
    with pytest.raises(CannotWrite, match=r"The browser '.*' could not create the PDF"):
        export(run, "pdf", browser=stand_in(tmp_path, script))
    assert not (run / "export").exists()
