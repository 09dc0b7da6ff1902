"""Every operator at about 16 elements beside torch, to measure the cost of a call. The calls are the samples tagged
``small``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import common
import families

MOST = 0.15
SECONDS = 0.008
# torch's functions for operators that torch has under another name or signature, or without a public function.
OTHERWISE = (
    {
        "embedding": lambda torch: lambda weight, indices: torch.nn.functional.embedding(indices, weight),
        "log_sigmoid": lambda torch: torch.nn.functional.logsigmoid,
        "_gelu_backward": lambda torch: torch.ops.aten.gelu_backward,
        "_gelu_tanh_backward": lambda torch: lambda g, x: torch.ops.aten.gelu_backward(g, x, approximate="tanh"),
        "_elu_backward": lambda torch: lambda g, x, a, b, c: torch.ops.aten.elu_backward(g, a, b, c, False, x),
        "index": lambda torch: torch.ops.aten.index,
        "index_put": lambda torch: torch.ops.aten.index_put,
        "index_put_": lambda torch: torch.ops.aten.index_put_,
        "tensordot": lambda torch: lambda x, y, a, b=None: torch.tensordot(x, y, a if b is None else (a, b)),
        "convolution": lambda torch: (
            lambda x, w, b, s, p, d, g: torch.convolution(x, w, b, s, p, d, False, (0,) * len(s), g)
        ),
    }
    | {
        # The functions of nn.functional take other arguments, or do not return the indices.
        f"{name}_pool{n}d": lambda torch, name=name, n=n: getattr(torch.ops.aten, f"{name}_pool{n}d")
        for name in ("adaptive_max", "fractional_max")
        for n in (1, 2, 3)
    }
    | {
        "max_unpool2d": lambda torch: torch.ops.aten.max_unpool2d,
        "max_unpool3d": lambda torch: torch.ops.aten.max_unpool3d,
    }
)


def peer(operator: str) -> list[Callable[..., Any]]:
    """Returns torch's callables with an operator's name; the public one comes first."""
    import torch

    name = operator.partition(".")[0]
    if name in OTHERWISE:
        return [OTHERWISE[name](torch)]
    homes = (torch, torch.nn.functional, torch.Tensor, torch.ops.aten, torch.special)
    if name.endswith("_loss") or "cross_entropy" in name or name == "kl_div":  # torch.NAME takes others
        homes = homes[1:]
    return [getattr(home, name) for home in homes if hasattr(home, name)]


def torch_arguments(sample: Any) -> tuple[list[Any], dict[str, Any]]:
    import torch
    from lamella.operators import samples

    def made(leaf: Any) -> Any:
        if isinstance(leaf, samples.Spec):
            flat = torch.from_numpy(leaf.flat()).to(getattr(torch, leaf.dtype))
            return flat.as_strided(leaf.shape, leaf.strides, leaf.offset)
        return getattr(torch, leaf.name) if isinstance(leaf, samples.Named) else leaf

    return sample.map(made)


def timed(function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> common.Run:
    """Makes a function that times a call written as by a user: f(x, y, dim=1)."""
    names = {"f": function} | {f"a{i}": a for i, a in enumerate(args)} | {f"k_{k}": v for k, v in kwargs.items()}
    listed = [f"a{i}" for i in range(len(args))] + [f"{k}=k_{k}" for k in kwargs]
    return common.timer(f"f({', '.join(listed)})", names)


def theirs(sample: Any) -> common.Run | None:
    """Makes a function that times the first of torch's callables that takes the sample; None if there is none."""
    for function in peer(sample.operator):
        args, kwargs = torch_arguments(sample)
        try:
            function(*args, **kwargs)
        except (TypeError, RuntimeError, NotImplementedError):
            continue
        return timed(function, args, kwargs)
    return None


def main() -> list[families.Family]:
    from lamella import _C
    from lamella.operators import samples

    live = {o["schema"].partition("(")[0].removeprefix("aten::") for o in _C._operators()}
    family = families.Family("Every operator at 16 elements", MOST, MOST)
    alone = []
    families.set_threads(1)
    for operator in samples.operators():
        small = [s for s in samples.of(operator) if s.tag == "small"]
        if operator not in live or operator.startswith("_") or not small:
            continue
        args, kwargs = small[0].build()
        other = theirs(small[0])
        if other is None:
            alone.append(operator)
            continue
        peers = {"lamella": timed(samples.call(operator), args, kwargs), "torch": other}
        figures = common.measure(peers, seconds=SECONDS)
        family.rows.append(common.Row(small[0].text, figures, [common.Bound("torch", MOST)]))
    family.rows.sort(key=lambda row: row.ratios["torch"])
    print(common.table(family.name, family.rows))
    print(f"torch has no such call: {', '.join(alone) or 'none'}\n{family.summary()}\n", flush=True)
    return [family]


if __name__ == "__main__":
    sys.exit(not all(f.holds for f in main()))
