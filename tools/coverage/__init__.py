"""How often intervals hold the truth: ``python -m tools.coverage`` simulates it for docs/statistics.md."""
