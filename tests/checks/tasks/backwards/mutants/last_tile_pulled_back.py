# bug: the last tile of 16 rows is pulled back to be full: rows that two tiles share count twice in dgamma and dbeta
# caught by: gradients
# passes: forward_accuracy
import numpy as np

TILE = 16


class Norm:
    def __init__(self, eps=1e-5):
        self.eps = eps

    @staticmethod
    def tiles(rows):
        """Starts of tiles that cover the rows; each is full where there are rows enough."""
        return [min(start, max(rows - TILE, 0)) for start in range(0, rows, TILE)]

    def forward(self, x, gamma, beta):
        flat = x.reshape(-1, x.shape[-1])
        self.x_hat, self.rstd, self.gamma = np.empty_like(flat), np.empty((len(flat), 1)), gamma
        for start in self.tiles(len(flat)):
            rows = slice(start, start + TILE)
            centred = flat[rows] - flat[rows].mean(axis=1, keepdims=True)
            self.rstd[rows] = (np.square(centred).mean(axis=1, keepdims=True) + self.eps) ** -0.5
            self.x_hat[rows] = centred * self.rstd[rows]
        return (gamma * self.x_hat + beta).reshape(x.shape)

    def backward(self, dy):
        flat = dy.reshape(-1, dy.shape[-1])
        dx, dgamma, dbeta = np.empty_like(flat), np.zeros(flat.shape[1]), np.zeros(flat.shape[1])
        for start in self.tiles(len(flat)):
            rows = slice(start, start + TILE)
            x_hat, scaled = self.x_hat[rows], flat[rows] * self.gamma
            dgamma += np.einsum("nd,nd->d", flat[rows], x_hat)
            dbeta += flat[rows].sum(axis=0)
            along = np.einsum("nd,nd->n", scaled, x_hat)[:, None] / flat.shape[1]
            dx[rows] = self.rstd[rows] * (scaled - scaled.mean(axis=1, keepdims=True) - x_hat * along)
        return dx.reshape(dy.shape), dgamma, dbeta
