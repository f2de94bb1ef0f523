import re
import sys


def wrap(text, width):
    if width < 1:
        raise ValueError(width)
    line = ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            yield line
            line = word
        else:
            line = f"{line} {word}".strip()
    if line:
        yield line


if __name__ == "__main__":
    head, _, rest = sys.stdin.read().partition("\n")
    blocks = [block for block in re.split(r"\n\s*\n", rest) if block.strip()]
    print("\n\n".join("\n".join(wrap(block, int(head))) for block in blocks))
