# bug: eps is added to the standard deviation; the backward is right for that forward
# caught by: forward_accuracy, gradients, gradient_identities, cancellation
import numpy as np


class LayerNormalization:
    def __init__(self, gamma, beta, eps=1e-5):
        self.gamma = gamma
        self.beta = beta
        self.eps = eps

    def forward(self, x):
        c = x - x.mean(-1, keepdims=True)
        sigma = np.sqrt((c * c).mean(-1, keepdims=True))
        self.saved = (c, sigma)
        return self.gamma * c / (sigma + self.eps) + self.beta

    def backward(self, dy):
        c, sigma = self.saved
        s = sigma + self.eps
        g = dy * self.gamma
        along = (g * c).mean(-1, keepdims=True)
        dx = (g - g.mean(-1, keepdims=True)) / s - c * along / (sigma * s**2)
        return dx, (dy * c / s).sum((0, 1)), dy.sum((0, 1))
