"""Spectral normalization by a hook: a weight divided by its largest singular value (Miyato et al.,
arXiv:1802.05957)."""

from __future__ import annotations

from typing import Any, TypeVar

from lamella import nn
from lamella._C import Tensor
from lamella._history import no_history
from lamella.nn.functional import normalize
from lamella.nn.modules.module import Module
from lamella.nn.parameter import Parameter, is_lazy
from lamella.nn.utils._orthogonal import solve
from lamella.nn.utils._pre_hooks import remove_pre_hook

__all__ = [
    "SpectralNorm",
    "SpectralNormLoadStateDictPreHook",
    "SpectralNormStateDictHook",
    "remove_spectral_norm",
    "spectral_norm",
]

M = TypeVar("M", bound=Module)


def outputs_dim(module: Module, dim: int | None) -> int:
    """Returns the dimension of a weight that has the outputs: ``dim`` if given, 1 in transposed convolutions, else
    0."""
    if dim is not None:
        return dim
    kinds = tuple(getattr(nn, f"ConvTranspose{n}d") for n in (1, 2, 3) if hasattr(nn, f"ConvTranspose{n}d"))
    return 1 if isinstance(module, kinds) else 0


def as_matrix(weight: Tensor, dim: int) -> Tensor:
    """Returns a weight as a matrix: one dimension becomes the rows, all others the columns."""
    return weight.movedim(dim, 0).flatten(1) if weight.dim() > 1 else weight.reshape(-1, 1)


def direction(like: Tensor, length: int, eps: float) -> Tensor:
    """Returns a random vector of norm 1."""
    return normalize(like.detach().new_empty(length).normal_(0, 1), dim=0, eps=eps)


class SpectralNorm:
    """The hook of ``spectral_norm``: it computes the weight before each call.

    In training it improves the estimated singular vectors, the buffers ``NAME_u`` and ``NAME_v``, by the power method.
    """

    _version: int = 1

    def __init__(self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        if n_power_iterations <= 0:
            raise ValueError(f"spectral_norm: n_power_iterations must be positive, got {n_power_iterations}")
        self.name = name
        self.dim = dim
        self.n_power_iterations = n_power_iterations
        self.eps = eps

    def reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        """Returns the weight as a matrix with a row for each output."""
        return as_matrix(weight, self.dim)

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Any:
        """Returns the weight divided by its largest singular value, estimated anew with ``do_power_iteration``."""
        weight, u, v = (getattr(module, self.name + suffix) for suffix in ("_orig", "_u", "_v"))
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with no_history():
                for _ in range(self.n_power_iterations):
                    normalize(matrix.t().mv(u), dim=0, eps=self.eps, out=v)
                    normalize(matrix.mv(v), dim=0, eps=self.eps, out=u)
                u, v = u.clone(), v.clone()  # the next call overwrites the buffers, and backward needs these values
        return weight / u.dot(matrix.mv(v))

    def _solve_v_and_rescale(self, matrix: Any, u: Any, sigma: Any) -> Any:
        """Returns the shortest v for which W v is nearest to u, scaled so that u^T W v is sigma; ``matrix`` is W."""
        column = u.unsqueeze(1)
        if matrix.size(0) <= matrix.size(1):
            v = matrix.t() @ solve(matrix @ matrix.t(), column)
        else:
            v = solve(matrix.t() @ matrix, matrix.t() @ column)
        v = v.squeeze(1)
        return v * (sigma / u.dot(matrix.mv(v)))

    def remove(self, module: Any) -> None:
        """Makes the weight an ordinary parameter again."""
        with no_history():
            weight = self.compute_weight(module, do_power_iteration=False)
        for suffix in ("", "_u", "_v", "_orig"):
            delattr(module, self.name + suffix)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))

    @staticmethod
    def apply(module: Any, name: str, n_power_iterations: int, dim: int, eps: float) -> SpectralNorm:
        """Adds a hook to a module; raises a RuntimeError if the parameter has one already."""
        if any(isinstance(h, SpectralNorm) and h.name == name for h in module._forward_pre_hooks.values()):
            raise RuntimeError(f"spectral_norm: parameter {name!r} has a spectral norm already")
        hook = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"spectral_norm: parameter {name!r} is None")
        if is_lazy(weight):
            raise ValueError(f"spectral_norm: parameter {name!r} has no shape yet; call the lazy module once before")
        rows, columns = hook.reshape_weight_to_matrix(weight.detach()).shape
        u, v = direction(weight, rows, eps), direction(weight, columns, eps)
        delattr(module, name)
        module.register_parameter(name + "_orig", weight)
        setattr(module, name, weight.data)  # a plain tensor, as programs read the attribute before the first call
        module.register_buffer(name + "_u", u)
        module.register_buffer(name + "_v", v)
        module.register_forward_pre_hook(hook)
        module._register_state_dict_hook(SpectralNormStateDictHook(hook))
        module._register_load_state_dict_pre_hook(SpectralNormLoadStateDictPreHook(hook))
        return hook


