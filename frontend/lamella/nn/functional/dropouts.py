"""Dropout, in training: of elements, of channels, and alpha dropout for SELU."""

from __future__ import annotations

import warnings
from typing import Any

from lamella.nn.functional._operators import both

__all__ = ["alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout"]

_dropout, _alpha_dropout = both("dropout"), both("alpha_dropout")
_feature_dropout, _feature_alpha_dropout = both("feature_dropout"), both("feature_alpha_dropout")


def _dropped(who: str, forms: tuple[Any, Any], input: Any, p: float, training: bool, inplace: bool) -> Any:
    """Calls the operator, or its in-place form, after a check of ``p``."""
    if not 0 <= p <= 1:
        raise ValueError(f"{who}: argument 'p': dropout probability has to be between 0 and 1, but got {p}")
    return forms[inplace](input, p, training)


def dropout(input, p=0.5, training=True, inplace=False):
    """In training, zeros each element with probability ``p`` and scales the others by ``1 / (1 - p)``.

    >>> lamella.nn.functional.dropout(lamella.ones(3), training=False)
    tensor([1., 1., 1.])
    """
    return _dropped("dropout", _dropout, input, p, training, bool(inplace))


def alpha_dropout(input, p=0.5, training=False, inplace=False):
    """In training, sets each element with probability ``p`` to the limit of SELU at minus infinity, and then scales and
    shifts all, so that mean 0 and variance 1 stay.

    After Klambauer et al. (2017).

    >>> lamella.nn.functional.alpha_dropout(lamella.ones(3))
    tensor([1., 1., 1.])
    """
    return _dropped("alpha_dropout", _alpha_dropout, input, p, training, bool(inplace))


def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    """``alpha_dropout`` of whole channels of (N, C, ...).

    >>> lamella.nn.functional.feature_alpha_dropout(lamella.ones(1, 3))
    tensor([[1., 1., 1.]])
    """
    return _dropped("feature_alpha_dropout", _feature_alpha_dropout, input, p, training, bool(inplace))


def _channels(who: str, input: Any, p: float, training: bool, inplace: bool, batched: int) -> Any:
    """Drops channels of a batch of ``batched`` dimensions, or of one sample, which has one dimension less."""
    if input.ndim == batched:
        return _dropped(who, _feature_dropout, input, p, training, inplace)
    made = _dropped(who, _feature_dropout, input.unsqueeze(0), p, training, inplace)
    # With ``inplace`` the operator wrote through the view that ``unsqueeze`` gave.
    return input if inplace else made.squeeze(0)


def _warn_of_rank(who: str, rank: int, spatial: int) -> None:
    warnings.warn(
        f"{who}: Received a {rank}-D input to {who}, which is deprecated and will result in an error in a future "
        f"release; it drops channels of inputs with {spatial} spatial dimensions, a channel dimension and an optional "
        "batch dimension. To retain the behavior and silence this warning, please use dropout instead.",
        stacklevel=3,
    )


def dropout1d(input, p=0.5, training=True, inplace=False):
    """``dropout`` of whole channels of (N, C, L) or (C, L).

    >>> lamella.nn.functional.dropout1d(lamella.ones(1, 2, 2), p=1.0).sum()
    tensor(0.)
    """
    if input.ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input of shape {tuple(input.shape)}; "
            "for other inputs use dropout"
        )
    return _channels("dropout1d", input, p, training, bool(inplace), 3)


def dropout2d(input, p=0.5, training=True, inplace=False):
    """``dropout`` of whole channels of (N, C, H, W).

    As in torch, three dimensions are taken for (N, C, L), with a warning; dropout1d is for those.

    >>> lamella.nn.functional.dropout2d(lamella.ones(1, 2, 2, 2), p=1.0).sum()
    tensor(0.)
    """
    if input.ndim not in (3, 4):
        _warn_of_rank("dropout2d", input.ndim, 2)
    if input.ndim == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout is desired: "
            "its shape is read as (N, C, L), not (C, H, W). For the same without this warning use dropout1d.",
            stacklevel=2,
        )
    return _dropped("dropout2d", _feature_dropout, input, p, training, bool(inplace))


def dropout3d(input, p=0.5, training=True, inplace=False):
    """``dropout`` of whole channels of (N, C, D, H, W) or (C, D, H, W).

    >>> lamella.nn.functional.dropout3d(lamella.ones(1, 2, 2, 2, 2), p=1.0).sum()
    tensor(0.)
    """
    if input.ndim not in (4, 5):
        _warn_of_rank("dropout3d", input.ndim, 3)
    return _channels("dropout3d", input, p, training, bool(inplace), 5)
