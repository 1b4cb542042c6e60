"""The firewall: nothing becomes a fact unless its own quote says it.

It guards against what a model or a rule makes up, not against intruders (`web.guard` does that). `HF_043` is a code
of this hallucination firewall: `violations` says how they are numbered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.kin.firewall.attribution import is_denied_or_doubted, is_stated, sentence_around
    from kiwiresearch.kin.firewall.check import MIN_CONFIDENCE, check_relative
    from kiwiresearch.kin.firewall.two_quotes import OtherParentProof, check_other_parent, is_of_marriage
    from kiwiresearch.kin.firewall.violations import FieldResult, VerifierOut, Violation
else:
    __getattr__ = lazy_exports(__name__)
