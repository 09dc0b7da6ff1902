"""Writes through views: how the value of a tensor follows from a new value of a view of it."""

from __future__ import annotations

from typing import Any

SAME = ("detach", "alias", "positive", "view_as", "contiguous", "to", "real")
RESHAPED = ("view", "reshape", "flatten", "unflatten", "unsqueeze", "squeeze", "ravel", "view_as", "atleast_1d")
SWAPPED = ("t", "transpose", "swapaxes")
SPLIT = ("split", "split_with_sizes", "chunk", "tensor_split")


def inverse(view: Any, parent: Any, new: Any) -> tuple[str, dict[str, Any]] | None:
    """Returns the operator and its arguments that make the new value of the parent of a view.

    The operator is "" if the value is ``new`` itself; None stands for a view whose inverse is not known.

    Args:
        view: the view, as the recorder knows it
        parent: the value of its parent before the write
        new: the value of the view after it
    """
    node, rank = view.node, len(parent.shape)
    name, given = node.op.partition("::")[2].partition(".")[0], node.given
    dim = given.get("dim", 0)
    dim = dim % max(rank, 1) if isinstance(dim, int) else dim
    if new.shape == parent.shape and name in (*SAME, "expand"):
        return "", {}
    if name in RESHAPED:
        return "aten::reshape", {"self": new, "shape": list(parent.shape)}
    if name in SWAPPED:
        axes = [a for a in given.values() if isinstance(a, int)] or [0, 1]
        return "aten::transpose.int", {"self": new, "dim0": axes[0], "dim1": axes[-1]}
    if name == "permute":
        order = [d % rank for d in given["dims"]]
        return "aten::permute", {"self": new, "dims": [order.index(d) for d in range(rank)]}
    if name == "select":
        return "aten::select_scatter", {"self": parent, "src": new, "dim": dim, "index": given["index"]}
    if name == "unbind":
        return "aten::select_scatter", {"self": parent, "src": new, "dim": dim, "index": view.place}
    if name == "diagonal":
        return "aten::diagonal_scatter", {"self": parent, "src": new} | {n: v for n, v in given.items() if n != "self"}
    if name == "slice":
        places = given["start"], given["end"], given["step"]
    elif name == "narrow":
        places = given["start"], given["start"] + given["length"], 1
    elif name in SPLIT:
        start = sum(v.shape[dim] for v in node.results[: view.place])
        places = start, start + new.shape[dim], 1
    else:
        return None
    start, end, step = places
    return "aten::slice_scatter", {"self": parent, "src": new, "dim": dim, "start": start, "end": end, "step": step}
