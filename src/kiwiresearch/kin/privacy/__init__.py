"""The living: who may be alive, what is kept back about them, and the proof that nothing slipped through."""
