import re
import sys


def wrap(text, width):
    if width < 1:
        raise ValueError(width)
    lines = []
    for word in text.split():
        if lines and len(lines[-1].encode()) + 1 + len(word.encode()) <= width:
            lines[-1] += " " + word
        else:
            lines.append(word)
    return lines


if __name__ == "__main__":
    head, _, rest = sys.stdin.read().partition("\n")
    blocks = [block for block in re.split(r"\n\s*\n", rest) if block.strip()]
    print("\n\n".join("\n".join(wrap(block, int(head))) for block in blocks))
