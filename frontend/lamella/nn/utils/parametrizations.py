"""Parametrizations of weights: orthogonal matrices, weight norm and spectral norm."""

from __future__ import annotations

from typing import Any

import lamella.nn.utils._orthogonal as maps
import lamella.nn.utils.parametrize as parametrize
from lamella._C import Tensor
from lamella._history import no_history, without_history
from lamella.nn.functional import normalize
from lamella.nn.modules.module import Module
from lamella.nn.utils.spectral_norm import as_matrix, direction, outputs_dim
from lamella.nn.utils.weight_norm import norm_except_dim, normalized

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


class _Orthogonal(Module):
    """A matrix computed by a map onto orthogonal matrices, by default times the constant matrix ``base``."""

    base: Any

    def __init__(self, weight: Tensor, orthogonal_map: str, *, use_trivialization: bool = True) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("orthogonal: the map 'householder' is for real matrices")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Any:
        wide = X.size(-2) < X.size(-1)
        tall = X.mT if wide else X
        Q = maps.MAPS[self.orthogonal_map](tall)
        if "base" in self._buffers:
            Q = self.base @ Q
        return Q.mT if wide else Q

    @without_history
    def right_inverse(self, Q: Tensor) -> Any:
        if Q.shape != self.shape:
            raise ValueError(f"orthogonal: the matrix must have the shape {self.shape}, got {Q.shape}")
        wide = Q.size(-2) < Q.size(-1)
        tall = Q.mT if wide else Q
        n, k = tall.size(-2), tall.size(-1)
        if "base" not in self._buffers:
            if self.orthogonal_map != "householder":
                raise NotImplementedError(
                    f"orthogonal: with use_trivialization=False the map {self.orthogonal_map!r} has no inverse, so "
                    "that a value cannot be assigned"
                )
            A = maps.reflectors(tall)
            return A.mT if wide else A
        if n == k:
            self.base = tall.clone() if maps.is_orthogonal(tall) else maps.nearest(tall)
        else:
            more = tall.new_empty((*tall.shape[:-2], n, n - k)).normal_()
            self.base = maps.nearest(maps.joined(tall, more))
        # The weight is to start as the first columns of `base` (transposed if the weight is wide). So the parameter
        # starts as minus the identity, from which each map computes the first columns of the identity.
        start = Q.new_zeros(Q.shape)
        start.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return start


def _tensor(who: str, module: Any, name: str) -> Any:
    found = getattr(module, name, None)
    if not isinstance(found, Tensor):
        raise ValueError(f"{who}: {type(module).__name__} has no parameter or buffer {name!r}")
    return found


def orthogonal(
    module: Module, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Module:
    """Makes the columns of a weight, a matrix or a batch of them, orthonormal; its rows if it has fewer rows.

    Args:
        orthogonal_map: "matrix_exp" (of a skew matrix), "cayley" or "householder"; by default "matrix_exp" for square
            and complex matrices, else "householder"
        use_trivialization: the result is multiplied by a constant, ``base``, so that the weight starts as the
            orthogonal matrix of its QR decomposition; otherwise values cannot be assigned but with "householder"

    Raises:
        ValueError: there is no such tensor, it has less than two dimensions, or the map is unknown, or
            "householder" for a complex tensor

    The maps are described by Lezcano-Casado, arXiv:1909.09501.

    >>> m = lamella.nn.utils.parametrizations.orthogonal(lamella.nn.Linear(2, 4))
    >>> lamella.allclose(m.weight.mT @ m.weight, lamella.eye(2), atol=1e-5)
    True
    """
    weight = _tensor("orthogonal", module, name)
    if weight.dim() < 2:
        raise ValueError(f"orthogonal: {name!r} must be a matrix or a batch of them, got {weight.dim()} dimensions")
    if orthogonal_map is None:
        exponential = weight.size(-2) == weight.size(-1) or weight.is_complex()
        orthogonal_map = "matrix_exp" if exponential else "householder"
    if orthogonal_map not in maps.MAPS:
        raise ValueError(f"orthogonal: orthogonal_map must be one of {list(maps.MAPS)}, got {orthogonal_map!r}")
    made = _Orthogonal(weight, orthogonal_map, use_trivialization=use_trivialization)
    return parametrize.register_parametrization(module, name, made, unsafe=True)


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Any:
        return normalized(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Tensor) -> Any:
        return norm_except_dim(weight, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int = 0) -> Module:
    """Splits a weight into its norm, ``original0``, and its direction, ``original1`` (arXiv:1602.07868).

    Args:
        dim: the dimension that keeps its size: each of its indices has a norm; None for one norm of all elements

    State dicts of ``nn.utils.weight_norm`` can be loaded.

    >>> m = lamella.nn.utils.parametrizations.weight_norm(lamella.nn.Linear(4, 3))
    >>> [(n, tuple(p.shape)) for n, p in m.parametrizations.named_parameters()]
    [('weight.original0', (3, 1)), ('weight.original1', (3, 4))]
    """
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def renamed(state_dict: Any, prefix: str, *_: Any) -> None:
        if f"{prefix}{name}_g" in state_dict and f"{prefix}{name}_v" in state_dict:
            for number, suffix in enumerate(("_g", "_v")):
                value = state_dict.pop(f"{prefix}{name}{suffix}")
                state_dict[f"{prefix}parametrizations.{name}.original{number}"] = value

    module._register_load_state_dict_pre_hook(renamed)
    return module


class _SpectralNorm(Module):
    _u: Any
    _v: Any

    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        ndim = weight.dim()
        if not -ndim <= dim < ndim:
            raise IndexError(f"spectral_norm: dim must be from {-ndim} to {ndim - 1}, got {dim}")
        if n_power_iterations <= 0:
            raise ValueError(f"spectral_norm: n_power_iterations must be positive, got {n_power_iterations}")
        self.dim = dim % ndim
        self.eps = eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = as_matrix(weight.detach(), self.dim)
            self.register_buffer("_u", direction(matrix, matrix.size(0), eps))
            self.register_buffer("_v", direction(matrix, matrix.size(1), eps))
            self._power_method(matrix, 15)

    def _power_method(self, matrix: Tensor, steps: int) -> None:
        """Improves the estimates of the singular vectors in place."""
        with no_history():
            for _ in range(steps):
                normalize(matrix.mv(self._v), dim=0, eps=self.eps, out=self._u)
                normalize(matrix.mH.mv(self._u), dim=0, eps=self.eps, out=self._v)

    def forward(self, weight: Tensor) -> Any:
        if weight.dim() == 1:
            return normalize(weight, dim=0, eps=self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()  # the next call overwrites the buffers, and backward needs these values
        return weight / u.vdot(matrix.mv(v))

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """Divides a weight by its largest singular value, which the power method approximates (arXiv:1802.05957).

    Args:
        n_power_iterations: steps of the power method each time that the weight is read in training
        eps: a lower bound of the norms that vectors are divided by
        dim: the dimension of the outputs, by default 1 in transposed convolutions and else 0

    >>> m = lamella.nn.utils.parametrizations.spectral_norm(lamella.nn.Linear(4, 3), n_power_iterations=50)
    >>> w = m.weight.detach().numpy()
    >>> import numpy
    >>> bool(abs(numpy.linalg.norm(w, 2) - 1) < 1e-2)
    True
    """
    weight = _tensor("spectral_norm", module, name)
    made = _SpectralNorm(weight, n_power_iterations, outputs_dim(module, dim), eps)
    return parametrize.register_parametrization(module, name, made)
