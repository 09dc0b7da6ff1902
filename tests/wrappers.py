"""A tensor class that wraps another tensor, as torch programs define them."""

from lamella import _C, Tensor


class Wrapped(Tensor):
    """Wraps a tensor and notes the calls on it."""

    calls = []

    @staticmethod
    def __new__(cls, inner, requires_grad=False):
        made = Tensor._make_wrapper_subclass(
            cls, inner.shape, dtype=inner.dtype, device=inner.device, requires_grad=requires_grad
        )
        made.inner = inner
        return made

    __torch_function__ = _C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        cls.calls.append(func.__name__)

        def unwrap(a):
            return a.inner if isinstance(a, cls) else list(map(unwrap, a)) if isinstance(a, list) else a

        result = func(*map(unwrap, args), **{k: unwrap(v) for k, v in (kwargs or {}).items()})
        return cls(result) if isinstance(result, Tensor) else result
