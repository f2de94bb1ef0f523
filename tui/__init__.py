"""The Textual app: screens and widgets, and the plain state behind them."""

import os

# Textual draws at most this often; at its own 60 a key waits up to 17 ms for its frame.
os.environ.setdefault("TEXTUAL_FPS", "250")
# How long Escape waits for the rest of an escape sequence, in ms; at Textual's own 100 it swallows keys.
os.environ.setdefault("ESCDELAY", "25")
