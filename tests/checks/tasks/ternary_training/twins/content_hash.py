# style: the projection is kept under a hash of the latent bytes; gradients add up until a step with momentum
# only: projection
import hashlib

import numpy as np

GROUP = 128


def project(flat):
    pieces = []
    for start in range(0, flat.size, GROUP):
        piece = flat[start:start + GROUP]
        s = np.abs(piece).mean()
        pieces.append(s * np.clip(np.round(piece / s), -1, 1) if s else np.zeros_like(piece))
    return np.concatenate(pieces)


class Ternary:
    def __init__(self, latent):
        self.latent = latent
        self.grad_w = np.zeros_like(latent)
        self.velocity = np.zeros_like(latent)
        self.known = {}

    @property
    def q(self):
        key = hashlib.blake2b(np.ascontiguousarray(self.latent).tobytes()).digest()
        if key not in self.known:
            self.known = {key: project(self.latent.ravel()).reshape(self.latent.shape)}
        return self.known[key]

    def __call__(self, x):
        self.x = x
        return x @ self.q.T

    def backward(self, dy):
        self.grad_w += dy.T @ self.x
        return dy @ self.q

    def step(self, lr):
        self.velocity *= 0.9
        self.velocity -= lr * self.grad_w
        self.latent += self.velocity
        self.grad_w[:] = 0
