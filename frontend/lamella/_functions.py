"""Functions of the namespace that are no operators: data in, defaults, seeds, properties of dtypes."""

from __future__ import annotations

from typing import NamedTuple

from lamella import _C, _elsewhere
from lamella._C import Tensor, device, dtype

PLAIN = frozenset((bool, int, float, complex, list, tuple))


def default_generator() -> _C.Generator:
    """The host's default generator.

    >>> lamella.default_generator().device
    device(type='cpu')
    """
    return _C._default_generator()


def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False, **keywords) -> Tensor:
    """A new tensor with a copy of ``data``: numbers, nested sequences, an array or a tensor.

    The dtype is that of the data: bool, int64, the default dtype for floats, or a complex one; numpy arrays and
    tensors keep theirs. Further keywords are those that plugins contribute, as for ``lamella.zeros``.

    Raises:
        TypeError: the data holds something that is no number, or there is no such keyword
        ValueError: nested sequences of different lengths

    >>> lamella.tensor([[1, 2], [3, 4]])
    tensor([[1, 2],
            [3, 4]])
    """
    try:
        made, natural = _C._tensor_from(data, dtype)
    except TypeError:
        if isinstance(data, Tensor) or type(data) in PLAIN or (there := _elsewhere.read(data)) is None:
            raise
        data = there  # another library's array
        made, natural = _C._tensor_from(data, dtype)
    target = natural if dtype is None else dtype
    if device is None and not isinstance(data, Tensor):
        device = _C._get_default_device()
    copy = made is data or not isinstance(data, (list, tuple, int, float, complex, bool))
    if made is data:
        made = data.detach()  # a new tensor has no history
    made = made.to(made.device if device is None else device, target, False, copy)
    if requires_grad:
        keywords["requires_grad"] = requires_grad
    if pin_memory and _C._is_claimed("pin_memory"):
        keywords["pin_memory"] = pin_memory
    elif pin_memory:
        made = made.pin_memory()
    return _contributed("tensor", made, keywords) if keywords else made


def _contributed(who: str, made: Tensor, keywords) -> Tensor:
    """Applies the keywords that plugins contribute, those of inner layers first."""
    applied = _C._apply_keywords(made, keywords)
    if isinstance(applied, str):
        from lamella._absent import unknown_keyword

        raise unknown_keyword(who, applied)
    return applied


def as_tensor(data, dtype=None, device=None) -> Tensor:
    """``data`` as a tensor: itself or over its memory where that does, else a copy.

    An array of another library is taken by DLPack, or as a backend reads it; one that lies on a device stays there,
    unless ``device`` is given.

    Raises:
        TypeError, ValueError: what ``tensor`` raises

    >>> t = lamella.ones(2)
    >>> lamella.as_tensor(t) is t, lamella.as_tensor([1, 2])
    (True, tensor([1, 2]))
    """
    writable = getattr(getattr(data, "flags", None), "writeable", isinstance(data, Tensor))
    if not writable:  # numbers, sequences, arrays that a tensor must not write to, and those of other libraries
        if type(data) not in PLAIN and (made := _elsewhere.read(data)) is not None:
            stays = made.device if made.device.type != "cpu" else _C._get_default_device()
            return made.to(stays if device is None else device, made.dtype if dtype is None else dtype)
        return tensor(data, dtype=dtype, device=device)
    made, natural = _C._tensor_from(data, dtype)
    where = made.device if isinstance(data, Tensor) else _C._get_default_device()
    return made.to(where if device is None else device, natural if dtype is None else dtype)


def from_dlpack(ext_tensor) -> Tensor:
    """A tensor over memory that ``ext_tensor`` exports by DLPack (an object with ``__dlpack__``, or a capsule).

    Raises:
        BufferError: an element type, a layout or a device that has no counterpart

    >>> import numpy
    >>> lamella.from_dlpack(numpy.ones(2))
    tensor([1., 1.], dtype=lamella.float64)
    """
    if not hasattr(ext_tensor, "__dlpack__"):
        return _elsewhere.checked(_C._from_dlpack(ext_tensor))
    where = ext_tensor.__dlpack_device__() if hasattr(ext_tensor, "__dlpack_device__") else None
    if where is not None and where[0] != _elsewhere.HOST:
        _elsewhere.load_backends(ext_tensor)
    stream = None if where is None else _C._dlpack_stream(*map(int, where))
    keywords = {} if stream is None else {"stream": stream}  # where this thread will read, for the exporter to wait
    try:
        capsule = ext_tensor.__dlpack__(max_version=(1, 0), **keywords)
    except TypeError:  # an exporter older than DLPack 1.0
        capsule = ext_tensor.__dlpack__(**keywords)
    return _elsewhere.checked(_C._from_dlpack(capsule))


def is_tensor(obj) -> bool:
    """Whether ``obj`` is a Tensor.

    >>> lamella.is_tensor(1)
    False
    """
    return isinstance(obj, Tensor)


def is_floating_point(input: Tensor) -> bool:
    """Whether the dtype is floating.

    >>> lamella.is_floating_point(lamella.ones(1))
    True
    """
    return input.is_floating_point()


