"""The command that compares two finished runs."""

from __future__ import annotations

from typing import Annotated

import typer

from kiwiresearch.cli.options import AsJson
from kiwiresearch.cli.proofs import folder_of


def compare(
    old: Annotated[str, typer.Argument(help="The folder of the run to compare with.", metavar="OLD")],
    new: Annotated[str, typer.Argument(help="The folder of the run whose changes you want to see.", metavar="NEW")],
    *,
    json: AsJson = False,
) -> None:
    """Compare two runs claim by claim: other settings, or an older and a newer snapshot of the same book."""
    from kiwiresearch.cli import show
    from kiwiresearch.cli.show_comparison import comparison
    from kiwiresearch.research.comparing import compare as compared
    from kiwiresearch.research.comparing import read_side
    from kiwiresearch.research.differences import differences, record_of

    found = compared(read_side(folder_of(old)), read_side(folder_of(new)))
    if json:
        show.document({"old": old, "new": new} | record_of(found, differences(found)))
    else:
        comparison(found)
