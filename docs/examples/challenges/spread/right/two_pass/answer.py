import math

count = int(input())
values = list(map(float, input().split()))
mean = math.fsum(values) / count
print(mean, math.sqrt(math.fsum((value - mean) ** 2 for value in values) / count))
