"""Adam over a list of parameters, in methods of tensors alone; the models beside it train with it."""


class Adam:
    """Kingma and Ba, Adam: A Method for Stochastic Optimization (2015), algorithm 1."""

    def __init__(self, parameters, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        self.parameters = list(parameters)
        self.lr, self.betas, self.eps = lr, betas, eps
        self.steps = 0
        self.means = [p.detach().clone().zero_() for p in self.parameters]
        self.squares = [m.clone() for m in self.means]

    def zero_grad(self):
        for p in self.parameters:
            p.grad = None

    def step(self):
        self.steps += 1
        first, second = (1 - beta**self.steps for beta in self.betas)
        for p, mean, square in zip(self.parameters, self.means, self.squares, strict=True):
            if p.grad is None:
                continue
            grad = p.grad.detach()
            mean.mul_(self.betas[0]).add_(grad, alpha=1 - self.betas[0])
            square.mul_(self.betas[1]).addcmul_(grad, grad, value=1 - self.betas[1])
            p.detach().addcdiv_(mean / first, (square / second).sqrt_().add_(self.eps), value=-self.lr)


def fell(losses) -> int:
    """0 if the last losses are clearly below the first ones, else 1: a script's exit status."""
    few = max(1, len(losses) // 5)
    before, after = sum(losses[:few]) / few, sum(losses[-few:]) / few
    print(f"loss {before:.3f} at first, {after:.3f} at the end of {len(losses)} steps")
    return 0 if after < 0.9 * before else 1
