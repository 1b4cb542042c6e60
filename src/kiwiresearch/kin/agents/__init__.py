"""Agents of family research: what each is given and answers, by rule and by a model."""
