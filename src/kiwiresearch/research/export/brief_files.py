"""The brief as one file to read: the run's own report, with the reader's notes behind it."""

from __future__ import annotations

from dataclasses import replace

from kiwiresearch.brief.markdown import markdown
from kiwiresearch.brief.report import report
from kiwiresearch.brief.report_html import page
from kiwiresearch.research.export.findings import Findings
from kiwiresearch.research.export.remarks import remarks


def brief_in_markdown(findings: Findings) -> str:
    """The brief as Markdown, each sentence with its sources."""
    document = report(findings.brief)
    return markdown(replace(document, blocks=(*document.blocks, *remarks(findings))))


def brief_in_html(findings: Findings) -> str:
    """The brief as a page that needs nothing else; each sentence unfolds to its quotes."""
    return page(findings.brief, findings.images, remarks(findings))
