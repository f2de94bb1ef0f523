# style: built on a framework that is not installed, beside a script that reads its data by a bare name
# skips: loads, projection, ste, convergence (needs mlx)
import mlx.core as mx
import mlx.nn as nn


class TernaryLinear(nn.Module):
    def __call__(self, x):
        groups = self.weight.reshape(-1, 128)
        scale = mx.abs(groups).mean(1, keepdims=True)
        return x @ (scale * mx.clip(mx.round(groups / scale), -1, 1)).reshape(self.weight.shape).T
