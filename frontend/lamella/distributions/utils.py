"""Functions that distributions share: broadcasting, probabilities and logits, lazy properties, triangles."""

from __future__ import annotations

from functools import update_wrapper
from typing import Any

import lamella
from lamella._C import Tensor

__all__ = [
    "broadcast_all",
    "clamp_probs",
    "lazy_property",
    "logits_to_probs",
    "probs_to_logits",
    "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]

euler_constant = 0.5772156649015329
_NUMBERS = (int, float, bool)


def broadcast_all(*values: Any) -> tuple[Any, ...]:
    """Returns numbers and tensors as floating-point tensors of one shape.

    Numbers take the dtype and the device of the first floating tensor; without one, the default dtype. Tensors of
    integers become the default dtype.

    Raises:
        ValueError: a value is neither a number nor a tensor

    >>> [x.shape for x in lamella.distributions.utils.broadcast_all(0.0, lamella.ones(3))]
    [lamella.Size([3]), lamella.Size([3])]
    """
    like: dict[str, Any] = {}
    plain = True
    for v in values:
        if isinstance(v, Tensor):
            if not like and v.is_floating_point():
                like = {"dtype": v.dtype, "device": v.device}
        elif isinstance(v, _NUMBERS):
            plain = False
        else:
            raise ValueError(
                f"broadcast_all: expected numbers and tensors, got {type(v).__name__}; convert it with lamella.tensor"
            )
    if not plain or not like:
        if not like:
            device = next((v.device for v in values if isinstance(v, Tensor)), None)
            like = {"dtype": lamella.get_default_dtype(), "device": device}
        values = tuple(v if isinstance(v, Tensor) else lamella.tensor(v, **like) for v in values)
    made = tuple(v if v.is_floating_point() else v.to(lamella.get_default_dtype()) for v in values)
    shape = made[0].shape
    if all(m.shape == shape for m in made):
        return made
    return tuple(lamella.broadcast_tensors(made))


def standard_normal(shape: Any, like: Any) -> Any:
    """Draws standard normal numbers with the dtype and on the device of a tensor."""
    return lamella.randn(shape, dtype=like.dtype, device=like.device)


def open_uniform(shape: Any, like: Any) -> Any:
    """Draws uniform numbers above 0 and below 1, with the dtype and on the device of a tensor."""
    drawn = lamella.rand(shape, dtype=like.dtype, device=like.device)
    return drawn.clamp(min=lamella.finfo(drawn.dtype).tiny)


def sum_rightmost(value: Any, dims: int) -> Any:
    """Returns the sum over the last ``dims`` dimensions."""
    return value.sum(tuple(range(-dims, 0))) if dims else value


def logits_to_probs(logits: Any, is_binary: bool = False) -> Any:
    """Returns probabilities: the sigmoid of log odds (``is_binary``), or the softmax over the last dimension.

    >>> lamella.distributions.utils.logits_to_probs(lamella.zeros(2))
    tensor([0.5000, 0.5000])
    """
    return lamella.sigmoid(logits) if is_binary else lamella.softmax(logits, -1)


def clamp_probs(probs: Any) -> Any:
    """Returns probabilities within [eps, 1 - eps], with the dtype's eps, so that their logarithms are finite.

    >>> bool(lamella.distributions.utils.clamp_probs(lamella.zeros(1)) > 0)
    True
    """
    eps = lamella.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Any, is_binary: bool = False) -> Any:
    """Returns the log odds of probabilities (``is_binary``), or their logarithms.

    >>> lamella.distributions.utils.probs_to_logits(lamella.tensor([0.5]), is_binary=True)
    tensor([0.])
    """
    within = clamp_probs(probs)
    return within.log() - (-within).log1p() if is_binary else within.log()


class lazy_property:
    """A property whose value is computed at its first use and then kept in the instance.

    >>> class Circle:
    ...     @lamella.distributions.utils.lazy_property
    ...     def area(self):
    ...         return 3.14
    >>> circle = Circle()
    >>> circle.area, "area" in vars(circle)
    (3.14, True)
    """

    def __init__(self, wrapped: Any) -> None:
        self.wrapped = wrapped
        update_wrapper(self, wrapped)  # type: ignore[arg-type]

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        with lamella.enable_grad():  # type: ignore[attr-defined]
            value = self.wrapped(instance)
        instance.__dict__[self.wrapped.__name__] = value
        return value


def below_diagonal(size: int, diag: int, device: Any) -> Any:
    """Returns a matrix of bools that is True on and below a diagonal."""
    places = lamella.arange(size, device=device)
    return places <= places.unsqueeze(1) + diag


def tril_matrix_to_vec(mat: Any, diag: int = 0) -> Any:
    """Returns the elements on and below a diagonal of square matrices, row by row, as vectors.

    Raises ValueError if the matrices have no such diagonal.

    >>> lamella.distributions.utils.tril_matrix_to_vec(lamella.tensor([[1, 0], [2, 3]]))
    tensor([1, 2, 3])
    """
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"tril_matrix_to_vec: argument 'diag': expected a number from {-n} to {n - 1}, got {diag}")
    return mat[..., below_diagonal(n, diag, mat.device)]


def vec_to_tril_matrix(vec: Any, diag: int = 0) -> Any:
    """Returns square matrices whose elements on and below a diagonal are those of vectors, row by row, else 0.

    Raises ValueError if no square matrix has so many elements there.

    >>> lamella.distributions.utils.vec_to_tril_matrix(lamella.tensor([1.0, 2.0, 3.0]))
    tensor([[1., 0.],
            [2., 3.]])
    """
    count = vec.shape[-1]
    cut = abs(diag) * (abs(diag) + 1) // 2

    def elements(n: int) -> int:
        full = n * (n + 1) // 2
        return full + diag * n - cut if diag >= 0 else max(n + diag, 0) * (n + diag + 1) // 2

    n = next((n for n in range(1, 2 * count + abs(diag) + 2) if elements(n) >= count), 1)
    if elements(n) != count:
        raise ValueError(
            f"vec_to_tril_matrix: argument 'vec': {count} elements are not those on and below diagonal {diag} of a "
            "square matrix"
        )
    made = vec.new_zeros((*vec.shape[:-1], n * n))
    places = below_diagonal(n, diag, vec.device).flatten().nonzero().squeeze(-1)
    return made.index_copy(-1, places, vec).unflatten(-1, (n, n))
