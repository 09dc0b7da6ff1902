"""Transforms of vectors and matrices, and of parts of a tensor by several transforms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import lamella
from lamella.distributions import constraints
from lamella.distributions._number_transforms import _Same, clipped_sigmoid
from lamella.distributions._transform import Transform
from lamella.distributions.constraints import require
from lamella.distributions.utils import sum_rightmost, tril_matrix_to_vec, vec_to_tril_matrix


def _cut(shape: Any, least: int) -> Any:
    if len(shape) < least:
        raise ValueError(f"expected at least {least} dimensions, got shape {tuple(shape)}")
    return shape


class CorrCholeskyTransform(_Same):
    """Makes Cholesky factors of n by n correlation matrices of vectors of n (n - 1) / 2 numbers.

    The numbers become canonical partial correlations by tanh; a row of the factor is built from the left, each element
    a share of the length that is left (Lewandowski, Kurowicka and Joe, "Generating random correlation matrices based on
    vines and extended onion method", 2009).

    >>> lamella.distributions.CorrCholeskyTransform()(lamella.zeros(1))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Any) -> Any:
        eps = lamella.finfo(x.dtype).eps
        shares = vec_to_tril_matrix(x.tanh().clamp(-1 + eps, 1 - eps), -1)
        left = (1 - shares * shares).sqrt().cumprod(-1)  # the length of the row beyond each element
        whole = shares + lamella.eye(shares.shape[-1], dtype=x.dtype, device=x.device)
        return whole * lamella.nn.functional.pad(left[..., :-1], [1, 0], value=1.0)

    def _inverse(self, y: Any) -> Any:
        gone = (y * y).cumsum(-1)
        left = lamella.nn.functional.pad((1 - gone)[..., :-1], [1, 0], value=1.0).clamp(min=lamella.finfo(y.dtype).tiny)
        shares = tril_matrix_to_vec(y, -1) / tril_matrix_to_vec(left, -1).sqrt()
        return shares.atanh()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        left = (1 - (y * y).cumsum(-1)).clamp(min=lamella.finfo(y.dtype).tiny)
        chain = 0.5 * tril_matrix_to_vec(left.log(), -2).sum(-1)
        slopes = -2 * (x.abs() + lamella.nn.functional.softplus(-2 * x.abs()) - 0.6931471805599453).sum(-1)
        return chain + slopes

    def forward_shape(self, shape: Any) -> Any:
        count = _cut(shape, 1)[-1]
        n = round((0.25 + 2 * count) ** 0.5 + 0.5)
        if n * (n - 1) // 2 != count:
            raise ValueError(f"CorrCholeskyTransform: {count} numbers do not make a triangle below a diagonal")
        return (*shape[:-1], n, n)

    def inverse_shape(self, shape: Any) -> Any:
        n = _cut(shape, 2)[-1]
        if shape[-2] != n:
            raise ValueError(f"CorrCholeskyTransform: expected square matrices, got shape {tuple(shape)}")
        return (*shape[:-2], n * (n - 1) // 2)


class SoftmaxTransform(_Same):
    """Makes shares that add up to 1 of vectors. It is not bijective; the inverse takes logarithms.

    >>> lamella.distributions.SoftmaxTransform()(lamella.zeros(2))
    tensor([0.5000, 0.5000])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Any) -> Any:
        return lamella.softmax(x, -1)

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def forward_shape(self, shape: Any) -> Any:
        return _cut(shape, 1)

    def inverse_shape(self, shape: Any) -> Any:
        return _cut(shape, 1)


class StickBreakingTransform(_Same):
    """Makes n + 1 shares that add up to 1 of vectors of n numbers: each number gives a share of the part that is left.

    The offset log(n - k) makes equal shares of zeros.

    >>> lamella.distributions.StickBreakingTransform()(lamella.zeros(1))
    tensor([0.5000, 0.5000])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def _offset(self, x: Any, count: int) -> Any:
        return lamella.arange(count, 0, -1, dtype=x.dtype, device=x.device).log()

    def _call(self, x: Any) -> Any:
        pad = lamella.nn.functional.pad
        shares = clipped_sigmoid(x - self._offset(x, x.shape[-1]))
        return pad(shares, [0, 1], value=1.0) * pad((1 - shares).cumprod(-1), [1, 0], value=1.0)

    def _inverse(self, y: Any) -> Any:
        kept = y[..., :-1]
        left = (1 - kept.cumsum(-1)).clamp(min=lamella.finfo(y.dtype).tiny)
        return kept.log() - left.log() + self._offset(y, kept.shape[-1])

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        x = x - self._offset(x, x.shape[-1])
        return (y[..., :-1].log() + lamella.nn.functional.logsigmoid(-x)).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        return (*_cut(shape, 1)[:-1], shape[-1] + 1)

    def inverse_shape(self, shape: Any) -> Any:
        return (*_cut(shape, 1)[:-1], shape[-1] - 1)


class LowerCholeskyTransform(_Same):
    """Makes matrices lower triangular, with the exponentials of their diagonals.

    >>> lamella.distributions.LowerCholeskyTransform()(lamella.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Any) -> Any:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Any) -> Any:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(_Same):
    """Makes matrices positive definite: the product of LowerCholeskyTransform's result and its transpose.

    >>> lamella.distributions.PositiveDefiniteTransform()(lamella.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Any) -> Any:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Any) -> Any:
        return LowerCholeskyTransform().inv(lamella.linalg.cholesky(y))


