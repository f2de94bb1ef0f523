"""Unsaved work: kept in the state folder of the user until it is in its file."""
