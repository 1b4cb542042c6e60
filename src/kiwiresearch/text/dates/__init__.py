"""Dates: days and calendars, the range a date means, and how it is read and written."""
