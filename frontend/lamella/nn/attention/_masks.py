"""Masks of blocks: functions of elements, and lists of the blocks of queries and keys that attention computes.

``lamella.nn.attention.flex_attention`` shows these names.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import lamella
from lamella import Tensor

BLOCK = 128
MaskMod = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]


def noop_mask(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    """Returns True: each query attends to each key.

    >>> zero = lamella.tensor(0)
    >>> lamella.nn.attention.flex_attention.noop_mask(zero, zero, zero, zero)
    tensor(True)
    """
    return batch.new_ones((), dtype=lamella.bool)


def and_masks(*mask_mods: MaskMod) -> MaskMod:
    """Returns a function of a mask that is True where all the given ones are.

    Raises:
        RuntimeError: an argument is no function

    >>> flex = lamella.nn.attention.flex_attention
    >>> mask = flex.and_masks(lambda b, h, q, k: q >= k, lambda b, h, q, k: q - k < 2)
    >>> flex.create_mask(mask, 1, 1, 3, 3)[0, 0].int()
    tensor([[1, 0, 0],
            [1, 1, 0],
            [0, 1, 1]], dtype=lamella.int32)
    """
    _check_functions("and_masks", mask_mods)

    def both(b: Tensor, h: Tensor, q: Tensor, k: Tensor) -> Tensor:
        result: Any = noop_mask(b, h, q, k)
        for mask in mask_mods:
            result = result & mask(b, h, q, k)
        return result

    return both


def or_masks(*mask_mods: MaskMod) -> MaskMod:
    """Returns a function of a mask that is True where one of the given ones is.

    Raises:
        RuntimeError: an argument is no function

    >>> flex = lamella.nn.attention.flex_attention
    >>> mask = flex.or_masks(lambda b, h, q, k: q == k, lambda b, h, q, k: k == 0)
    >>> flex.create_mask(mask, 1, 1, 3, 3)[0, 0].int()
    tensor([[1, 0, 0],
            [1, 1, 0],
            [1, 0, 1]], dtype=lamella.int32)
    """
    _check_functions("or_masks", mask_mods)

    def either(b: Tensor, h: Tensor, q: Tensor, k: Tensor) -> Tensor:
        result: Any = ~noop_mask(b, h, q, k)
        for mask in mask_mods:
            result = result | mask(b, h, q, k)
        return result

    return either


def _check_functions(who: str, functions: Any) -> None:
    for f in functions:
        if not callable(f):
            raise RuntimeError(f"{who}: expected functions of batch, head, query and key, got {type(f).__name__}")


def positions(sizes: tuple[int, int, int, int], device: Any) -> list[Tensor]:
    """Returns the indices of batch, head, query and key, each along its own dimension of four."""
    found = []
    for dim, size in enumerate(sizes):
        shape = [1, 1, 1, 1]
        shape[dim] = size
        found.append(lamella.arange(size, device=device).view(shape))
    return found


def computed(who: str, mod: Callable[..., Any], sizes: tuple[int, int, int, int], before: Any, device: Any) -> Tensor:
    """Returns a function's results for all indices at once, as a tensor that broadcasts to the four sizes.

    Args:
        before: arguments before the indices: the scores, for a function that changes them

    Raises:
        ValueError: the results do not have these sizes, as if an index was applied to the result of another
    """
    found = mod(*before, *positions(sizes, device))
    if not isinstance(found, Tensor):
        found = lamella.tensor(found, device=device)
    fits = found.ndim <= 4 and all(
        have in (1, want) for have, want in zip(reversed(found.shape), reversed(sizes), strict=False)
    )
    if not fits:
        raise ValueError(
            f"{who}: the function's result has shape {tuple(found.shape)}, which does not broadcast to {sizes}. It is "
            "called once with tensors of all indices, so it must compute by elements, and index a tensor by several "
            "indices in one pair of brackets, as table[b, q]"
        )
    return found


def create_mask(
    mod_fn: Callable[..., Any],
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
) -> Tensor:
    """Returns the elements of a mask, or of the change that a function makes of scores of zero.

    Args:
        mod_fn: ``mask_mod(b, h, q_idx, kv_idx)`` or ``score_mod(score, b, h, q_idx, kv_idx)``; it is called once with
            tensors of all indices
        B, H: the numbers of batches and heads; None means 1
        Q_LEN, KV_LEN: the numbers of queries and keys

    Returns:
        A tensor of shape (B, H, Q_LEN, KV_LEN); of bool for a mask

    Raises:
        AssertionError: the function takes neither four nor five arguments
        ValueError: its result does not broadcast to the shape

    >>> lamella.nn.attention.flex_attention.create_mask(lambda b, h, q, k: q >= k, 1, 1, 2, 2)
    tensor([[[[ True, False],
              [ True,  True]]]])
    """
    sizes = (B or 1, H or 1, Q_LEN, KV_LEN)
    count = _count(mod_fn)
    if count == 4:
        return computed("create_mask", mod_fn, sizes, (), device).to(lamella.bool).expand(sizes)
    if count != 5:
        raise AssertionError(
            f"create_mask: argument 'mod_fn' must take batch, head, query and key, or the score before these; it takes "
            f"{count} arguments"
        )
    return computed("create_mask", mod_fn, sizes, (lamella.zeros(sizes, device=device),), device).expand(sizes)


def _count(function: Callable[..., Any]) -> int:
    """Returns how many arguments without a default a function takes by position; 4 if it does not say."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 4
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return 4
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.kind in by_position and p.default is p.empty for p in parameters)


def pair(who: str, block_size: Any) -> tuple[int, int]:
    """Returns the sizes of a block in queries and keys."""
    found = (block_size, block_size) if isinstance(block_size, int) else tuple(block_size)
    if len(found) != 2 or min(found) < 1:
        raise ValueError(f"{who}: argument 'BLOCK_SIZE' must be a positive int or two, got {block_size!r}")
    return found


def listed(blocks: Tensor) -> tuple[Tensor, Tensor]:
    """Returns for each row of blocks how many are True, and the indices of these, followed by the others."""
    indices = (~blocks).to(lamella.int32).argsort(dim=-1, stable=True)
    return blocks.sum(dim=-1).to(lamella.int32), indices.to(lamella.int32)


def unlisted(numbers: Tensor, indices: Tensor, columns: int) -> Tensor:
    """Returns the bool blocks that `listed` made the lists of."""
    used = lamella.arange(indices.shape[-1], device=indices.device) < numbers.unsqueeze(-1)
    found = lamella.zeros(*indices.shape[:-1], columns + 1, dtype=lamella.bool, device=indices.device)
    at = lamella.where(used, indices.long(), columns)  # the last column takes the indices that are not in use
    return found.scatter(-1, at, lamella.ones_like(used))[..., :columns]