class SpectralNormLoadStateDictPreHook:
    """Computes ``NAME_v`` for state dicts of the first version, which contain the weight itself instead."""

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: Any,
        unexpected_keys: Any,
        error_msgs: Any,
    ) -> None:
        key = prefix + self.fn.name
        version = local_metadata.get("spectral_norm", {}).get(self.fn.name + ".version")
        if version is not None and version >= 1:
            return
        if version is None and key not in state_dict and all(key + s in state_dict for s in ("_orig", "_u", "_v")):
            return  # a current state dict without its metadata
        absent = [key + suffix for suffix in ("_orig", "", "_u") if key + suffix not in state_dict]
        if absent:
            missing_keys.extend(absent if strict else ())
            return
        with no_history():
            original, weight, u = state_dict[key + "_orig"], state_dict.pop(key), state_dict[key + "_u"]
            sigma = (original / weight).mean()
            matrix = self.fn.reshape_weight_to_matrix(original)
            state_dict[key + "_v"] = self.fn._solve_v_and_rescale(matrix, u, sigma)


class SpectralNormStateDictHook:
    """Stores the version in the state dict's metadata."""

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(self, module: Any, state_dict: Any, prefix: str, local_metadata: Any) -> None:
        versions = local_metadata.setdefault("spectral_norm", {})
        key = self.fn.name + ".version"
        if key in versions:
            raise RuntimeError(f"spectral_norm: the metadata has {key!r} already")
        versions[key] = self.fn._version


def spectral_norm(
    module: M, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> M:
    """Divides a parameter by its largest singular value before each call; returns the module.

    Args:
        n_power_iterations: steps of the power method in each call in training
        eps: a lower bound of the norms that vectors are divided by
        dim: the dimension of the outputs, by default 1 in transposed convolutions and else 0

    ``parametrizations.spectral_norm`` does the same without a hook.

    >>> m = lamella.nn.utils.spectral_norm(lamella.nn.Linear(4, 3))
    >>> sorted(m.state_dict())
    ['bias', 'weight_orig', 'weight_u', 'weight_v']
    """
    SpectralNorm.apply(module, name, n_power_iterations, outputs_dim(module, dim), eps)
    return module


def remove_spectral_norm(module: M, name: str = "weight") -> M:
    """Makes the parameter an ordinary one again, with its present value; returns the module.

    >>> m = lamella.nn.utils.spectral_norm(lamella.nn.Linear(4, 3))
    >>> sorted(lamella.nn.utils.remove_spectral_norm(m).state_dict())
    ['bias', 'weight']
    """
    if not remove_pre_hook(module, lambda hook: isinstance(hook, SpectralNorm) and hook.name == name):
        raise ValueError(f"remove_spectral_norm: {name!r} of {type(module).__name__} has no spectral norm")
    kept: Any = module
    for hooks in (kept._state_dict_hooks, kept._load_state_dict_pre_hooks):
        for key, found in list(hooks.items()):
            inner = found[0] if isinstance(found, tuple) else found
            if isinstance(inner, (SpectralNormStateDictHook, SpectralNormLoadStateDictPreHook)):
                if inner.fn.name == name:
                    del hooks[key]
    return module
