"""Tasks, contracts, checks and the engine that runs them.

This room runs with NumPy and msgspec alone: nothing here imports Textual, Rich
or Pygments, so that it works on a bare GPU box.
"""
