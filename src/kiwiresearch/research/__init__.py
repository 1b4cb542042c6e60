"""Composition: settings, shelf and books put together."""
