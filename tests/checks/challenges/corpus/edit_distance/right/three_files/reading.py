def pairs():
    for _ in range(int(input())):
        yield input(), input()
