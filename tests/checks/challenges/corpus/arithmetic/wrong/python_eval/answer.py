def evaluate(text):
    return eval(text.strip().replace("^", "**"))
