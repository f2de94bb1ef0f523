"""docs/keys.md is what the program has."""

from __future__ import annotations

from tools.key_list import PAGE, page


def test_the_page_of_keys_is_what_the_program_has() -> None:
    assert PAGE.read_text() == page(), "run 'make keys'"
