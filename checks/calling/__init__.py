"""Calling a submission: its worker, what goes there and what comes back."""
