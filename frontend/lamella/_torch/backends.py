"""The switches of torch.backends: those that need not change a result are accepted and ignored, others are refused."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any

from lamella._torch.refusals import Refusal


def _constant(name: str, value: Any, doc: str) -> Callable[..., Any]:
    def function(*args: Any) -> Any:
        return value

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _asked(**answers: Any) -> dict[str, Any]:
    return {name: _constant(name, value, f"{value}.") for name, value in answers.items()}


def _flags(module: ModuleType, names: str) -> Callable[..., Any]:
    """Makes the function ``flags`` of a module of switches, whose names are in ``names``."""
    order = names.split()

    @contextmanager
    def flags(*args: Any, **kwargs: Any) -> Iterator[None]:
        """Sets switches within a block, and restores them at its end."""
        given = dict(zip(order, args, strict=False)) | kwargs
        if unknown := sorted(set(given) - set(order)):
            raise TypeError(f"{module.__name__}.flags: has no argument '{unknown[0]}'; it has {order}")
        before = {name: getattr(module, name) for name in given}
        try:
            for name, value in given.items():
                setattr(module, name, value)
            yield
        finally:
            for name, value in before.items():
                setattr(module, name, value)

    return flags


def _has_onednn() -> bool:
    """Returns whether the CPU backend was built with oneDNN."""
    from lamella.plugins.manager import native_folder

    return (native_folder() / "backends/cpu/libdnnl.so.3").exists()


def _cudnn(module: ModuleType) -> dict[str, Any]:
    switches = {"enabled": True, "benchmark": False, "benchmark_limit": 10, "deterministic": False, "allow_tf32": True}
    return {
        **switches,
        "fp32_precision": "none",
        "flags": _flags(module, " ".join(switches)),
        "is_acceptable": _constant("is_acceptable", False, "Whether cuDNN would take a tensor: it is not here."),
        **_asked(is_available=False, version=None),
    }


class _Products(SimpleNamespace):
    """Switches of matrix products. They allow lower precision; Lamella accepts them and keeps full precision."""


class _Plans(SimpleNamespace):
    """The plans of Fourier transforms. There are none before a device has been named."""

    def clear(self) -> None:
        """Drops all plans."""

    def __getitem__(self, device: Any) -> Any:
        import lamella

        if not lamella.cuda.device_count():  # the count loads the backend, which replaces this class
            raise RuntimeError(f"lamella.backends.cuda.cufft_plan_cache[{device}]: there is no device 'cuda'")
        return self[device]


def _cuda(module: ModuleType) -> dict[str, Any]:
    chosen = {"flash": True, "mem_efficient": True, "cudnn": True}

    def switch(name: str) -> Callable[[bool], None]:
        def enable(enabled: bool) -> None:
            chosen[name] = bool(enabled)

        enable.__name__ = enable.__qualname__ = f"enable_{name}_sdp"
        enable.__doc__ = "Accepted; attention is computed by its formula."
        return enable

    def read(name: str) -> Callable[[], bool]:
        return lambda: chosen[name]

    def enable_math_sdp(enabled: bool) -> None:
        """Accepts True only: attention is always computed by its formula."""
        if not enabled:
            raise NotImplementedError(
                "lamella.backends.cuda.enable_math_sdp: attention has no other way; leave it True"
            )

    @contextmanager
    def sdp_kernel(
        enable_flash: bool = True,
        enable_math: bool = True,
        enable_mem_efficient: bool = True,
        enable_cudnn: bool = True,
    ) -> Iterator[None]:
        """Takes any choice, as ``lamella.nn.attention.sdpa_kernel`` does, which took its place, and warns."""
        warnings.warn(
            "lamella.backends.cuda.sdp_kernel is deprecated; use lamella.nn.attention.sdpa_kernel",
            FutureWarning,
            stacklevel=3,
        )
        yield

    products = _Products(
        allow_tf32=False,
        allow_fp16_reduced_precision_reduction=True,
        allow_bf16_reduced_precision_reduction=True,
        allow_fp16_accumulation=False,
        fp32_precision="none",
    )
    return {
        "matmul": products,
        "cufft_plan_cache": _Plans(size=0, max_size=4096),
        "enable_math_sdp": enable_math_sdp,
        "sdp_kernel": sdp_kernel,
        **{f"enable_{name}_sdp": switch(name) for name in chosen},
        **{f"{name}_sdp_enabled": read(name) for name in chosen},
        "preferred_linalg_library": Refusal(f"{module.__name__}.preferred_linalg_library", "there is no CUDA"),
        "preferred_blas_library": Refusal(f"{module.__name__}.preferred_blas_library", "there is no CUDA"),
        **_asked(is_built=False, math_sdp_enabled=True, is_flash_attention_available=False),
    }


def _mkldnn(module: ModuleType) -> dict[str, Any]:
    switches = {"enabled": True, "deterministic": False, "allow_tf32": False, "fp32_precision": "none"}
    return {
        **switches,
        "flags": _flags(module, " ".join(switches)),
        **_asked(is_available=_has_onednn(), is_acl_available=False),
    }


def _opt_einsum(module: ModuleType) -> dict[str, Any]:
    return {"enabled": False, "strategy": None, **_asked(is_available=False, get_opt_einsum=None)}


CONTENT: dict[str, Callable[[ModuleType], dict[str, Any]]] = {
    "cuda": _cuda,
    "cudnn": _cudnn,
    "cusparselt": lambda module: _asked(is_available=False, version=None),
    "mkl": lambda module: _asked(is_available=False),
    "mkldnn": _mkldnn,
    "mps": lambda module: _asked(is_available=False, is_built=False),
    "nnpack": lambda module: {"flags": _flags(module, "enabled"), "enabled": True, **_asked(is_available=False)},
    "openmp": lambda module: _asked(is_available=True),
    "opt_einsum": _opt_einsum,
}


def fill(module: ModuleType) -> None:
    """Sets the names of a module of switches, except those that a program has set already."""
    name = module.__name__.rpartition(".")[2]
    for key, value in CONTENT[name](module).items():
        vars(module).setdefault(key, value)
