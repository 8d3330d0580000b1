"""Settings of the whole suite."""

from __future__ import annotations

from hypothesis import settings

# the first example of a law may have to compile its kernels, which takes longer than any deadline
settings.register_profile("gaitway", deadline=None)
settings.load_profile("gaitway")
