def schedule(intervals):
    last = 0
    chosen = []
    for start, end in sorted(intervals, key=lambda each: each[1]):
        if last <= start:
            chosen.append((start, end))
            last = end
    return chosen
