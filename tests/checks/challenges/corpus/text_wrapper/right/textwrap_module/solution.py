#!/usr/bin/env python3
import re
import sys
import textwrap


def wrap(text: str, width: int) -> list[str]:
    """Uses the standard library."""
    if width <= 0:
        raise ValueError(f"width must be > 0, is {width}")
    return textwrap.wrap(" ".join(text.split()), width, break_long_words=False, break_on_hyphens=False)


if __name__ == "__main__":
    head, _, rest = sys.stdin.read().partition("\n")
    blocks = [block for block in re.split(r"\n\s*\n", rest) if block.strip()]
    sys.stdout.write("\n\n".join("\n".join(wrap(block, int(head))) for block in blocks) + "\n")
