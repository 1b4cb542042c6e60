"""What a user can set about family research, below [kin] in the settings."""

from __future__ import annotations

from dataclasses import dataclass

from kiwiresearch.kin.loop.settings import Scope


@dataclass(frozen=True, slots=True)
class KinSettings(Scope):
    """How far the cases go that are begun from now on, and where the user's own plugins are."""

    plugins: str = ""
    """The folder of your own plugins; empty is 'plugins' beside the settings."""
