import sys


def wrap(text, width):
    if width < 1:
        raise ValueError(width)
    lines = []
    for word in text.split():
        if lines and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += " " + word
        else:
            lines.append(word)
    return lines


if __name__ == "__main__":
    head, _, rest = sys.stdin.read().partition("\n")
    print("\n".join(wrap(rest, int(head))))
