# bug: E[x²] − E[x]², cut off at zero so that nothing is NaN
# caught by: cancellation
import numpy as np


class LayerNorm:
    def __init__(self, hidden_size, eps=1e-5):
        self.weight = np.ones(hidden_size)
        self.bias = np.zeros(hidden_size)
        self.variance_epsilon = eps

    def forward(self, hidden_states):
        m = hidden_states.mean(-1, keepdims=True)
        sq = np.square(hidden_states).mean(-1, keepdims=True)
        self.inv = 1 / np.sqrt(np.maximum(sq - np.square(m), 0.0) + self.variance_epsilon)
        self.n = (hidden_states - m) * self.inv
        return self.n * self.weight + self.bias

    def backward(self, grad):
        self.weight_grad = (grad * self.n).sum((0, 1))
        self.bias_grad = grad.sum((0, 1))
        g = grad * self.weight
        return self.inv * (g - g.mean(-1, keepdims=True) - self.n * (g * self.n).mean(-1, keepdims=True))
