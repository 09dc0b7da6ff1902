"""Lamella: a tensor framework that is all dispatcher.

The names and their meaning are torch's. Operators come from the catalogue and from plugins; this package gives them
their place in the namespace. Read ``docs/architecture.md`` to follow one call through the files.

>>> import lamella
>>> lamella.tensor([1.0, 2.0]) + 1
tensor([2., 3.])
"""

from math import e, inf, nan, pi

from lamella import _C
from lamella._adapters import adapt_libraries as _adapt_libraries
from lamella._C import (
    AcceleratorError,
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
    sparse_bsc,
    sparse_bsr,
    sparse_coo,
    sparse_csc,
    sparse_csr,
    strided,
    uint8,
    uint16,
    uint32,
    uint64,
)
from lamella._checkpoints import load, save
from lamella._creation import as_tensor, asarray, empty_permuted, from_dlpack, from_file, frombuffer, tensor
from lamella._devices.streams import Event, Stream
from lamella._dtypes import (
    can_cast,
    finfo,
    iinfo,
    is_complex,
    is_floating_point,
    is_signed,
    promote_types,
    result_type,
    typename,
)
from lamella._lowrank import lobpcg, lu, pca_lowrank, svd_lowrank
from lamella._namespace import ops
from lamella._processes import share_when_sent as _share_when_sent
from lamella._settings import (
    are_deterministic_algorithms_enabled,
    capture_state,
    fallback_counts,
    get_default_device,
    get_deterministic_debug_mode,
    get_fallback,
    get_float32_matmul_precision,
    get_num_interop_threads,
    is_deterministic_algorithms_warn_only_enabled,
    reset_fallback_counts,
    set_default_device,
    set_default_dtype,
    set_deterministic_debug_mode,
    set_fallback,
    set_float32_matmul_precision,
    set_flush_denormal,
    set_num_interop_threads,
    set_num_threads,
    set_printoptions,
    use_deterministic_algorithms,
)
from lamella._tensor.elements import (
    allclose,
    einsum,
    isreal,
    nonzero,
    tensordot,
    unique,
    unique_consecutive,
)
from lamella._tensor.memory import is_storage
from lamella._tensor.predicates import (
    get_device,
    is_conj,
    is_distributed,
    is_inference,
    is_neg,
    is_tensor,
    resolve_conj,
    resolve_neg,
)
from lamella._tensor.shapes import adjoint, broadcast_shapes, is_same_size, numel, unravel_index
from lamella._tensor.spectra import istft, stft
from lamella._usage_log import hand_over as _hand_over
from lamella._usage_log import log_once as _log_once
from lamella.random import default_generator, get_rng_state, initial_seed, manual_seed, seed, set_rng_state

newaxis = None
__all__ = [name for name in dir() if not name.startswith("_")]

# ---- all other names are contributed, see lamella/plugins/contributions.py -------------------------------------------
from lamella import _absent, _lazy, _namespace, _tensor, backends, library, plugins  # noqa: E402
from lamella._devices.names import announce as _announce  # noqa: E402
from lamella.plugins.contributions import contribute as _contribute  # noqa: E402
from lamella.plugins.contributions import gather as _gather  # noqa: E402
from lamella.plugins.manager import Frontend as _Frontend  # noqa: E402

__all__ += ["backends", "library", "plugins"]
_packets, _methods = _namespace.operators(globals(), Tensor)
_contribute([*_gather("lamella", _packets), *_gather("Tensor", {**_methods, **_tensor.methods()})])
_share_when_sent(Tensor)
_adapt_libraries()
_lazy.contribute(
    "lamella",
    (
        "accelerator",
        "array_api",
        "distributions",
        "fft",
        "linalg",
        "masked",
        "multiprocessing",
        "nn",
        "optim",
        "overrides",
        "serialization",
        "signal",
        "special",
        "testing",
        "utils",
        "version",
    ),
)

plugins.manager.scan()
from lamella._torch import names as _torch_names  # noqa: E402

_torch_names.contribute()


def __dir__():
    return sorted({*(name for name in globals() if name[0] != "_"), "__version__", *__all__})


_absent.explain_modules(__dir__)


def _loaded(plugin):
    _absent.release_places(plugin)
    _announce()
    _namespace.show_modules()
    _hand_over()  # keys logged before the plugin was loaded come first
    _log_once(f"{plugin.kind}.{plugin.name}")


_log_once("python.import")
_announce(p.name for p in plugins.manager.plugins if p.kind == "backend")
_C._set_backend_loader(plugins.manager.load_backend)
plugins.manager.start(_Frontend(library.Library, _loaded))
# After this call the namespace is complete. A plugin that fails is set aside; `lamella plugins` prints the reason.
plugins.manager.load_plugins()
_namespace.show_modules()
_absent.hold_places()
_absent.explain_names(globals())
_torch_names.contribute_to_autograd()
