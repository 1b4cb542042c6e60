"""The commands that verify a run against its books, and sign it."""

from __future__ import annotations

from typing import Annotated

import typer

from kiwiresearch.cli.options import BookOption, JsonOption, emit, folder_of, say, user_workspace

NOT_PROVED = 5
"""The exit code of a verification that found nothing wrong, but could not repeat the research: an edited manifest can
bring that about, so a script must not take it for a proof."""


def verify(
    run: Annotated[str, typer.Argument(help="The folder of a finished run.", metavar="RUN")],
    book: BookOption = None,
    signer: Annotated[
        str,
        typer.Option(
            "--signer",
            help="Also check who signed it: a file with the public SSH keys of those who may have.",
            metavar="FILE",
        ),
    ] = "",
    json: JsonOption = False,
) -> None:
    """Check a run: do its research again from its books, and compare every file.

    The exit code is 1 if anything is wrong, and 5 if nothing is, but the research could not be repeated.
    """
    from kiwiresearch.cli.answer_output import print_verification
    from kiwiresearch.runs import SIGNATURE
    from kiwiresearch.verify import shelf_for, verify_run

    folder, workspace = folder_of(run), user_workspace()
    with shelf_for(folder, workspace, book or []) as shelf:
        found = verify_run(folder, shelf, workspace, folder_of(signer) if signer else None)
    emit(found.record(), lambda: print_verification(found), as_json=json)
    if not signer and (folder / SIGNATURE).is_file():
        say(f"{SIGNATURE} was not checked. To see who signed the run, give the signer's public key with --signer FILE.")
    if not found.holds:
        raise typer.Exit(1)
    if found.proof.not_repeated:
        raise typer.Exit(NOT_PROVED)


def sign(
    run: Annotated[str, typer.Argument(help="The folder of a finished run.", metavar="RUN")],
    key: Annotated[
        str, typer.Option("--key", help="Your SSH key, such as ~/.ssh/id_ed25519; it is only read.", metavar="FILE")
    ],
) -> None:
    """Sign a run with your SSH key, so that others can verify that it is yours."""
    from kiwiresearch.cli import output
    from kiwiresearch.verify import sign_run

    file = sign_run(folder_of(run), folder_of(key))
    output.unbroken_line(f"Signed: {file}")
    say("To verify it, others need your public key: kiwiresearch verify RUN --signer KEY.pub")
