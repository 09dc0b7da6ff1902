"""Ten million random numbers: uniform, normal, Bernoulli, integers, a permutation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import families

COUNT = 10**7


def moments(mean: float, std: float) -> Callable[[Any, Any], None]:
    """Makes a check that both peers' numbers have the distribution's mean and deviation; the numbers differ."""

    def check(*results: Any) -> None:
        import numpy as np

        for r in results:
            x = np.asarray(r, dtype=np.float64)
            assert abs(x.mean() - mean) < 5 * std / len(x) ** 0.5 and abs(x.std() / std - 1) < 0.01

    return check


def permutations(*results: Any) -> None:
    import numpy as np

    for r in results:
        assert (np.sort(np.asarray(r)) == np.arange(COUNT)).all()


def cases() -> list[families.Case]:
    import lamella
    import torch

    return [
        families.Case("uniform", lambda: lamella.rand(COUNT), lambda: torch.rand(COUNT), moments(0.5, 12**-0.5)),
        families.Case("normal", lambda: lamella.randn(COUNT), lambda: torch.randn(COUNT), moments(0, 1)),
        families.Case(
            "bernoulli",
            lambda: lamella.empty(COUNT).bernoulli_(0.3),
            lambda: torch.empty(COUNT).bernoulli_(0.3),
            moments(0.3, 0.21**0.5),
        ),
        families.Case(
            "randint",
            lambda: lamella.randint(0, 100, (COUNT,)),
            lambda: torch.randint(0, 100, (COUNT,)),
            moments(49.5, (9999 / 12) ** 0.5),
        ),
        families.Case("randperm", lambda: lamella.randperm(COUNT), lambda: torch.randperm(COUNT), permutations),
    ]


def main() -> list[families.Family]:
    return [families.run("Random numbers, ten million", cases(), 0.5, 1.1)]


if __name__ == "__main__":
    main()
