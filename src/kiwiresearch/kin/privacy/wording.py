"""What stands in place of what is kept back."""

from __future__ import annotations

from kiwiresearch.kin.fields import FieldName

LIVING_NAME = "Living"
WITHHELD = "[withheld: it speaks of living people]"
MARRIAGE: tuple[FieldName, ...] = ("marriage_date", "marriage_place")
"""What two people share: the marriage of a dead person is the living one's as well."""