class _Parts(Transform):
    """A transform of parts of a tensor along ``dim``, each by one of several transforms."""

    transforms: list[Any]
    dim: int

    @property
    def bijective(self) -> Any:  # type: ignore[override]
        """True if all transforms are bijective."""
        return all(t.bijective for t in self.transforms)

    def _of(self, value: Any) -> Any:
        raise NotImplementedError

    def _check(self, value: Any, count: int) -> None:
        name = type(self).__name__
        require(
            -value.dim() <= self.dim < value.dim(), f"{name}: dim {self.dim} of a value of {value.dim()} dimensions"
        )
        size = value.shape[self.dim]
        require(size == count, f"{name}: expected size {count} along dim {self.dim}, got {size}")


class CatTransform(_Parts):
    """Transforms neighbouring parts along ``dim``, which have the sizes ``lengths``, each by its own transform.

    >>> d = lamella.distributions
    >>> d.CatTransform([d.ExpTransform(), d.identity_transform], lengths=[1, 2])(lamella.zeros(3))
    tensor([1., 0., 0.])
    """

    def __init__(self, tseq: Sequence[Any], dim: int = 0, lengths: Any = None, cache_size: int = 0) -> None:
        require(all(isinstance(t, Transform) for t in tseq), f"CatTransform: expected transforms, got {tseq!r}")
        super().__init__(cache_size)
        self.transforms = [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        right = len(self.lengths) == len(self.transforms)
        require(right, f"CatTransform: {len(self.transforms)} transforms and {self.lengths} lengths")
        self.dim = dim

    @property
    def event_dim(self) -> Any:
        return max(t.event_dim for t in self.transforms)

    @property
    def length(self) -> int:
        """The size along ``dim``."""
        return sum(self.lengths)

    def with_cache(self, cache_size: int = 1) -> Any:
        if self._cache_size == cache_size:
            return self
        return CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _of(self, value: Any) -> Any:
        self._check(value, self.length)
        return value.split(self.lengths, self.dim)

    def _call(self, x: Any) -> Any:
        return lamella.cat([t(part) for t, part in zip(self.transforms, self._of(x), strict=True)], self.dim)

    def _inverse(self, y: Any) -> Any:
        return lamella.cat([t.inv(part) for t, part in zip(self.transforms, self._of(y), strict=True)], self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        events = self.event_dim
        found = [
            sum_rightmost(t.log_abs_det_jacobian(a, b), events - t.event_dim)
            for t, a, b in zip(self.transforms, self._of(x), self._of(y), strict=True)
        ]
        dim = (self.dim - x.dim() if self.dim >= 0 else self.dim) + events
        return lamella.cat(found, dim) if dim < 0 else sum(found)  # dimensions of the event are added

    @constraints.dependent_property
    def domain(self) -> Any:  # type: ignore[override]
        """The domains of the parts."""
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self) -> Any:  # type: ignore[override]
        """The codomains of the parts."""
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)


class StackTransform(_Parts):
    """Transforms each slice along ``dim`` by its own transform.

    >>> d = lamella.distributions
    >>> d.StackTransform([d.ExpTransform(), d.identity_transform])(lamella.zeros(2))
    tensor([1., 0.])
    """

    def __init__(self, tseq: Sequence[Any], dim: int = 0, cache_size: int = 0) -> None:
        require(all(isinstance(t, Transform) for t in tseq), f"StackTransform: expected transforms, got {tseq!r}")
        super().__init__(cache_size)
        self.transforms = [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq)
        self.dim = dim

    def with_cache(self, cache_size: int = 1) -> Any:
        return self if self._cache_size == cache_size else StackTransform(self.transforms, self.dim, cache_size)

    def _of(self, value: Any) -> Any:
        self._check(value, len(self.transforms))
        return value.unbind(self.dim)

    def _call(self, x: Any) -> Any:
        return lamella.stack([t(part) for t, part in zip(self.transforms, self._of(x), strict=True)], self.dim)

    def _inverse(self, y: Any) -> Any:
        return lamella.stack([t.inv(part) for t, part in zip(self.transforms, self._of(y), strict=True)], self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        triples = zip(self.transforms, self._of(x), self._of(y), strict=True)
        return lamella.stack([t.log_abs_det_jacobian(a, b) for t, a, b in triples], self.dim)

    @constraints.dependent_property
    def domain(self) -> Any:  # type: ignore[override]
        """The domains of the slices."""
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self) -> Any:  # type: ignore[override]
        """The codomains of the slices."""
        return constraints.stack([t.codomain for t in self.transforms], self.dim)