def is_complex(input: Tensor) -> bool:
    """Whether the dtype is complex.

    >>> lamella.is_complex(lamella.ones(1))
    False
    """
    return input.is_complex()


def numel(input: Tensor) -> int:
    """The number of elements.

    >>> lamella.numel(lamella.ones(2, 3))
    6
    """
    return input.numel()


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """The smallest dtype that holds both, by the array API standard, and by torch where that is silent.

    Raises:
        RuntimeError: there is none (uint64 with signed integers)

    >>> lamella.promote_types(lamella.uint8, lamella.int8)
    lamella.int16
    """
    return _C._promote(type1, type2)


def result_type(tensor1, tensor2) -> dtype:
    """The dtype of an operation on two tensors or numbers, by torch's category rule.

    >>> lamella.result_type(lamella.tensor([1]), 1.5)
    lamella.float32
    """
    zero = [t if not isinstance(t, Tensor) else t.to("meta") for t in (tensor1, tensor2)]
    if not any(isinstance(t, Tensor) for t in zero):
        zero[0] = tensor(zero[0], device="meta")
    return _C._packet("aten::where")(_C._packet("aten::empty")((), dtype=_C.bool, device="meta"), *zero).dtype


def set_default_dtype(d: dtype) -> None:
    """The dtype of floats where none is given, from now on: a floating one.

    >>> lamella.set_default_dtype(lamella.float32)
    """
    _C._set_default_dtype(d)


def set_default_device(device) -> None:
    """Where factories put tensors on this thread, from now on; None means the host.

    >>> lamella.set_default_device(None)
    """
    try:
        _C._set_default_device(device)
    except RuntimeError as error:
        raise RuntimeError(f"set_default_device: argument 'device': {error}") from error


def get_default_device() -> device:
    """Where factories put tensors on this thread.

    >>> lamella.get_default_device()
    device(type='cpu')
    """
    return _C._get_default_device()


def capture_state():
    """The state of this thread, for others: layers that are on or off, grad mode, the default device, plugins' state.

    The object is a context manager: the block runs with the state, on any thread, and afterwards the thread has its own
    again. ``run`` does this around a function, and ``wrap`` around a coroutine. It can be used many times, by several
    threads at once, and in a forked process; what a block changes is not seen in another one. It can be pickled, and so
    sent to a process that ``spawn`` or ``forkserver`` starts, as the target ``state.run`` of a ``Process``: then it
    holds the default device, grad and inference mode, and debug information (``lamella.profiler.debug_info``).

    >>> lamella.set_default_device("meta")
    >>> state = lamella.capture_state()
    >>> lamella.set_default_device(None)
    >>> with state:
    ...     lamella.get_default_device()
    device(type='meta')
    >>> lamella.get_default_device()
    device(type='cpu')
    """
    from lamella._state import CapturedState

    return CapturedState()


def manual_seed(seed: int):
    """Seeds the default generators of all devices; returns the host's.

    >>> lamella.manual_seed(0).initial_seed()
    0
    """
    _C._seed_all(seed)
    return _C._default_generator()


def initial_seed() -> int:
    """The seed of the host's default generator.

    >>> _ = lamella.manual_seed(3)
    >>> lamella.initial_seed()
    3
    """
    return _C._default_generator().initial_seed()


def set_num_threads(n: int) -> None:
    """How many threads one operator may use.

    Raises:
        RuntimeError: n is not positive

    >>> lamella.set_num_threads(lamella.get_num_threads())
    """
    if not isinstance(n, int) or isinstance(n, bool):
        raise TypeError(f"set_num_threads: argument 'n' must be int, got {type(n).__name__}")
    if not 0 < n <= 1024:
        raise RuntimeError(f"set_num_threads: argument 'n' must be from 1 to 1024, got {n}")
    _C._set_num_threads(n)


_FLOATS = {  # bits, smallest normal exponent, mantissa bits, largest
    "float8_e4m3fn": (8, -6, 3, 448.0),
    "float8_e5m2": (8, -14, 2, 57344.0),
    "float16": (16, -14, 10, 65504.0),
    "bfloat16": (16, -126, 7, 3.3895313892515355e38),
    "float32": (32, -126, 23, 3.4028234663852886e38),
    "float64": (64, -1022, 52, 1.7976931348623157e308),
}


class finfo:
    """Limits of a floating dtype: bits, eps, max, min, tiny, smallest_normal, resolution.

    >>> lamella.finfo(lamella.float32).eps
    1.1920928955078125e-07
    """

    def __init__(self, type: dtype | None = None):
        type = _C.get_default_dtype() if type is None else type
        name = str(type).rpartition(".")[2]
        if isinstance(type, dtype) and type.is_complex:
            name = {"complex64": "float32", "complex128": "float64"}[name]
        if name not in _FLOATS:
            raise TypeError(f"finfo: argument 'type' must be a floating dtype, got {type}; use iinfo for integers")
        self.bits, exponent, mantissa, self.max = _FLOATS[name]
        self.dtype = name
        self.min = -self.max
        self.eps = 2.0**-mantissa
        self.tiny = self.smallest_normal = 2.0**exponent
        self.resolution = 10.0 ** -int(mantissa * 0.30103)

    def __repr__(self):
        limits = f"resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}"
        return f"finfo({limits}, dtype={self.dtype})"


