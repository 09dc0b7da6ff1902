"""Steps by sparse gradients, which change the elements of a parameter at the places of the gradient's entries alone."""

from __future__ import annotations

from typing import Any

from lamella._C import Tensor


def any_sparse(tensors: list[Any]) -> bool:
    """Returns whether one of the tensors is sparse. Tensor has the attribute once the plugin's library is loaded."""
    return hasattr(Tensor, "_sparse_layout") and any(t.is_opaque and t._sparse_layout for t in tensors)


def is_sparse(tensor: Any) -> bool:
    return any_sparse([tensor])


def coalesced(name: str, grad: Any) -> Any:
    """Returns a gradient with each place once, since the formulas of a step are not linear."""
    if not grad.is_sparse:
        raise RuntimeError(f"{name}: a gradient has layout {grad.layout}; gradients of layout sparse_coo are supported")
    return grad.coalesce()


def with_values(grad: Any, values: Any) -> Any:
    """Returns a sparse tensor with the places of a coalesced gradient."""
    import lamella

    made: Any = lamella.sparse_coo_tensor(  # type: ignore[attr-defined]
        grad.indices(), values, grad.shape, check_invariants=False, is_coalesced=True
    )
    return made


def values_at(dense: Any, grad: Any) -> Any:
    """Returns the elements of a dense tensor at the places of a coalesced gradient."""
    return dense.sparse_mask(grad).values()
