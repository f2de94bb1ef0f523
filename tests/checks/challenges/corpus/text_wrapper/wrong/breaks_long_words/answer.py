import re
import sys
import textwrap


def wrap(text, width):
    if width < 1:
        raise ValueError(width)
    return textwrap.wrap(" ".join(text.split()), width)


if __name__ == "__main__":
    head, _, rest = sys.stdin.read().partition("\n")
    blocks = [block for block in re.split(r"\n\s*\n", rest) if block.strip()]
    print("\n\n".join("\n".join(wrap(block, int(head))) for block in blocks))
