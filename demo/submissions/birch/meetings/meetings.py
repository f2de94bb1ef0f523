count = int(input())
meetings = sorted(tuple(map(float, input().split())) for _ in range(count))

hours, blocks = 0.0, 1
begin, end = meetings[0]
for start, stop in meetings[1:]:
    if start <= end:
        end = max(end, stop)
    else:
        hours += end - begin
        blocks += 1
        begin, end = start, stop
print(hours + end - begin, blocks)
