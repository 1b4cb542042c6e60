"""Why the work on a job ends before it is done, other than by an error: nobody words these on the way."""

from __future__ import annotations


class Stopped(Exception):
    """The work was told to stop, and did so between two steps."""


class Lost(Exception):
    """Another worker has the job by now."""
