import re
import sys


def wrap(text, width):
    if width < 1:
        raise ValueError(width)
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + bool(lines[-1]) + len(word) <= width or not lines[-1]:
            lines[-1] = (lines[-1] + " " + word).strip()
        else:
            lines.append(word)
    return lines


if __name__ == "__main__":
    head, _, rest = sys.stdin.read().partition("\n")
    blocks = [block for block in re.split(r"\n\s*\n", rest) if block.strip()]
    print("\n\n".join("\n".join(wrap(block, int(head))) for block in blocks))
