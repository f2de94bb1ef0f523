def schedule(intervals):
    chosen = []
    for start, end in sorted(intervals):
        if not chosen or chosen[-1][1] <= start:
            chosen.append((start, end))
    return chosen
