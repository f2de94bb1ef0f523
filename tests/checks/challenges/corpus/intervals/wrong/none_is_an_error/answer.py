def schedule(intervals):
    intervals = sorted(intervals, key=lambda each: each[1])
    chosen = [intervals[0]]
    for each in intervals[1:]:
        if chosen[-1][1] <= each[0]:
            chosen.append(each)
    return chosen