class iinfo:
    """Limits of an integer dtype: bits, min, max.

    >>> lamella.iinfo(lamella.int8).max
    127
    """

    def __init__(self, type: dtype):
        if not isinstance(type, dtype) or type.is_floating_point or type.is_complex or type is _C.bool:
            raise TypeError(f"iinfo: argument 'type' must be an integer dtype, got {type}; use finfo for floats")
        self.dtype = str(type).rpartition(".")[2]
        self.bits = 8 * type.itemsize
        signed = not self.dtype.startswith("u")
        self.max = 2 ** (self.bits - signed) - 1
        self.min = -(2 ** (self.bits - 1)) if signed else 0

    def __repr__(self):
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"


def set_printoptions(
    precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None
) -> None:
    """Sets how tensors print. An option that is not given stays as it is, except ``sci_mode``.

    Args:
        precision: digits after the point; 4
        threshold: tensors of more elements are summarized; 1000, or ``math.inf``
        edgeitems: how many elements of a summarized dimension are shown at each end; 3
        linewidth: characters of a line; 80
        profile: "default", "short" or "full", before the others apply
        sci_mode: whether floats print in scientific notation; None chooses by their range

    Raises:
        TypeError, ValueError: no such profile, a negative number, another type

    >>> lamella.set_printoptions(precision=2, threshold=5)
    >>> lamella.tensor([1.23456, 2.0]), lamella.arange(10)
    (tensor([1.23, 2.00]), tensor([0, 1, 2,  ..., 7, 8, 9]))
    >>> lamella.set_printoptions(profile="default")
    """
    from lamella._format import set_options

    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    set_options(given, profile, sci_mode)


def set_fallback(mode: str) -> None:
    """Sets whether the host may serve operators that a backend has neither a kernel nor a composite for.

    Args:
        mode: "allow" runs it on the host with copies, counted and listed by ``lamella plugins``; "error" raises

    Raises:
        ValueError: another mode

    >>> lamella.set_fallback("allow")
    """
    if mode not in ("allow", "error"):
        raise ValueError(f"set_fallback: argument 'mode': expected 'allow' or 'error', got {mode!r}")
    _C._set_fallback(mode == "allow")


def get_fallback() -> str:
    """The mode that ``set_fallback`` set.

    >>> lamella.get_fallback()
    'allow'
    """
    return "allow" if _C._get_fallback() else "error"


class FallbackCount(NamedTuple):
    """How often the host has served one operator for one device in this process.

    ``bytes`` counts copies both ways, ``seconds`` the calls with their copies. ``reason`` says what the device lacks.
    """

    device: str
    operator: str
    calls: int
    bytes: int
    seconds: float
    reason: str


def fallback_counts() -> list[FallbackCount]:
    """What the host has served in this process for devices without a kernel of their own.

    >>> [c.operator for c in lamella.fallback_counts() if c.device == "cpu"]
    []
    """
    return [FallbackCount(*row) for row in _C._fallbacks()]


def reset_fallback_counts() -> None:
    """Empties ``fallback_counts()``.

    >>> lamella.reset_fallback_counts()
    """
    _C._reset_fallbacks()


def equal(input: Tensor, other: Tensor) -> bool:
    """Whether shapes and all elements are equal; NaN equals nothing.

    >>> lamella.equal(lamella.tensor([1, 2]), lamella.tensor([1.0, 2.0]))
    True
    """
    if not isinstance(input, Tensor) or not isinstance(other, Tensor):
        wrong = ("input", input) if not isinstance(input, Tensor) else ("other", other)
        raise TypeError(f"equal: argument '{wrong[0]}' must be Tensor, got {type(wrong[1]).__name__}")
    return input.shape == other.shape and int((input != other).sum()) == 0


def allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether ``|input - other| <= atol + rtol * |other|`` everywhere; infinities are close to themselves.

    Raises:
        RuntimeError: two dtypes, shapes that do not broadcast, or a negative tolerance

    >>> lamella.allclose(lamella.tensor([1.0]), lamella.tensor([1.000001]))
    True
    """
    for name, t in (("input", input), ("other", other)):
        if not isinstance(t, Tensor):
            raise TypeError(f"allclose: argument '{name}' must be Tensor, got {type(t).__name__}")
    if input.dtype is not other.dtype:
        raise RuntimeError(f"allclose: dtypes {input.dtype} and {other.dtype} differ; convert one with .to(...)")
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if not tolerance >= 0:
            raise RuntimeError(f"allclose: argument '{name}' must not be negative, got {tolerance}")
    close = input == other
    if equal_nan:
        close = close.logical_or((input != input).logical_and(other != other))
    if not (input.is_floating_point() or input.is_complex()):
        input, other = input.to(_C.float64), other.to(_C.float64)
    difference = (input - other).abs()
    within = (difference <= atol + rtol * other.abs()).logical_and(difference < float("inf"))
    return int(close.logical_or(within).logical_not().sum()) == 0
