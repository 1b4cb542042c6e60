"""Evaluations: quality measured on labelled sets, which must not fall below pinned floors."""
