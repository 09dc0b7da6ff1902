"""Lamella: a tensor framework that is all dispatcher.

The names and their meaning are torch's. Operators come from the catalogue and from plugins; this package gives them
their place in the namespace. Read ``docs/architecture.md`` to follow one call through the files.

>>> import lamella
>>> lamella.tensor([1.0, 2.0]) + 1
tensor([2., 3.])
"""

import sys as _sys

from lamella import _C
from lamella._C import (
    Generator,
    OutOfMemoryError,
    Size,
    Tensor,
    __version__,
    bfloat16,
    bool,
    cdouble,
    cfloat,
    channels_last,
    complex64,
    complex128,
    contiguous_format,
    device,
    double,
    dtype,
    float,
    float8_e4m3fn,
    float8_e5m2,
    float16,
    float32,
    float64,
    from_numpy,
    get_default_dtype,
    get_num_threads,
    half,
    int,
    int8,
    int16,
    int32,
    int64,
    layout,
    long,
    memory_format,
    preserve_format,
    short,
    strided,
    uint8,
    uint16,
    uint32,
    uint64,
)
from lamella._checkpoints import load, save
from lamella._functions import (
    allclose,
    as_tensor,
    capture_state,
    default_generator,
    equal,
    fallback_counts,
    finfo,
    from_dlpack,
    get_default_device,
    get_fallback,
    iinfo,
    initial_seed,
    is_complex,
    is_floating_point,
    is_tensor,
    manual_seed,
    numel,
    promote_types,
    reset_fallback_counts,
    result_type,
    set_default_device,
    set_default_dtype,
    set_fallback,
    set_num_threads,
    set_printoptions,
    tensor,
)
from lamella._in_place import extend as _extend_in_place
from lamella._lazy import add as _add_lazy
from lamella._lazy import add_filled as _add_filled
from lamella._missing import explain_absent as _explain_absent
from lamella._missing import forget as _forget
from lamella._missing import install as _install_missing
from lamella._missing import mark_absent as _mark_absent
from lamella._namespace import ops
from lamella._namespace import publish as _publish
from lamella._namespace import publish_modules as _publish_modules
from lamella._processes import share_when_sent as _share_when_sent
from lamella._queries import (
    adjoint,
    broadcast_shapes,
    can_cast,
    e,
    get_device,
    inf,
    is_conj,
    is_distributed,
    is_inference,
    is_neg,
    is_nonzero,
    is_same_size,
    is_signed,
    is_storage,
    isreal,
    nan,
    newaxis,
    pi,
    resolve_conj,
    resolve_neg,
    typename,
    unravel_index,
)
from lamella._queries import extend as _extend_queries
from lamella._settings import (
    are_deterministic_algorithms_enabled,
    autocast,
    compile,
    get_deterministic_debug_mode,
    get_float32_matmul_precision,
    get_num_interop_threads,
    is_autocast_enabled,
    is_deterministic_algorithms_warn_only_enabled,
    set_deterministic_debug_mode,
    set_float32_matmul_precision,
    set_flush_denormal,
    set_num_interop_threads,
    use_deterministic_algorithms,
)
from lamella._sources import asarray, empty_permuted, frombuffer
from lamella._streams import Event, Stream
from lamella._tensor import extend as _extend
from lamella._typed import extend as _extend_typed
from lamella._usage import hand_over as _hand_over
from lamella._usage import log_once as _log_once
from lamella._varied import extend as _extend_varied
from lamella._varied import nonzero, tensordot, unique, unique_consecutive
from lamella.random import get_rng_state, seed, set_rng_state

__all__ = [name for name in dir() if not name.startswith("_")]

_extend(Tensor)
_share_when_sent(Tensor)
__all__ += _publish(globals(), Tensor)
_extend_varied(Tensor)
_extend_queries(Tensor)
_extend_in_place(Tensor)
_install_missing(globals(), Tensor)

from lamella import _devices, _settings, _torch_devices, backends, library, plugins  # noqa: E402

plugins.manager.open_library = library.Library
plugins.manager.add_device_names = _devices.add_device_names
plugins.manager.follow_determinism = _settings.follow_determinism
_C._set_backend_loader(plugins.manager.load_backend)
plugins.manager.load_hosts()
_devices.announce([*_devices.backends(), *(p.name for p in plugins.manager.plugins if p.kind == "backend")])
# The namespace is complete from here on. A failing plugin is set aside; `lamella plugins` says why.
plugins.manager.load_plugins()
_publish_modules()
_mark_absent(Tensor, plugins.manager.plugins)
_explain_absent(globals(), plugins.manager.plugins)


def _loaded(plugin):
    _forget(Tensor, plugin)
    _devices.announce(_devices.backends())
    _publish_modules()
    _log_once(f"{plugin.kind}.{plugin.name}")
    _hand_over()


plugins.manager.loaded = _loaded
for _name in ("python.import", *(f"{p.kind}.{p.name}" for p in plugins.manager.plugins if p.state == "loaded")):
    _log_once(_name)

_modules = [
    "accelerator",
    "amp",
    "compiler",
    "distributed",
    "distributions",
    "func",
    "hub",
    "jit",
    "multiprocessing",
    "nn",
    "optim",
    "overrides",
    "serialization",
    "testing",
    "types",
    "utils",
    "version",
]
for _name in _modules:
    _add_lazy(_sys.modules[__name__], _name)
for _name in ("cuda", "cudnn", "cusparselt", "mkl", "mkldnn", "mps", "nnpack", "openmp", "opt_einsum"):
    _add_filled(backends, _name, "lamella._switches")
_torch_devices.install(_sys.modules[__name__])
_add_filled(cuda, "amp", "lamella._cuda_amp")  # type: ignore[name-defined]  # noqa: F821
if "autograd" in globals():
    for _name in ("profiler", "profiler_util"):
        _add_filled(globals()["autograd"], _name, "lamella._autograd_profiler")
__all__ += _extend_typed(globals(), cuda)  # type: ignore[name-defined]  # noqa: F821
__all__ += ["backends", "library", "plugins", *_modules]
