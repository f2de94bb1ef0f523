"""Summaries of what judges wrote, as ordered lists of typed parts; `reports` says what they look like."""
