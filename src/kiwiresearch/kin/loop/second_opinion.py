"""The model of a case, where it has one: what it may be shown, and of whom."""

from __future__ import annotations

from kiwiresearch.errors import ModelUnreachable
from kiwiresearch.kin.agents.masked import Masked
from kiwiresearch.kin.agents.silent import UntilSilent
from kiwiresearch.kin.loop.second_reading import is_long_past, read_again
from kiwiresearch.kin.loop.settings import CaseSettings
from kiwiresearch.kin.loop.verifying import Verified
from kiwiresearch.kin.privacy.mask import Mask
from kiwiresearch.kin.store.case import CaseStore
from kiwiresearch.llm.model import Model


class SecondOpinion:
    """Asks a model where the rules are not sure; without one, the rules are all there is."""

    def __init__(self, store: CaseStore, settings: CaseSettings, year: int, model: Model | None, *, is_local: bool):
        self._store = store
        self._settings = settings
        self._year = year
        self._model = UntilSilent(model) if model else None
        self._tells_all = is_local and settings.model_sees_living

    @property
    def problem(self) -> ModelUnreachable | None:
        """Why the model could not be reached, if so."""
        return self._model.problem if self._model else None

    def model(self) -> Model | None:
        """The model as it may be asked now: people who may be alive are masked in all that it is sent."""
        if self._model is None or self._tells_all:
            return self._model
        return Masked(self._model, self._mask().text)

    def names_nobody_alive(self, words: str) -> bool:
        """Whether words of a model may be told to others."""
        return self._mask().text(words) == words

    def _mask(self) -> Mask:
        return Mask(
            self._store.tree(),
            "public",
            self._year,
            years_after_death=self._settings.years_after_death,
            overrides=self._store.state("living_overrides") or {},
        )

    def on(self, record: Verified) -> Verified:
        """The record with what a model adds; a page that may name the living is shown to none but the user's own."""
        if self._model is None or not (self._tells_all or is_long_past(record, self._year)):
            return record
        model = self.model()
        return read_again(record, model) if model else record
