"""Distributions: a thousand samples with their densities, over a batch of 64, and gradients of gamma draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import families

BATCH, SAMPLES = 64, 1000


def same_moments(atol: float) -> Callable[[Any, Any], None]:
    """Makes a check that the means of both peers' samples and of their densities are close; the samples differ."""

    def check(ours: Any, theirs: Any) -> None:
        import numpy as np

        for a, b in zip(ours, theirs, strict=True):
            x, y = (np.asarray(r.detach(), dtype=np.float64) for r in (a, b))
            assert x.shape == y.shape
            np.testing.assert_allclose(x.mean(0), y.mean(0), atol=atol * max(1, y.std()))

    return check


def both(one: Any) -> tuple[Any, Any]:
    drawn = one.sample((SAMPLES,))
    return drawn, one.log_prob(drawn)


def made(package: Any, array: Any) -> Any:
    return package.tensor(array.tolist(), dtype=package.float32)


def kinds(package: Any) -> dict[str, Any]:
    """Returns functions that make a distribution of each kind."""
    import numpy as np

    rng = np.random.default_rng(0)
    a, b = (made(package, rng.uniform(0.5, 3, BATCH)) for _ in range(2))
    logits = made(package, rng.normal(size=(BATCH, 10)))
    tril = np.tril(rng.normal(size=(BATCH, 8, 8)), -1) * 0.3 + np.eye(8)
    loc, scale_tril = made(package, rng.normal(size=(BATCH, 8))), made(package, tril)
    d = package.distributions
    found = {
        "Normal": lambda: d.Normal(a, b),
        "Gamma": lambda: d.Gamma(a, b),
        "Categorical": lambda: d.Categorical(logits=logits),
        "MultivariateNormal": lambda: d.MultivariateNormal(loc, scale_tril=scale_tril),
    }
    return found


def more_kinds(package: Any) -> dict[str, Any]:
    """Returns functions that make further distributions."""
    import numpy as np

    rng = np.random.default_rng(1)
    a, b = (made(package, rng.uniform(0.5, 3, BATCH)) for _ in range(2))
    d = package.distributions
    return {
        "Beta": lambda: d.Beta(a, b),
        "Poisson": lambda: d.Poisson(10 * a),
        "Binomial": lambda: d.Binomial(50, a / 4),
        "StudentT": lambda: d.StudentT(a + 2),
        "Exponential": lambda: d.Exponential(a),
        "Bernoulli": lambda: d.Bernoulli(a / 4),
    }


def cases(of: Callable[[Any], dict[str, Any]]) -> list[families.Case]:
    import lamella
    import torch

    ours, theirs = of(lamella), of(torch)
    return [
        families.Case(n, lambda n=n: both(ours[n]()), lambda n=n: both(theirs[n]()), same_moments(0.25)) for n in ours
    ]


def gradient(package: Any) -> Any:
    import numpy as np

    shapes = made(package, np.random.default_rng(0).uniform(0.5, 3, (SAMPLES, BATCH))).requires_grad_()

    def run() -> Any:
        shapes.grad = None
        drawn = package.distributions.Gamma(shapes, 1.0, validate_args=False).rsample()
        drawn.sum().backward()
        return (shapes.grad,)

    return run


def main() -> list[families.Family]:
    import lamella
    import torch

    slopes = [families.Case("Gamma", gradient(lamella), gradient(torch), same_moments(1))]
    return [
        families.run("Distributions, 1000 samples with log_prob, batch 64", cases(kinds), 0.3, 0.3),
        families.run("Further distributions, 1000 samples with log_prob, batch 64", cases(more_kinds), 0.6, 1.1),
        families.run("Implicit gradients of 64000 draws", slopes, 1, 1.1),
    ]


if __name__ == "__main__":
    main()
