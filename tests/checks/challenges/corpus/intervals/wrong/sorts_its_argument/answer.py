def schedule(intervals):
    intervals.sort(key=lambda each: each[1])
    chosen = []
    for start, end in intervals:
        if not chosen or chosen[-1][1] <= start:
            chosen.append((start, end))
    return chosen
