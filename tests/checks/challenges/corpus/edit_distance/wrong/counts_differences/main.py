for _ in range(int(input())):
    a, b = input(), input()
    print(sum(x != y for x, y in zip(a, b)) + abs(len(a) - len(b)))
