def schedule(intervals):
    chosen = []
    for start, end in sorted(intervals, key=lambda each: each[1]):
        if not chosen or chosen[-1][1] < start:
            chosen.append((start, end))
    return chosen
