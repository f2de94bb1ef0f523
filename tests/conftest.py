"""What holds for all tests."""

from __future__ import annotations

from hypothesis import settings

# the machines that run this are shared: a slow example is no fault of the code
settings.register_profile("shared-machine", deadline=None)
settings.load_profile("shared-machine")
