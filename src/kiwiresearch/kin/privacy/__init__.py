"""Privacy: who may be living, and what is withheld about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.kin.privacy.living import MAX_AGE, living_verdicts
    from kiwiresearch.kin.privacy.mask import Mask
    from kiwiresearch.kin.privacy.redaction import PRIVACY_MODES, PrivacyMode, ShownTree, redact, shown_tree
    from kiwiresearch.kin.privacy.text_parts import contacts_in
    from kiwiresearch.kin.privacy.withheld_people import LIVING_NAME, WITHHELD, WithheldPeople, find_withheld
else:
    __getattr__ = lazy_exports(__name__)
