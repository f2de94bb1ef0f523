def next_token_logprobs(prefix):
    """Log-probabilities of the next token after a list of tokens."""
    import math

    return [math.log(1 / 7)] * 7
