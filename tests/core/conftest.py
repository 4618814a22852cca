"""Hypothesis on shared machines: how long one example takes says nothing."""

from hypothesis import settings

settings.register_profile("stepmark", deadline=None)
settings.load_profile("stepmark")
