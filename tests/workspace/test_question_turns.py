"""When many ask at once, all get their citations before any is read by meaning."""

from __future__ import annotations

import threading

from kiwiresearch.workspace.asker import QuestionTurns

SOON_S = 20


def test_citations_come_before_reading() -> None:
    """A question is not read by meaning while another has nothing to show, and then at once."""
    turns = QuestionTurns(patience_s=SOON_S)
    reads = threading.Event()

    def read() -> None:
        with turns.reading():
            reads.set()

    thread = threading.Thread(target=read)
    with turns.gathering():
        thread.start()
        assert not reads.wait(0.1)
    assert reads.wait(SOON_S / 2)
    thread.join()


def test_reading_does_not_wait_for_ever() -> None:
    """If there are always new questions, those that have waited are read all the same, one at a time."""
    turns = QuestionTurns(patience_s=0.01)
    with turns.gathering(), turns.reading():
        other = threading.Event()

        def read() -> None:
            with turns.reading():
                other.set()

        thread = threading.Thread(target=read)
        thread.start()
        assert not other.wait(0.1)
    assert other.wait(SOON_S)
    thread.join()
