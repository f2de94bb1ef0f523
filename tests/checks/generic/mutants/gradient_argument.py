# bug: backward overwrites the gradient that it was given, in a class
# fails: purity
# says: backward leaves dy alone: modified


class ScaleLayer:
    def forward(self, inputs, weight):
        self.inputs, self.weight = inputs, weight
        return inputs * weight

    def backward(self, grad_output):
        grad_factor = (grad_output * self.inputs).sum(axis=0)
        grad_output *= self.weight
        return {"dx": grad_output.copy(), "grad_factor": grad_factor}
