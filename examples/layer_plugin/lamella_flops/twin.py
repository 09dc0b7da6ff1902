"""The layer of native.py written in Python, by ``lamella.library`` alone.

>>> from lamella_flops import twin
>>> with twin.on():
...     _ = lamella.ones(2, 3) @ lamella.ones(3, 4)
>>> twin.counts()
{'aten::mm': 48}
>>> twin.reset()
"""

import threading
from collections import Counter

from lamella import Tensor
from lamella.library import Layer
from lamella.plugins import hookimpl

from lamella_flops.switch import Switch

registered: list[Layer] = []
flops_of: Counter[str] = Counter()
lock = threading.Lock()
thread = threading.local()  # .counted: this thread's sum, which shows whether operators inside a call were counted


@hookimpl
def register(ctx):
    wishes = {"at": "profiler", "outside": ("flops",), "stays_inside": True}
    registered.append(ctx.library("flops").register_layer("flops-twin", count, **wishes))


def layer() -> Layer:
    if not registered:
        raise RuntimeError("lamella_flops.twin: the layer is not registered; `lamella plugins` says why")
    return registered[0]


switch = Switch(layer, lambda on: layer().always(on))
on, off, enable = switch.on, switch.off, switch.enable


def formula(call, args, kwargs, result) -> int:
    out = result[0] if isinstance(result, tuple) else result
    if not args or not isinstance(out, Tensor):
        return 0
    name = call.name.removesuffix("_")
    if call.category == "pointwise":
        alpha = kwargs.get("alpha", args[2] if len(args) > 2 else 1)
        return out.numel() * (2 if name in ("aten::add", "aten::sub", "aten::rsub") and alpha != 1 else 1)
    if call.category == "reduction":
        return args[0].numel()
    return 2 * out.numel() * args[0].shape[-1] if name in ("aten::mm", "aten::bmm", "aten::mv") else 0


def count(call, *args, **kwargs):
    """The layer's handler for every operator: runs the call, then counts it."""
    before = getattr(thread, "counted", 0)
    result = call(*args, **kwargs)
    if getattr(thread, "counted", 0) == before:
        flops = formula(call, args, kwargs, result)
        thread.counted = before + flops
        with lock:
            flops_of[call.name] += flops
    return result


def counts() -> dict[str, int]:
    """Returns the operations of all threads since the last reset, by operator; without operators that have none."""
    with lock:
        return {name: flops for name, flops in sorted(flops_of.items()) if flops}


def total() -> int:
    """Returns the number of all operations since the last reset."""
    return sum(counts().values())


def reset() -> None:
    """Sets every count to zero."""
    with lock:
        flops_of.clear()
