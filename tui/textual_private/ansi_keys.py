"""The keys that terminals send, by their sequences: Textual keeps the table to itself."""

from __future__ import annotations

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS

__all__ = ["ANSI_SEQUENCES_KEYS"]
