import sys


def wrap(text, width):
    if width < 1:
        raise ValueError("width")
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    if line:
        lines.append(line)
    return lines


def main():
    width = int(sys.stdin.readline())
    paragraphs, current = [], []
    for line in sys.stdin:
        if line.strip():
            current.append(line)
        elif current:
            paragraphs.append(" ".join(current))
            current = []
    if current:
        paragraphs.append(" ".join(current))
    print("\n\n".join("\n".join(wrap(p, width)) for p in paragraphs))


if __name__ == "__main__":
    main()
