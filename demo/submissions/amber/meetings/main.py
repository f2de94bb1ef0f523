"""Merge overlapping meetings, then add up their lengths."""

import sys


def merge(meetings):
    blocks = []
    for start, end in sorted(meetings):
        if blocks and start <= blocks[-1][1]:
            blocks[-1] = (blocks[-1][0], end)
        else:
            blocks.append((start, end))
    return blocks


def main():
    numbers = [float(word) for word in sys.stdin.read().split()]
    blocks = merge(zip(numbers[1::2], numbers[2::2]))
    print(sum(end - start for start, end in blocks), len(blocks))


if __name__ == "__main__":
    main()
