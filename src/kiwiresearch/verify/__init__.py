"""Prove a finished run again from its books."""
