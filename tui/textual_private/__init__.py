"""The one room that imports Textual's private modules; each module says what for.

What Textual does not promise may change with any release: ``pyproject.toml`` holds it to one minor version,
and ``tests/tui/test_textual_private.py`` holds such imports to this room.
"""
