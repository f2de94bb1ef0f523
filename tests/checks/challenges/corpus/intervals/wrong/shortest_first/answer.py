def schedule(intervals):
    chosen = []
    for start, end in sorted(intervals, key=lambda each: each[1] - each[0]):
        if all(end <= a or b <= start for a, b in chosen):
            chosen.append((start, end))
    return chosen
